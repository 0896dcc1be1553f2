import Domain
import HTTPServer
import Intake
import JSON
import Store
import TLS

extension Service {
  /// `POST /v1/messages`: from the body to a durable message, or to a refusal without any effect.
  func sendMessage(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    try checkDryRun(call)
    let idempotency = try idempotency(of: call.request)
    if let idempotency, let earlier = try await lookUp(idempotency, call.app) {
      return try await answer(to: earlier, call, targets: nil, warnings: [])
    }

    let document = try call.document()
    let reading: MessageReading
    do throws(Refusal) {
      reading = try Intake.read(
        messageFrom: document, providers: providerNames, maximumTargets: settings.maximumTargets)
    } catch {
      throw Problem(error, .invalidMessage)
    }
    let message = reading.message
    var warnings = reading.warnings.map { Notice(pointer: $0.pointer, code: $0.code, detail: $0.detail) }

    if let problem = audienceNotYet(message) { throw problem }
    let (targets, absences) = try await resolve(message, call.app)
    warnings += absences + Notice.ofSkipped(targets)
    warnings += try checkRendering(message, targets, call.now)

    let isUrgent = targets.count <= settings.urgentTargets
    var submission = Submission(
      app: call.app, body: call.request.body, kind: message.kind, urgency: isUrgent ? .urgent : .bulk,
      acceptedAt: call.now)
    submission.ttl = message.ttl
    submission.collapseKey = message.collapseKey
    submission.ordered = message.ordered
    submission.targets = targets
    submission.idempotency = idempotency
    let acceptance: Acceptance
    do throws(StoreError) {
      acceptance = try await store.accept(submission)
    } catch {
      throw Problem(error)
    }
    if case .accepted = acceptance { counts.acceptedMessage(submission.urgency, targets) }
    return try await answer(to: acceptance, call, targets: targets, warnings: warnings)
  }

  private func audienceNotYet(_ message: Message) -> Problem? {
    guard case .audience = message.to else {
      guard case .everyone = message.to else { return nil }
      return Problem(.notYet, "A send to everyone comes with version \(LaterVersion.audiences.rawValue)")
    }
    return Problem(.notYet, "A send to an audience comes with version \(LaterVersion.audiences.rawValue)")
  }

  private func checkDryRun(_ call: Call) throws(Problem) {
    switch call.request.query("dry_run") {
    case nil, "false": return
    case "true":
      let version = LaterVersion.breadth
      throw Problem(.notYet, "A dry run comes with version \(version.rawValue) (\(version.brings)); nothing was sent")
    default: throw Problem(.invalidParameter, "`dry_run` must be true or false; nothing was sent")
    }
  }

  private static let longestIdempotencyKey = 255

  private func idempotency(of request: HTTPServerRequest) throws(Problem) -> (key: String, digest: [UInt8])? {
    let given = request.headers.filter { $0.name == "idempotency-key" }
    guard let key = given.first?.value else { return nil }
    guard given.count == 1, (1...Self.longestIdempotencyKey).contains(key.utf8.count),
      key.utf8.allSatisfy({ (0x20...0x7e).contains($0) })
    else {
      throw Problem(
        .invalidParameter,
        "`Idempotency-Key` must be one value of 1–\(Self.longestIdempotencyKey) printable ASCII characters")
    }
    return (key, Digest.sha256(request.body))
  }

  private func lookUp(_ idempotency: (key: String, digest: [UInt8]), _ app: AppID) async throws(Problem) -> Acceptance?
  {
    do throws(StoreError) {
      return try await store.lookUp(idempotencyKey: idempotency.key, digest: idempotency.digest, app: app)
    } catch {
      throw Problem(error)
    }
  }

  /// `targets` and `warnings` are known only to the request that made the message.
  private func answer(to acceptance: Acceptance, _ call: Call, targets: [SubmissionTarget]?, warnings: [Notice])
    async throws(Problem) -> HTTPServerResponse
  {
    switch acceptance {
    case .accepted(let id):
      let targets = targets ?? []
      let queued = targets.contains { if case .queue = $0.fate { true } else { false } }
      return accepted(id, queued ? .queued : .completed, targets.count, warnings, replayed: false)
    case .repeated(let id):
      let report: MessageReport?
      do throws(StoreError) {
        report = try await store.report(id, app: call.app)
      } catch {
        throw Problem(error)
      }
      return accepted(id, report?.state ?? .completed, report?.total, warnings, replayed: true)
    case .keyReused:
      throw Problem(
        .idempotencyKeyReused, "This `Idempotency-Key` came with another body before: use a new key for a new message")
    case .inProgress:
      throw Problem(
        .requestInProgress, "The first request with this `Idempotency-Key` is still at work: try again soon",
        retryAfter: 1)
    }
  }

  private func accepted(
    _ id: MessageID, _ state: MessageState, _ targets: Int?, _ warnings: [Notice], replayed: Bool
  ) -> HTTPServerResponse {
    var headers = [Header("location", "/v1/messages/\(id)")]
    if replayed { headers.append(Header("idempotent-replayed", "true")) }
    return Answer.json(202, headers: headers) { writer in
      writer.member("id", id.description)
      writer.member("state", state.rawValue)
      writer.member("targets", targets)
      writer.key("warnings")
      writer.beginArray()
      for warning in warnings { warning.write(to: &writer) }
      writer.endArray()
    }
  }
}
