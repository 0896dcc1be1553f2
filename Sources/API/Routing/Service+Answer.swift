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
      let call = Call(request: request, parameters: parameters, key: nil, now: loop.wallNow)
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

    do throws(StoreError) { try await store.makeSure() } catch { throw Problem(error) }
    let key = try await authenticate(request, scopes)
    let call = Call(
      request: request, parameters: parameters, key: key, now: loop.wallNow, cursorSecret: store.cursorSecret)
    try checkQuery(call, endpoint)
    try checkBody(request, endpoint)
    return try await carryOut(endpoint, call)
  }

  private func access(of endpoint: Endpoint) -> Endpoint.Access {
    if settings.metricsNeedKey, case .now(.metrics) = endpoint.work { return .key([.read]) }
    return endpoint.access
  }

  private func checkBody(_ request: HTTPServerRequest, _ endpoint: Endpoint) throws(Problem) {
    guard !request.body.isEmpty else { return }
    guard let type = request.header("content-type") else { return }
    let wanted = endpoint.bodyTypes
    guard wanted.contains(type) || wanted.contains(Call.mediaType(type)) else {
      throw Problem(
        .unsupportedMediaType, "Send the body with `content-type: \(wanted.joined(separator: "` or `"))`")
    }
  }

  private func carryOut(_ endpoint: Endpoint, _ call: Call) async throws(Problem) -> HTTPServerResponse {
    switch endpoint.work {
    case .later: throw Problem(.notYet, "\(endpoint.method) \(endpoint.path) comes with a later version")
    case .now(let operation):
      switch operation {
      case .sendMessage: return try await sendMessage(call)
      case .sendMessages: return try await sendMessages(call)
      case .listMessages: return try await listMessages(call)
      case .readMessage: return try await readMessage(call)
      case .listDeliveries: return try await listDeliveries(call)
      case .pauseMessage: return try await controlMessage(call, .paused)
      case .resumeMessage: return try await controlMessage(call, .running)
      case .cancelMessage: return try await controlMessage(call, .cancelled)
      case .rescheduleMessage: return try await rescheduleMessage(call)
      case .replayMessage: return try await replayMessage(call)
      case .duplicateMessage: return try await duplicateMessage(call)
      case .listDrafts: return try await listDrafts(call)
      case .createDraft: return try await createDraft(call)
      case .readDraft: return try await readDraft(call)
      case .replaceDraft: return try await replaceDraft(call)
      case .deleteDraft: return try await deleteDraft(call)
      case .countDraft: return try await countDraft(call)
      case .testDraft: return try await testDraft(call)
      case .sendDraft: return try await sendDraft(call)
      case .duplicateDraft: return try await duplicateDraft(call)
      case .listTestLists: return try await listTestLists(call)
      case .readTestList: return try await readTestList(call)
      case .putTestList: return try await putTestList(call)
      case .deleteTestList: return try await deleteTestList(call)
      case .listDevices: return try await listDevices(call)
      case .registerDevice: return try await registerDevice(call)
      case .registerDevices: return try await registerDevices(call)
      case .putDevice: return try await putDevice(call)
      case .readDevice: return try await readDevice(call)
      case .deleteDevice: return try await deleteDevice(call)
      case .readUser: return try await readUser(call)
      case .deleteUser: return try await deleteUser(call)
      case .countAudience: return try await countAudience(call)
      case .listAudiences: return try await listAudiences(call)
      case .readAudience: return try await readAudience(call)
      case .reviewPrunes: return try await reviewPrunes(call)
      case .applyPrunes: return try await applyPrunes(call)
      case .discardPrunes: return try await discardPrunes(call)
      case .undoPrunes: return try await undoPrunes(call)
      case .putAudience: return try await putAudience(call)
      case .deleteAudience: return try await deleteAudience(call)
      case .changeDeviceTags: return try await changeDeviceTags(call)
      case .putUserTags: return try await putUserTags(call)
      case .listTags: return try await listTags(call)
      case .exportDevices: return try await exportDevices(call)
      case .timeline: return try await timeline(call)
      case .createChannel: return try await createChannel(call)
      case .listChannels: return try await listChannels(call)
      case .readChannel: return try await readChannel(call)
      case .deleteChannel: return try await deleteChannel(call)
      case .health: return health()
      case .readiness: return await readiness()
      case .metrics: return await metricsPage()
      case .openAPI: return Answer.bytes("application/json", OpenAPI.encoded)
      }
    }
  }
}
