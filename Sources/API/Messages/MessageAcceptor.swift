import Domain
import Intake
import Store

/// Stores prepared messages, and says what came of it. Belongs to the loop.
final class MessageAcceptor {
  private let store: Store
  private let configuration: AdoptedConfiguration
  private let keys: IdempotencyKeys
  private let counts: ServiceCounts

  init(store: Store, configuration: AdoptedConfiguration, keys: IdempotencyKeys, counts: ServiceCounts) {
    self.store = store
    self.configuration = configuration
    self.keys = keys
    self.counts = counts
  }

  /// Takes the tokens of its deliveries, and its place among the scheduled messages, once; before anything is stored for
  /// it.
  func charge(_ prepared: PreparedMessage, _ call: Call) async throws(Problem) {
    guard !prepared.isCharged else { return }
    try checkApproval(prepared, call)
    try await call.take(.deliveries, prepared.count)
    if let schedule = prepared.submission.schedule, let limit = configuration.apps[call.app]?.limits.scheduled {
      do throws(Problem) {
        try await enter(prepared, schedule, limit, call.app)
      } catch {
        call.allowance?.refund(.deliveries, prepared.count)
        throw error
      }
    }
    prepared.isCharged = true
  }

  private func checkApproval(_ prepared: PreparedMessage, _ call: Call) throws(Problem) {
    guard let rule = configuration.found(call.app)?.approval, !prepared.isSeenByTwo else { return }
    // A test list names a few people.
    if prepared.submission.testOf != nil, prepared.count <= TestRecipients.maximum { return }
    let devices = prepared.isCountedElsewhere(configuration.tokenRules) ? nil : prepared.count
    guard rule.holds(of: call.keyID, devices) else { return }
    let detail =
      "messages of this app to more than \(rule.above) devices, or to as many as a provider chooses, need a second "
      + "person: one key writes the draft, and another one approves it (`POST /v1/drafts/{id}/approve`), or sends the "
      + "version that it has seen (`If-Match`)"
    throw Problem(.approvalNeeded, detail)
  }

  private func enter(
    _ prepared: PreparedMessage, _ schedule: Schedule, _ limit: Int, _ app: AppID
  ) async throws(Problem) {
    let id = prepared.submission.id ?? store.acceptance.identify(prepared.submission)
    prepared.submission.id = id
    let isEntered: Bool
    do throws(StoreError) {
      isEntered = try await store.scheduledCounts.enter(id, app: app, until: schedule.shown, limit: limit)
    } catch {
      throw Problem(error)
    }
    guard isEntered else {
      throw Problem(
        .scheduledLimit,
        "The app has reached its limit of \(limit) scheduled messages (limits.apps.scheduled): cancel some, or "
          + "wait until some have started")
    }
  }

  /// It was not stored after all.
  private func discharge(_ prepared: PreparedMessage, _ call: Call) async {
    call.allowance?.refund(.deliveries, prepared.count)
    guard prepared.submission.schedule != nil, configuration.apps[call.app]?.limits.scheduled != nil,
      let id = prepared.submission.id
    else { return }
    // Otherwise it counts until its time.
    try? await store.scheduledCounts.leave(id, app: call.app)
  }

  /// Stores a message; when it returns, the message survives any crash of this process.
  func accept(_ prepared: PreparedMessage, _ call: Call) async throws(Problem) -> AcceptedMessage {
    let app = call.app
    try await charge(prepared, call)
    chooseReplicas(prepared, app)
    var acceptance = try await submit(prepared, call)
    // Another request has taken the key since it was looked up. If nothing came of that one, this is the first.
    if case .inProgress = acceptance, let idempotency = prepared.submission.idempotency {
      if let found = try await keys.lookUp(idempotency, app) {
        acceptance = found
      } else {
        acceptance = try await submit(prepared, call)
      }
    }
    switch acceptance {
    case .accepted, .unconfirmed(_, _, isRepeated: false): counts.accepted(prepared)
    case .unconfirmed(_, _, isRepeated: true): call.allowance?.refund(.deliveries, prepared.count)
    case .repeated(let id) where id == prepared.submission.id:
      call.allowance?.refund(.deliveries, prepared.count)
    case .repeated, .keyReused, .inProgress, .mayBeRegistered: await discharge(prepared, call)
    }
    return try await became(acceptance, of: prepared, app)
  }

  /// Nil: nothing was done, and who has its token must be looked up.
  func acceptUnregistered(_ prepared: PreparedMessage, _ call: Call) async throws(Problem) -> AcceptedMessage? {
    try await charge(prepared, call)
    chooseReplicas(prepared, call.app)
    guard case .accepted(let id) = try await submit(prepared, call) else {
      await discharge(prepared, call)
      return nil
    }
    counts.accepted(prepared)
    return AcceptedMessage(id, prepared)
  }

  private func submit(_ prepared: PreparedMessage, _ call: Call) async throws(Problem) -> Acceptance {
    do throws(StoreError) {
      return try await store.acceptance.accept(prepared.submission)
    } catch {
      // Not accepted, so it takes no tokens. It may have been stored all the same, so it keeps its place among the scheduled.
      call.allowance?.refund(.deliveries, prepared.count)
      throw Problem(error)
    }
  }

  /// How many replicas must have it: as the message says, or else its app.
  func chooseReplicas(_ prepared: PreparedMessage, _ app: AppID) {
    prepared.submission.replicas = prepared.message.replicas ?? configuration.found(app)?.replicas ?? 0
  }

  /// The answer to an acceptance; targets and warnings are known only to the request that made the message. A repeat is
  /// answered at once, without reading the message again.
  func became(_ acceptance: Acceptance, of prepared: PreparedMessage?, _ app: AppID) async throws(Problem)
    -> AcceptedMessage
  {
    switch acceptance {
    case .accepted(let id):
      return prepared.map { AcceptedMessage(id, $0) }
        ?? AcceptedMessage(id: id, state: .completed, targets: 0, startsAt: nil, warnings: [], isRepeated: false)
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
      (accepted.startsAtLocal, accepted.startsAtZone) = (report?.startsAtLocal, report?.zoneOfStart)
      accepted.mayBeAwaited = report?.isSmall == true
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
        "The first request with this idempotency key is still in progress after "
          + "\(IdempotencyKeys.milliseconds / 1_000) seconds: repeat this request soon, with the same key",
        retryAfter: 1)
    }
  }
}

extension MessageReport {
  /// It has started, and goes to a few targets.
  fileprivate var isSmall: Bool {
    state != .scheduled && labels.expression == nil && total <= OutcomeWaits.mostTargets
  }
}
