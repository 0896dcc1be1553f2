import Domain
import HTTPServer

/// All that gives out access tokens: the token endpoint of a service account, workload identity, the metadata server.
struct OAuthDesk {
  let tokenEndpoint: TokenEndpoint
  let workload: WorkloadIdentity
  let metadata: MetadataServer

  /// True if a request to the HTTPS port is for the desk.
  func takes(_ path: String) -> Bool {
    path == TokenEndpoint.path || path == WorkloadIdentity.exchangePath || path.hasSuffix(":generateAccessToken")
  }

  func examine(_ request: HTTPServerRequest, now: WallTime) -> Examination {
    if request.path == TokenEndpoint.path {
      return tokenEndpoint.examine(
        method: request.method, contentType: request.header("content-type"), body: request.body, now: now)
    }
    var examination = Examination(valid: false, answer: VendorAnswer(status: 200))
    guard request.method == "POST" else {
      examination.answer = VendorAnswer(status: 405, reason: "method_not_allowed", headers: [Header("allow", "POST")])
      return examination
    }
    if request.path == WorkloadIdentity.exchangePath {
      guard request.header("content-type")?.lowercased().hasPrefix("application/x-www-form-urlencoded") == true else {
        examination.answer = TokenEndpoint.refusal(
          "invalid_request", "The content type must be application/x-www-form-urlencoded")
        return examination
      }
      return workload.exchange(FormFields.read(request.body), now: now)
    }
    guard Self.decoded(request.path) == workload.impersonationPath else {
      examination.answer = FCMError.named("NOT_FOUND", code: 404, project: "").answer
      return examination
    }
    return workload.impersonate(authorization: request.header("authorization"), body: request.body, now: now)
  }

  /// Requests to the metadata server's own port.
  func examineMetadata(_ request: HTTPServerRequest, now: WallTime) -> Examination {
    metadata.examine(
      method: request.method, path: request.path, flavor: request.header("metadata-flavor"),
      isForwarded: request.header("x-forwarded-for") != nil, now: now)
  }

  private static func decoded(_ path: String) -> String {
    path.replacing("%40", with: "@").replacing("%3A", with: ":").replacing("%3a", with: ":")
  }
}
