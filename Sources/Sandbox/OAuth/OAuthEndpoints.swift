import Domain
import HTTP2

/// What gives out access tokens over HTTPS: the token endpoint of a service account, and workload identity.
struct OAuthEndpoints {
  let tokenEndpoint: TokenEndpoint
  let workload: WorkloadIdentity

  /// True if a request is for the desk.
  func takes(_ path: String) -> Bool {
    path == TokenEndpoint.path || path == WorkloadIdentity.exchangePath || path.hasSuffix(":generateAccessToken")
  }

  func examine(_ request: HTTP2ServerRequest, now: WallTime) -> Examination {
    var examination = token(request, now)
    examination.provider = .oauth
    examination.rehearsal = true
    // The assertion is a credential.
    examination.isSecret = true
    return examination
  }

  private func token(_ request: HTTP2ServerRequest, _ now: WallTime) -> Examination {
    let path = request.barePath
    if path == TokenEndpoint.path {
      return tokenEndpoint.examine(
        method: request.method, contentType: request.header("content-type"), body: request.body, now: now)
    }
    var examination = Examination(valid: false, answer: VendorAnswer(status: 200))
    guard request.method == "POST" else {
      examination.answer = VendorAnswer(status: 405, reason: "method_not_allowed", headers: [Header("allow", "POST")])
      return examination
    }
    if path == WorkloadIdentity.exchangePath {
      guard request.header("content-type")?.lowercased().hasPrefix("application/x-www-form-urlencoded") == true else {
        examination.answer = TokenEndpoint.refusal(
          "invalid_request", "The content type must be application/x-www-form-urlencoded")
        return examination
      }
      return workload.exchange(FormFields.read(request.body), now: now)
    }
    guard Self.decoded(path) == workload.impersonationPath else {
      examination.answer = FCMError.named("NOT_FOUND", code: 404, project: "").answer
      return examination
    }
    return workload.impersonate(authorization: request.header("authorization"), body: request.body, now: now)
  }

  private static func decoded(_ path: String) -> String {
    path.replacing("%40", with: "@").replacing("%3A", with: ":").replacing("%3a", with: ":")
  }
}
