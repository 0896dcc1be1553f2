import Domain
import HTTPServer
import Intake
import Loop
import Store
import Telemetry

extension Service {
  /// Every request that was admitted comes here when its body has come; what goes wrong leaves as a problem document.
  func answer(_ request: HTTPServerRequest) async -> HTTPServerResponse {
    if let pages, request.permit is PagePermit {
      let began = loop.now
      requestsAtWork += 1
      defer { requestsAtWork -= 1 }
      return finish(await pages.answer(request), request, pages.root, nil, began: began)
    }
    guard let permit = request.permit as? Permit else {
      preconditionFailure("a request is admitted before it is answered")
    }
    let began = loop.now
    do throws(Problem) {
      let response = try await perform(permit, request)
      return finish(response, request, permit.endpoint.path, nil, began: began)
    } catch {
      return finish(Answer.problem(error.bounded), request, permit.endpoint.path, error, began: began)
    }
  }

  /// Each answer is counted. `path`: a template of the route table.
  func finish(
    _ response: HTTPServerResponse, _ request: HTTPServerRequest, _ path: String, _ problem: Problem?, began: Instant
  ) -> HTTPServerResponse {
    if let problem, problem.code == .internalError {
      log(.error, "request_failed", ["path": path, "problem": problem.detail])
    }
    let nanoseconds = loop.now.nanoseconds - began.nanoseconds
    counts.answered(path, request.method, response.status, seconds: Double(nanoseconds) / 1e9)
    log(
      .debug, "request",
      [
        "method": request.method, "path": path, "status": "\(response.status)", "us": "\(nanoseconds / 1000)",
        "peer": request.peer,
      ])
    return sharing(response, with: request)
  }

  /// What the server refused before it became a request.
  static func refuse(_ refusal: HTTPRefusal, _ settings: ServiceSettings) -> HTTPServerResponse {
    switch refusal {
    case .badRequest(let detail): Answer.problem(Problem(.badRequest, detail))
    case .bodyTooLarge(let limit): Answer.problem(settings.bodyTooLarge(limit))
    case .headTooLarge: Answer.problem(Problem(.headTooLarge, "Send fewer or shorter headers"))
    case .timedOut: Answer.problem(Problem(.requestTimeout, "Send the request faster, or in parts"))
    case .noMemory(.total):
      Answer.problem(
        Problem(
          .overloaded, "The bodies in progress fill the gateway's memory (limits.bytes_in_flight); try again soon",
          retryAfter: 1))
    case .noMemory(.key):
      Answer.problem(
        Problem(
          .tooMuchAtOnce, "Together, the requests in progress with this key are too large; send fewer at a time",
          retryAfter: 1))
    case .noMemory(.address):
      Answer.problem(
        Problem(
          .tooMuchAtOnce, "Together, the requests in progress from your address are too large; send fewer at a time",
          retryAfter: 1))
    }
  }

  func perform(_ permit: Permit, _ request: HTTPServerRequest) async throws(Problem) -> HTTPServerResponse {
    // Open endpoints tell how the gateway is: they must answer when it has too much to do.
    guard case .key(let scopes) = access(of: permit.endpoint, request), let identity = permit.identity else {
      let call = Call(request: request, parameters: permit.parameters, key: permit.identity?.key, now: loop.wallNow)
      return try await carryOut(permit.endpoint, call)
    }
    try checkRoom(request)
    requestsAtWork += 1
    defer { requestsAtWork -= 1 }

    do throws(StoreError) { try await store.session.makeSure() } catch { throw Problem(error) }
    let key = try await stillValid(identity, request, scopes)
    let allowance = limiter.allowance(of: key)
    let call = Call(
      request: request, parameters: permit.parameters, key: key, now: loop.wallNow, allowance: allowance,
      cursorSecret: store.session.cursorSecret)
    let violations = queryRules.violations(in: call, permit.endpoint)
    guard violations.isEmpty else { throw await refusal(of: violations, call, permit.endpoint) }
    try IdempotencyKeys.checkTaken(request, permit.endpoint)
    try checkBody(request, permit.endpoint)
    try await call.take(.bytes, request.body.count)
    await parse(call, permit.endpoint)
    if permit.endpoint.refusesFields { try Self.refuseFields(call, permit.endpoint) }
    var response = try await carryOut(permit.endpoint, call)
    if let sent = call.sent, let wait = WantedWait(request) {
      // It has its own bounds, and takes no place of others meanwhile. The audit has the send already.
      requestsAtWork -= 1
      defer { requestsAtWork += 1 }
      if let answer = await waits.answer(sent, wait, call) { response = answer }
    }
    let fields = allowance.fields
    if !fields.isEmpty { response.headers += fields }
    return response
  }

  /// A body that is one document, also one that should not be there.
  private func parse(_ call: Call, _ endpoint: Endpoint) async {
    if endpoint.body?.check != nil || endpoint.refusesFields { await call.parse(in: bodies) }
  }

  /// What is wrong with the query, and with the body as well, so that one answer tells all. Nothing is done.
  private func refusal(of query: [Violation], _ call: Call, _ endpoint: Endpoint) async -> Problem {
    var violations = query
    do throws(Problem) {
      try checkBody(call.request, endpoint)
      try await call.take(.bytes, call.request.body.count)
      await parse(call, endpoint)
      if endpoint.refusesFields { try Self.refuseFields(call, endpoint) }
      try await endpoint.body?.check?(resources)(call)
    } catch {
      if error.violations.isEmpty, !error.code.isRetryable {
        violations.append(Violation("", error.code.rawValue, error.detail))
      }
      violations += error.violations
    }
    return Problem(Refusal(violations: violations), .invalidParameter)
  }

  private static func refuseFields(_ call: Call, _ endpoint: Endpoint) throws(Problem) {
    guard !call.request.body.isEmpty else { return }
    try call.read(.invalidBody) { document throws(Refusal) in try EmptyReader.read(document, query: endpoint.query) }
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
    guard endpoint.handler != nil else {
      throw Problem(.notYet, "\(endpoint.method) \(endpoint.path) comes with a later version")
    }
    return try await auditor.carryOut(endpoint, call) { [resources] endpoint, call throws(Problem) in
      guard let handler = endpoint.handler else { throw Problem(.notFound, "Nothing reads this") }
      guard endpoint.path.hasSuffix(Endpoint.countEnding) || call.flag("dry_run") else {
        return try await handler(resources)(call)
      }
      return try await call.counting { () throws(Problem) in try await handler(resources)(call) }
    }
  }
}
