import Domain
import HTTPServer
import Intake
import JSON
import Store

/// Another time for a message that has not started.
struct RescheduleCalls {
  let store: Store
  let configuration: AdoptedConfiguration
  let check: MessageCheck
  let recipientResolver: RecipientResolver
  let forecaster: Forecaster
  let bodies: LargeBodies

  /// Reads and writes of a change that another one crossed.
  private static let attempts = 5

  /// `PATCH /v1/messages/{id}`: another time, until it starts. Of two changes at once one comes after the other, or is
  /// refused if it names the version that it was made for. Warns as a send does. With `dry_run` nothing is changed, and the
  /// answer has the forecast.
  func rescheduleMessage(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let id = try call.messageID()
    let change = try change(of: call)
    let isTrial = call.flag("dry_run")
    for _ in 0..<Self.attempts {
      let scheduled = try await scheduled(id, call)
      if let version = change.version, version != scheduled.version { throw Self.changed(version) }
      let (message, body, stored) = try await content(of: scheduled, change, call)
      try check.checkZones(message)
      let (forecast, warnings) = try await foresee(
        message, body, of: scheduled, id, call, isTrial ? .answer : .warning)
      let first = try await recipientResolver.firstStart(of: message, stored: id, call)
      let schedule =
        Schedule(message, first: first, now: call.now)
        ?? Schedule(startAt: call.now, local: change.sendAt.local, first: first)
      if !isTrial, try await !write(schedule, message, stored, of: scheduled, id, change, call) { continue }
      var report = try await store.reports.found(id, call)
      if isTrial {
        (report.startsAt, report.startsAtLocal) = (schedule.shown, schedule.local)
        report.startsAtZone = schedule.shownZone
      }
      var writer = JSONWriter()
      report.write(to: &writer) { writer in
        if isTrial {
          writer.member("dry_run", true)
          forecast.write(to: &writer)
        }
        writer.objects("warnings", warnings) { writer, warning in warning.writeMembers(to: &writer) }
      }
      return Answer.bytes("application/json", writer.bytes)
    }
    throw Problem(.messageChanged, "Others are changing the message: read it again")
  }

  private static func changed(_ version: Int) -> Problem {
    Problem(.messageChanged, "The message no longer has version \(version): read it again")
  }
  private static let started = Problem(
    .messageStarted,
    "The message has started, even if its deliveries still wait, for example for the end of quiet hours: you can pause "
      + "or cancel it, but not reschedule it. For another time cancel it, and send what is left with "
      + "POST …/replay and outcomes [\"cancelled\"], or a draft of it (POST …/duplicate) with a new `send_at`")
  private static let cancelled = Problem(
    .messageCancelled,
    "The state is `cancelled`, and cannot change: send a new message, or POST …/replay with outcomes [\"cancelled\"]")

  func change(of call: Call) throws(Problem) -> ScheduleChange {
    try call.read(.invalidMessage) { document throws(Refusal) in try ScheduleReader.read(document, now: call.now) }
  }

  /// The message as it waits now.
  private func scheduled(_ id: MessageID, _ call: Call) async throws(Problem) -> ScheduledMessage {
    let reading: ScheduleReading
    do throws(StoreError) {
      reading = try await store.schedule.scheduled(id, app: call.app)
    } catch {
      throw Problem(error)
    }
    switch reading {
    case .waiting(let message): return message
    case .started: throw Self.started
    case .completed:
      throw Problem(
        .messageCompleted, "Every delivery has ended and the state is `completed`: send a new message for another time")
    case .cancelled: throw Self.cancelled
    case .unknown: throw Problem.noMessage
    }
  }

  /// The message with its new time, its document, and what will be stored of it.
  private func content(
    of scheduled: ScheduledMessage, _ change: ScheduleChange, _ call: Call
  ) async throws(Problem) -> (Message, JSONValue, [UInt8]) {
    let (body, rules, now) = (scheduled.body, configuration.tokenRules, call.now)
    func read() throws(Problem) -> (Message, JSONValue, [UInt8]) {
      guard let stored = try? JSON.parse(body, maximumDepth: Call.maximumDepth), stored.object != nil else {
        throw Problem(.internalError, "The stored message cannot be read")
      }
      let document = stored.moved(to: change)
      do throws(Refusal) {
        return (try MessageReader.read(document, providers: rules, now: now).message, document, document.encoded)
      } catch {
        throw Problem(error, .invalidMessage)
      }
    }
    return try await bodies.read(body.count) { Result { () throws(Problem) in try read() } }.get()
  }

  /// What would come of it at its new time, for those whom it was accepted for.
  private func foresee(
    _ message: Message, _ body: JSONValue, of scheduled: ScheduledMessage, _ id: MessageID, _ call: Call,
    _ purpose: ForecastPurpose
  ) async throws(Problem) -> (Forecast, [Notice]) {
    // One delivery for all of them: nothing is known of its devices.
    if message.oneSignalTargeting == .provider {
      var forecast = Forecast()
      forecast.send(by: .oneSignal)
      return (forecast, [])
    }
    var message = message
    if let audience = scheduled.audience {
      message.to = .audience(audience)
    } else if case .users = message.to {
      do throws(StoreError) {
        message.to = .devices(try await store.schedule.devices(of: id))
      } catch {
        throw Problem(error)
      }
    }
    let (forecast, warnings) = try await forecaster.count(message, call, document: body, purpose, stored: id)
    return (forecast, warnings)
  }

  /// False: another change came between, and this one is to be made anew.
  private func write(
    _ schedule: Schedule, _ message: Message, _ body: [UInt8], of scheduled: ScheduledMessage, _ id: MessageID,
    _ change: ScheduleChange, _ call: Call
  ) async throws(Problem) -> Bool {
    let done: Rescheduling
    do throws(StoreError) {
      done = try await store.schedule.reschedule(
        id, app: call.app, schedule, body: body, ttl: message.ttl, version: scheduled.version)
    } catch {
      throw Problem(error)
    }
    switch done {
    case .done:
      // Otherwise it counts until its former time.
      try? await store.scheduledCounts.move(id, app: call.app, until: schedule.shown)
      return true
    case .changed:
      if let version = change.version { throw Self.changed(version) }
      return false
    case .started: throw Self.started
    case .cancelled: throw Self.cancelled
    case .unknown: throw Problem.noMessage
    }
  }
}

extension JSONValue {
  /// A message with another time.
  func moved(to change: ScheduleChange) -> JSONValue {
    .object((without(["send_at", "send_at_local"]).object ?? []) + [change.member])
  }
  /// The object without these members.
  func without(_ names: [String]) -> JSONValue { .object((object ?? []).filter { !names.contains($0.key) }) }
}
