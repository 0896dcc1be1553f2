import Domain
import HTTPServer
import Intake
import JSON
import Store
import TLS

extension Service {
  /// `POST /v1/messages`: from the body to a durable message, or to a refusal without any effect. `?dry_run=true`: to what
  /// would be sent, without any effect either.
  func sendMessage(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let isDryRun = try isDryRun(call)
    let idempotency = try idempotency(of: call.request)
    if !isDryRun, let idempotency, let earlier = try await lookUp(idempotency, call.app) {
      return Answer.accepted(try await became(earlier, of: nil, call.app))
    }
    let draft = try await draft(try call.document(), body: call.request.body, call)
    if isDryRun { return try await dryRun(draft, call) }
    draft.submission.idempotency = idempotency
    return Answer.accepted(try await accept(draft, call.app))
  }

  func isDryRun(_ call: Call) throws(Problem) -> Bool {
    switch call.request.query("dry_run") {
    case nil, "false": return false
    case "true": return true
    default: throw Problem(.invalidParameter, "`dry_run` must be true or false; nothing was sent")
    }
  }

  func read(_ document: JSONValue, _ call: Call) throws(Problem) -> MessageReading {
    do throws(Refusal) {
      return try Intake.read(
        messageFrom: document, providers: providerNames, maximumTargets: settings.maximumTargets, now: call.now)
    } catch {
      throw Problem(error, .invalidMessage)
    }
  }

  /// From a document to all but a stored message. `body` is what will be stored of it.
  func draft(_ document: JSONValue, body: [UInt8], _ call: Call) async throws(Problem) -> Draft {
    try await draft(try read(document, call), document, body: body, call)
  }

  /// `owners`: of the message's tokens, if they are known.
  func draft(
    _ reading: MessageReading, _ document: JSONValue, body: [UInt8], _ call: Call, owners: [TokenOwner]? = nil
  ) async throws(Problem) -> Draft {
    let message = reading.message
    var warnings = reading.warnings.map { Notice(pointer: $0.pointer, code: $0.code, detail: $0.detail) }
    let contents = message.textsByVariant
    try await checkAttributes(contents, call.app)
    try checkZones(message)
    let aim = try await aim(message, call, document: document, owners: owners)
    warnings += aim.warnings
    warnings += try checkRendering(contents, aim.credentials, call.now)
    return Draft(
      message, aim, body: body, app: call.app, now: call.now, warnings: warnings,
      errorBrake: apps[call.app]?.errorBrake, settings)
  }

  /// Stores a draft; when it returns, the message survives any crash of this process.
  func accept(_ draft: Draft, _ app: AppID) async throws(Problem) -> AcceptedMessage {
    draft.submission.replicas = draft.message.replicas ?? apps[app]?.replicas ?? 0
    let acceptance: Acceptance
    do throws(StoreError) {
      acceptance = try await store.accept(draft.submission)
    } catch {
      throw Problem(error)
    }
    switch acceptance {
    case .accepted, .unconfirmed(_, _, isRepeated: false): counts.acceptedMessage(draft.submission)
    case .unconfirmed, .repeated, .keyReused, .inProgress: break
    }
    return try await became(acceptance, of: draft, app)
  }

  // MARK: Idempotency

  private static let longestIdempotencyKey = 255

  func idempotency(of request: HTTPServerRequest) throws(Problem) -> (key: String, digest: [UInt8])? {
    let given = request.headers.filter { $0.name == "idempotency-key" }
    guard let key = given.first?.value else { return nil }
    guard given.count == 1, Self.isIdempotencyKey(key) else {
      throw Problem(
        .invalidParameter,
        "`Idempotency-Key` must be one value of 1–\(Self.longestIdempotencyKey) printable ASCII characters")
    }
    return (key, Digest.sha256(request.body))
  }

  static func isIdempotencyKey(_ key: String) -> Bool {
    (1...longestIdempotencyKey).contains(key.utf8.count) && key.utf8.allSatisfy { (0x20...0x7e).contains($0) }
  }

  func lookUp(_ idempotency: (key: String, digest: [UInt8]), _ app: AppID) async throws(Problem) -> Acceptance? {
    do throws(StoreError) {
      return try await store.lookUp(idempotencyKey: idempotency.key, digest: idempotency.digest, app: app)
    } catch {
      throw Problem(error)
    }
  }

  /// The answer to an acceptance; targets and warnings are known only to the request that made the message.
  func became(_ acceptance: Acceptance, of draft: Draft?, _ app: AppID) async throws(Problem) -> AcceptedMessage {
    switch acceptance {
    case .accepted(let id):
      return AcceptedMessage(
        id: id, state: draft?.state ?? .completed, targets: draft?.count ?? 0,
        startsAt: draft?.submission.schedule?.startAt, warnings: draft?.warnings ?? [], isRepeated: false)
    case .repeated(let id):
      let report: MessageReport?
      do throws(StoreError) {
        report = try await store.report(id, app: app)
      } catch {
        throw Problem(error)
      }
      return AcceptedMessage(
        id: id, state: report?.state ?? .completed, targets: report?.total,
        startsAt: report?.state == .scheduled ? report?.startsAt : nil, warnings: [], isRepeated: true)
    case .unconfirmed(let id, let replicas, _):
      var problem = Problem(
        .durabilityUnconfirmed,
        "The message is stored and will be sent; \(replicas) replicas had it in time, fewer than `durability` asks for. "
          + "Repeat it with the same `Idempotency-Key` to have it confirmed: nothing is sent twice", retryAfter: 1)
      problem.id = id
      throw problem
    case .keyReused:
      throw Problem(
        .idempotencyKeyReused, "This idempotency key came with another body before: use a new key for a new message")
    case .inProgress:
      throw Problem(
        .requestInProgress, "The first request with this idempotency key is still at work: try again soon",
        retryAfter: 1)
    }
  }
}
