import Domain
import HTTPServer
import Intake
import JSON
import Loop
import Store
import TLS

extension Service {
  /// `POST /v1/messages`: from the body to a durable message, or to a refusal without any effect. `?dry_run=true`: to
  /// what would be sent, without any effect either.
  func sendMessage(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let isDryRun = call.flag("dry_run")
    let idempotency = try idempotency(of: call.request)
    if !isDryRun, let idempotency, let earlier = try await lookUp(idempotency, call.app) {
      return Answer.accepted(try await became(earlier, of: nil, call.app))
    }
    let document = try call.document()
    let (reading, body) = (try await readWhole(document, call), call.request.body)
    // Requests with an idempotency key look first: the key of one that is not stored would stay reserved.
    var prepared = try await prepare(
      reading, document, body: body, call, owners: isDryRun || idempotency != nil ? .lookedUp : .askedByStore,
      for: isDryRun ? .answer : .warning)
    if isDryRun { return try await dryRun(prepared, call) }
    if prepared.submission.asksOwner {
      if let accepted = try await acceptUnregistered(prepared, call.app) { return Answer.accepted(accepted) }
      prepared = try await prepare(reading, document, body: body, call, owners: .lookedUp)
    }
    prepared.submission.idempotency = idempotency
    return Answer.accepted(try await accept(prepared, call.app))
  }

  func read(_ document: JSONValue, _ call: Call) throws(Problem) -> MessageReading {
    do throws(Refusal) {
      return try reading(of: document, call, FaultBudget(suggestions: call.suggestions))
    } catch {
      throw Problem(error, .invalidMessage)
    }
  }

  /// `faults`: shared by all lines of a request.
  func reading(of document: JSONValue, _ call: Call, _ faults: FaultBudget) throws(Refusal) -> MessageReading {
    try MessageReader.read(
      document, providers: tokenRules, maximumTargets: settings.maximumTargets, now: call.now,
      faults: faults)
  }

  /// From a document to all but a stored message. `body` is what will be stored of it.
  func prepare(_ document: JSONValue, body: [UInt8], _ call: Call, for purpose: ForecastPurpose)
    async throws(Problem) -> PreparedMessage
  {
    try await prepare(try await readWhole(document, call), document, body: body, call, for: purpose)
  }

  /// Refused with what later checks find as well.
  private func readWhole(_ document: JSONValue, _ call: Call) async throws(Problem) -> MessageReading {
    let faults = FaultBudget(suggestions: call.suggestions)
    do throws(Refusal) {
      return try reading(of: document, call, faults)
    } catch {
      throw Problem(await withLaterFaults(error, document, call, faults), .invalidMessage)
    }
  }

  func prepare(
    _ reading: MessageReading, _ document: JSONValue, body: [UInt8], _ call: Call, owners: OwnerLookup = .lookedUp,
    for purpose: ForecastPurpose = .warning
  ) async throws(Problem) -> PreparedMessage {
    var message = reading.message
    var body = body
    if message.liveActivity != nil, document["live_activity"]?["timestamp"] == nil {
      // Written into what is stored: whoever reads it later must find the same time.
      let time = max(call.now, message.sendAt?.earliest ?? call.now).milliseconds / 1_000
      message.liveActivity?.timestamp = time
      body = Self.stamped(body, time)
    }
    var warnings = reading.warnings.map { Notice(pointer: $0.pointer, code: $0.code, detail: $0.detail) }
    let contents = message.textsByVariant
    let outlook = outlook(of: message, contents, call)
    let checked = message
    let (recipients, notices) = try await check(checked, contents, call) { () throws(Problem) in
      try await self.recipients(
        checked, call, document: document, keepsDevices: outlook.asksDevices, owners: owners)
    }
    warnings += recipients.warnings
    warnings += try await checkSubscribers(recipients, message, call.app)
    warnings += notices
    let prepared = PreparedMessage(
      message, recipients, body: body, app: call.app, now: call.now, warnings: warnings,
      errorBrake: apps[call.app]?.errorBrake, settings)
    try await foresee(prepared, recipients, outlook, call, purpose)
    prepared.warnings = call.notices.told(prepared.warnings)
    return prepared
  }

  /// Warns of all who will get nothing. Of a message that has a holdout this chooses the id, as that says who is in it.
  func foresee(
    _ prepared: PreparedMessage, _ recipients: ResolvedRecipients, _ outlook: Outlook, _ call: Call,
    _ purpose: ForecastPurpose
  )
    async throws(Problem)
  {
    let isAsked = purpose == .answer
    guard isAsked || outlook.asksDevices || !recipients.isWhole else { return }
    if !isAsked, prepared.message.shares != nil {
      let id = prepared.submission.id ?? store.acceptance.identify(prepared.submission)
      prepared.submission.id = id
      outlook.split = prepared.submission.split(id)
    }
    let forecast = try await forecast(recipients, outlook, call, purpose)
    prepared.forecast = forecast
    prepared.warnings += Notice.of(forecast)
  }

  private static func stamped(_ body: [UInt8], _ time: Int64) -> [UInt8] {
    guard let document = try? JSON.parse(body, Call.limits), var members = document.object,
      var activity = members["live_activity"]?.object
    else { preconditionFailure("a message was read that cannot be read") }
    activity.set("timestamp", .integer(time))
    members.set("live_activity", .object(activity))
    return JSONValue.object(members).encoded
  }

  /// Stores a draft; when it returns, the message survives any crash of this process.
  func accept(_ prepared: PreparedMessage, _ app: AppID) async throws(Problem) -> AcceptedMessage {
    prepared.submission.replicas = prepared.message.replicas ?? apps[app]?.replicas ?? 0
    var acceptance = try await store(prepared)
    // Another request has taken the key since it was looked up. If nothing came of that one, this is the first.
    if case .inProgress = acceptance, let idempotency = prepared.submission.idempotency {
      if let found = try await lookUp(idempotency, app) {
        acceptance = found
      } else {
        acceptance = try await store(prepared)
      }
    }
    switch acceptance {
    case .accepted, .unconfirmed(_, _, isRepeated: false): counts.acceptedMessage(prepared.submission)
    case .unconfirmed, .repeated, .keyReused, .inProgress, .mayBeRegistered: break
    }
    return try await became(acceptance, of: prepared, app)
  }

  /// Nil: nothing was done, and who has its token must be looked up.
  private func acceptUnregistered(_ prepared: PreparedMessage, _ app: AppID) async throws(Problem) -> AcceptedMessage? {
    prepared.submission.replicas = prepared.message.replicas ?? apps[app]?.replicas ?? 0
    guard case .accepted(let id) = try await store(prepared) else { return nil }
    counts.acceptedMessage(prepared.submission)
    return AcceptedMessage(id, prepared)
  }

  private func store(_ prepared: PreparedMessage) async throws(Problem) -> Acceptance {
    do throws(StoreError) {
      return try await store.acceptance.accept(prepared.submission)
    } catch {
      throw Problem(error)
    }
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

  /// What a key stands for. While the first request with it is at work, its answer is waited for: for at most
  /// `keyMilliseconds`, then `.inProgress`.
  func lookUp(_ idempotency: (key: String, digest: [UInt8]), _ app: AppID) async throws(Problem) -> Acceptance? {
    let deadline = loop.now + Self.keyMilliseconds
    var wait = Self.firstKeyWait
    do throws(StoreError) {
      while true {
        let found = try await store.acceptance.lookUp(
          idempotencyKey: idempotency.key, digest: idempotency.digest, app: app)
        guard case .inProgress? = found, loop.now < deadline else { return found }
        await loop.sleep(milliseconds: wait)
        wait = min(2 * wait, Self.longestKeyWait)
      }
    } catch {
      throw Problem(error)
    }
  }
  private static let keyMilliseconds: Int64 = 5_000
  private static let firstKeyWait: Int64 = 5
  private static let longestKeyWait: Int64 = 100

  /// The answer to an acceptance; targets and warnings are known only to the request that made the message.
  func became(_ acceptance: Acceptance, of prepared: PreparedMessage?, _ app: AppID) async throws(Problem)
    -> AcceptedMessage
  {
    switch acceptance {
    case .accepted(let id):
      var accepted = AcceptedMessage(
        id: id, state: prepared?.state ?? .completed, targets: prepared?.count ?? 0,
        startsAt: prepared?.submission.schedule?.startAt, warnings: prepared?.warnings ?? [], isRepeated: false)
      accepted.startsLocally = prepared?.submission.schedule?.local != nil
      return accepted
    case .repeated(let id):
      let report: MessageReport?
      do throws(StoreError) {
        report = try await store.reports.report(id, app: app)
      } catch {
        throw Problem(error)
      }
      var accepted = AcceptedMessage(
        id: id, state: report?.state ?? .completed, targets: report?.total,
        startsAt: report?.state == .scheduled ? report?.startsAt : nil,
        warnings: report?.state == .cancelled ? [.ofCancelled(id)] : [], isRepeated: true)
      accepted.startsLocally = report?.startsAtLocal != nil
      return accepted
    case .unconfirmed(let id, let replicas, _):
      var problem = Problem(
        .durabilityUnconfirmed,
        "The Redis primary has the message, and it will be sent unless the primary is lost first. Only \(replicas) "
          + "replicas confirmed it in time, fewer than `durability` asks for. Repeat the request with the same "
          + "`Idempotency-Key` to ask again; it creates no second message", retryAfter: 1)
      problem.id = id
      throw problem
    case .keyReused:
      throw Problem(
        .idempotencyKeyReused,
        "This idempotency key was used with another body: use a new key for a new message. Bodies are compared byte "
          + "by byte, including spaces and the order of members")
    case .mayBeRegistered: preconditionFailure("who has the token was looked up before")
    case .inProgress:
      throw Problem(
        .requestInProgress,
        "The first request with this idempotency key is still in progress after \(Self.keyMilliseconds / 1_000) "
          + "seconds: repeat this request soon, with the same key",
        retryAfter: 1)
    }
  }
}
