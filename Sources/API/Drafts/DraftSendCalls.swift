import Domain
import HTTPServer
import Intake
import JSON
import Store

/// What a draft is for: to be counted, looked at, and sent, once.
struct DraftSendCalls {
  /// A draft that was taken for sending so long ago may have been sent, and its message be beyond retention.
  private static let sendingAtMost: Int64 = 24 * 3_600_000

  let store: Store
  let configuration: AdoptedConfiguration
  let lookup: DraftLookup
  let preparation: MessagePreparation
  let forecaster: Forecaster
  let acceptor: MessageAcceptor
  let dryRuns: DryRuns

  /// `POST /v1/drafts/{id}/count`: whom it would reach if it were sent now.
  func countDraft(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let draft = try await lookup.draft(try call.draftID(), call.app)
    let document = try lookup.document(of: draft)
    let message = try NestedMessage.read { () throws(Problem) in try preparation.read(document, call).message }
    let (forecast, warnings) = try await NestedMessage.check { () async throws(Problem) in
      try await forecaster.count(message, call, document: document)
    }
    let schedule = Schedule(message, now: call.now)
    return Answer.json { writer in
      if let schedule {
        schedule.write(to: &writer)
      } else {
        // The first clock on earth shows it already, those of the devices perhaps not.
        writer.member("starts_at_local", message.sendAt?.local?.text)
      }
      forecast.write(to: &writer)
      if let rule = configuration.apps[call.app]?.approval {
        writer.key("approval")
        writer.beginObject()
        writer.member("above", rule.above)
        let devices = message.isCountedElsewhere ? nil : forecast.targets
        let isNeeded = rule.holds(of: call.keyID, devices) && !draft.isSeenByTwo(sentBy: call, sawVersion: true)
        writer.member("is_needed", .bool(isNeeded))
        writer.endObject()
      }
      writer.key("warnings")
      writer.beginArray()
      for warning in warnings { warning.write(to: &writer) }
      writer.endArray()
    }
  }

  /// `POST /v1/drafts/{id}/send`: its message, and nothing is left of the draft. Whoever asks again, at once or later,
  /// gets the same message. A time in the body counts instead of the draft's own.
  func sendDraft(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let isDryRun = call.flag("dry_run")
    let id = try call.draftID()
    let match = try call.draftVersion()
    let time = try time(of: call)
    let stored: StoredDraft
    switch try await state(of: id, call.app) {
    case .unknown: throw Problem.noDraft
    case .sent(let message):
      guard !isDryRun else { throw try await lookup.sent(message, call.app) }
      return call.accepted(try await acceptor.became(.repeated(message), of: nil, call.app))
    case .found(let found): stored = found
    }
    if let version = match?.version, version != stored.version { throw Problem.draftConflict(stored.version) }
    if !isDryRun, let message = stored.message, let answer = try await settled(id, message, call) { return answer }

    let own = try lookup.document(of: stored)
    let document = time.map { own.moved(to: $0) } ?? own
    let body = time == nil ? stored.body : document.encoded
    let ready = try await NestedMessage.check { () async throws(Problem) in
      try await preparation.prepare(document, body: body, call, for: isDryRun ? .answer : .warning)
    }
    if isDryRun { return try await dryRuns.answer(ready, call) }
    // It would be used up, and nobody would get it.
    guard ready.count > 0 || stored.message != nil || ready.submission.schedule != nil else {
      let detail = "nobody would get it: no device is among the recipients. The draft is kept"
      throw Problem(
        .invalidMessage, detail, violations: [Violation("/message/to", Violation.Code.notAllowed, detail)])
    }
    ready.submission.draftOf = id
    ready.submission.labels.name = ready.submission.labels.name ?? stored.name
    ready.isSeenByTwo = stored.isSeenByTwo(sentBy: call, sawVersion: match?.version != nil)
    // A draft that was taken for sending can no longer be changed.
    try await acceptor.charge(ready, call)
    let reservation: DraftReservation
    do throws(StoreError) {
      reservation = try await store.drafts.reserve(
        id, version: stored.version, as: ready.submission.id ?? store.acceptance.identify(ready.submission),
        app: call.app)
    } catch {
      throw Problem(error)
    }
    switch reservation {
    case .unknown: throw Problem.noDraft
    case .conflict(let version): throw Problem.draftConflict(version)
    case .sent(let message): return call.accepted(try await acceptor.became(.repeated(message), of: nil, call.app))
    case .reserved(let message, let again):
      ready.submission.id = message
      var accepted = try await acceptor.accept(ready, call)
      accepted.isRepeated = again
      try await settle(id, message, call.app)
      return call.accepted(accepted)
    }
  }

  /// Nil: the body says nothing of it.
  func time(of call: Call) throws(Problem) -> ScheduleChange? {
    guard !call.request.body.isEmpty else { return nil }
    return try call.read(.invalidBody) { document throws(Refusal) in
      try ScheduleReader.readOfDraft(document, now: call.now)
    }
  }

  /// The answer where an earlier request has stored the message; nil: it has not come so far.
  private func settled(_ id: DraftID, _ message: MessageID, _ call: Call) async throws(Problem) -> HTTPServerResponse? {
    let report: MessageReport?
    do throws(StoreError) {
      report = try await store.reports.report(message, app: call.app)
    } catch {
      throw Problem(error)
    }
    guard report != nil else {
      guard call.now - message.acceptedAt <= Self.sendingAtMost else {
        throw Problem(
          .draftSent,
          "Sending this draft as \(message) began long ago, and its result is no longer known: duplicate the draft, "
            + "and delete this one"
        )
      }
      return nil
    }
    try await settle(id, message, call.app)
    return call.accepted(try await acceptor.became(.repeated(message), of: nil, call.app))
  }

  private func settle(_ id: DraftID, _ message: MessageID, _ app: AppID) async throws(Problem) {
    do throws(StoreError) {
      try await store.drafts.settle(id, as: message, app: app)
    } catch {
      throw Problem(error)
    }
  }

  private func state(of id: DraftID, _ app: AppID) async throws(Problem) -> DraftState {
    do throws(StoreError) {
      return try await store.drafts.draft(id, app: app)
    } catch {
      throw Problem(error)
    }
  }
}

extension Message {
  /// A provider decides who gets it.
  fileprivate var isCountedElsewhere: Bool {
    if case .channel = to { return true }
    return oneSignalTargeting == .provider
  }
}

extension StoredDraft {
  /// One key wrote this version, and another one approved it, or sends what it has seen.
  func isSeenByTwo(sentBy call: Call, sawVersion: Bool) -> Bool {
    if let approver { return approver != editor ?? call.keyID }
    guard let editor, sawVersion, call.may(.send), call.isSomebody else { return false }
    return editor != call.keyID
  }
}
