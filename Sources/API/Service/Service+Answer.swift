import Domain
import HTTPServer
import Intake
import Loop
import Store
import Telemetry

extension Service {
  /// Every request comes here; what goes wrong leaves as a problem document, and each answer is counted.
  func answer(_ request: HTTPServerRequest) async -> HTTPServerResponse {
    let began = loop.now
    let match = Router.match(request.method, request.path)
    var path = "unknown"
    var response: HTTPServerResponse
    do throws(Problem) {
      switch match {
      case .refused(let problem): throw problem
      case .found(let endpoint, let parameters):
        path = endpoint.path
        response = try await perform(endpoint, request, parameters)
      }
    } catch {
      response = Answer.problem(error.bounded)
      if error.code == .internalError { log(.error, "request_failed", ["path": path, "problem": error.detail]) }
    }
    let nanoseconds = loop.now.nanoseconds - began.nanoseconds
    counts.answered(path, request.method, response.status, seconds: Double(nanoseconds) / 1e9)
    log(
      .debug, "request",
      [
        "method": request.method, "path": path, "status": "\(response.status)", "us": "\(nanoseconds / 1000)",
        "peer": request.peer,
      ])
    return response
  }

  /// What the server refused before it became a request.
  static func refuse(_ refusal: HTTPRefusal) -> HTTPServerResponse {
    switch refusal {
    case .badRequest(let detail): Answer.problem(Problem(.badRequest, detail))
    case .bodyTooLarge(let limit): Answer.problem(Problem(.bodyTooLarge, "The limit is \(limit) bytes"))
    case .headTooLarge: Answer.problem(Problem(.headTooLarge, "Send fewer or shorter headers"))
    case .timedOut: Answer.problem(Problem(.requestTimeout, "Send the request faster, or in parts"))
    }
  }

  private func perform(_ endpoint: Endpoint, _ request: HTTPServerRequest, _ parameters: [String])
    async throws(Problem) -> HTTPServerResponse
  {
    // Open endpoints tell how the gateway is: they must answer when it has too much to do.
    guard case .key(let scopes) = access(of: endpoint) else {
      if endpoint.operation == Endpoint.metrics, settings.operations == .elsewhere {
        throw Problem(.notFound, "Metrics are served at the address of `monitor`")
      }
      let key = endpoint.operation == Endpoint.readiness ? await readersKey(of: request) : nil
      let call = Call(request: request, parameters: parameters, key: key, now: loop.wallNow)
      return try await carryOut(endpoint, call)
    }
    guard !settings.onlyOpen else {
      throw Problem(.notFound, "This process only sends; use a process that serves the API")
    }
    guard requestsAtWork < settings.maximumRequests else {
      throw Problem(.overloaded, "\(settings.maximumRequests) requests are in progress; try again soon", retryAfter: 1)
    }
    requestsAtWork += 1
    defer { requestsAtWork -= 1 }

    do throws(StoreError) { try await store.session.makeSure() } catch { throw Problem(error) }
    let key = try await authentication.key(of: request, scopes)
    let call = Call(
      request: request, parameters: parameters, key: key, now: loop.wallNow, cursorSecret: store.session.cursorSecret)
    try queryRules.check(call, endpoint)
    try IdempotencyKeys.checkTaken(request, endpoint)
    try checkBody(request, endpoint)
    return try await carryOut(endpoint, call)
  }

  private func access(of endpoint: Endpoint) -> Endpoint.Access {
    if settings.operations == .keys, endpoint.operation == Endpoint.metrics { return .key([.read]) }
    return endpoint.access
  }

  /// A key that opens the details of `/readyz`; nil where none is asked for, or the one shown does not.
  private func readersKey(of request: HTTPServerRequest) async -> APIKey? {
    guard settings.operations == .keys, request.header("authorization") != nil else { return nil }
    return try? await authentication.key(of: request, [.read])
  }

  private func checkBody(_ request: HTTPServerRequest, _ endpoint: Endpoint) throws(Problem) {
    guard !request.body.isEmpty else { return }
    if let encoding = request.header("content-encoding"), encoding.lowercased() != "identity" {
      throw Problem(
        .unsupportedMediaType, "The body has `content-encoding: \(encoding.prefix(40))`: send it without an encoding")
    }
    guard let type = request.header("content-type") else { return }
    if let charset = Call.charset(type), !["utf-8", "utf8", "us-ascii"].contains(charset) {
      throw Problem(.unsupportedMediaType, "The body has `charset=\(charset.prefix(40))`: send it as UTF-8")
    }
    let wanted = endpoint.body?.types ?? [ListForm.json.mediaType]
    guard wanted.contains(type) || wanted.contains(Call.mediaType(type)) else {
      throw Problem(
        .unsupportedMediaType, "Send the body with `content-type: \(wanted.joined(separator: "` or `"))`")
    }
  }

  private func carryOut(_ endpoint: Endpoint, _ call: Call) async throws(Problem) -> HTTPServerResponse {
    guard let handler = endpoint.handler else {
      throw Problem(.notYet, "\(endpoint.method) \(endpoint.path) comes with a later version")
    }
    return try await handler(resources)(call)
  }
}
