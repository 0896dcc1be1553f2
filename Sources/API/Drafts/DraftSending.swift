import Domain
import HTTPServer
import Intake
import JSON
import Store

/// What a draft is for: to be counted, looked at, and sent, once.
extension Service {
  /// A draft that was taken for sending so long ago may have been sent, and its message be beyond retention.
  private static let sendingAtMost: Int64 = 24 * 3_600_000

  /// `POST /v1/drafts/{id}/count`: whom it would reach if it were sent now.
  func countDraft(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let draft = try await foundDraft(try draftID(of: call), call.app)
    let document = try document(of: draft)
    let message = try Self.readingMessage { () throws(Problem) in try self.read(document, call).message }
    let (forecast, warnings) = try await Self.inMessage { () async throws(Problem) in
      try await self.count(message, call, document: document)
    }
    return Answer.json { writer in
      forecast.write(to: &writer)
      writer.key("warnings")
      writer.beginArray()
      for warning in warnings { warning.write(to: &writer) }
      writer.endArray()
    }
  }

  /// `POST /v1/drafts/{id}/send`: its message, and nothing is left of the draft. Whoever asks again, at once or later,
  /// gets the same message.
  func sendDraft(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let isDryRun = call.flag("dry_run")
    let id = try draftID(of: call)
    let match = try match(of: call)
    let stored: StoredDraft
    switch try await state(of: id, call.app) {
    case .unknown: throw Self.noDraft
    case .sent(let message):
      guard !isDryRun else { throw try await sent(message, call.app) }
      return Answer.accepted(try await became(.repeated(message), of: nil, call.app))
    case .found(let found): stored = found
    }
    if let version = match?.version, version != stored.version { throw Self.conflict(stored.version) }
    if !isDryRun, let message = stored.message, let answer = try await settled(id, message, call) { return answer }

    let document = try document(of: stored)
    let ready = try await Self.inMessage { () async throws(Problem) in
      try await self.prepare(document, body: stored.body, call, for: isDryRun ? .answer : .warning)
    }
    if isDryRun { return try await dryRun(ready, call) }
    ready.submission.draftOf = id
    ready.submission.labels.name = ready.submission.labels.name ?? stored.name
    let reservation: DraftReservation
    do throws(StoreError) {
      reservation = try await store.drafts.reserve(
        id, version: stored.version, as: ready.submission.id ?? store.acceptance.identify(ready.submission),
        app: call.app)
    } catch {
      throw Problem(error)
    }
    switch reservation {
    case .unknown: throw Self.noDraft
    case .conflict(let version): throw Self.conflict(version)
    case .sent(let message): return Answer.accepted(try await became(.repeated(message), of: nil, call.app))
    case .reserved(let message, let again):
      ready.submission.id = message
      var accepted = try await accept(ready, call.app)
      accepted.isRepeated = again
      try await settle(id, message, call.app)
      return Answer.accepted(accepted)
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
    return Answer.accepted(try await became(.repeated(message), of: nil, call.app))
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

  func document(of draft: StoredDraft) throws(Problem) -> JSONValue {
    guard let document = try? JSON.parse(draft.body, maximumDepth: Call.maximumDepth) else {
      throw Problem(.internalError, "The draft \(draft.id) cannot be read")
    }
    return document
  }

  /// Faults of a draft's message stand in its `message`.
  static func inMessage<Value>(_ work: () async throws(Problem) -> Value) async throws(Problem) -> Value {
    do throws(Problem) {
      return try await work()
    } catch {
      throw error.inMessage
    }
  }
  static func readingMessage<Value>(_ work: () throws(Problem) -> Value) throws(Problem) -> Value {
    do throws(Problem) {
      return try work()
    } catch {
      throw error.inMessage
    }
  }

  /// What would come of this message, and what is to be known of it before it is sent.
  func count(_ message: Message, _ call: Call, document: JSONValue, _ purpose: ForecastPurpose = .answer)
    async throws(Problem) -> (forecast: Forecast, warnings: [Notice])
  {
    let contents = message.textsByVariant
    let outlook = outlook(of: message, contents, call)
    let recipients = try await recipients(message, call, document: document, keepsDevices: outlook.asksDevices)
    let forecast = try await forecast(recipients, outlook, call, purpose)
    let unknown = Notice.of(unknownAttributes: try await unknownAttributes(in: contents, call))
    return (forecast, call.notices.told(recipients.warnings + unknown + Notice.of(forecast)))
  }
}

extension Problem {
  fileprivate var inMessage: Problem {
    var problem = self
    for index in problem.violations.indices {
      problem.violations[index].pointer = "/message" + problem.violations[index].pointer
    }
    return problem
  }
}
