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

  /// Reads and writes of a change that another one crossed.
  private static let attempts = 5

  /// `PATCH /v1/messages/{id}`: another time, until it starts. Of two changes at once one comes after the other, or is
  /// refused if it names the version that it was made for.
  func rescheduleMessage(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let id = try call.messageID()
    let change: ScheduleChange
    let document = try call.document()
    do throws(Refusal) {
      change = try ScheduleReader.read(document, now: call.now)
    } catch {
      throw Problem(error, .invalidMessage)
    }
    for _ in 0..<Self.attempts {
      switch try await self.change(id, change, call) {
      case .done:
        let report = try await store.reports.found(id, call)
        return Answer.bytes("application/json", report.encoded)
      case .changed where change.version == nil: continue
      case .changed:
        throw Problem(
          .messageChanged, "The message no longer has version \(change.version ?? 0): read it again")
      case .started:
        throw Problem(.messageStarted, "The message has started: you can pause or cancel it, but not reschedule it")
      case .cancelled: throw Problem(.messageStarted, "The message was cancelled: send a new one")
      case .unknown: throw Problem.noMessage
      }
    }
    throw Problem(.messageChanged, "Others are changing the message: read it again")
  }

  private func change(_ id: MessageID, _ change: ScheduleChange, _ call: Call) async throws(Problem) -> Rescheduling {
    let reading: ScheduleReading
    do throws(StoreError) {
      reading = try await store.schedule.scheduled(id, app: call.app)
    } catch {
      throw Problem(error)
    }
    let scheduled: ScheduledMessage
    switch reading {
    case .unknown: return .unknown
    case .started: return .started
    case .cancelled: return .cancelled
    case .waiting(let message): scheduled = message
    }
    if let version = change.version, version != scheduled.version { return .changed }
    guard let stored = try? JSON.parse(scheduled.body, maximumDepth: Call.maximumDepth),
      case .object(var members) = stored.without(["send_at", "send_at_local"])
    else { throw Problem(.internalError, "The stored message cannot be read") }
    members.append(change.member)
    let body = JSONValue.object(members)
    let message: Message
    do throws(Refusal) {
      message = try MessageReader.read(body, providers: configuration.tokenRules, now: call.now).message
    } catch {
      throw Problem(error, .invalidMessage)
    }
    try check.checkZones(message)
    let first = try await recipientResolver.firstStart(of: message, stored: id, call)
    let schedule =
      Schedule(message, first: first, now: call.now) ?? Schedule(startAt: call.now, local: change.sendAt.local)
    do throws(StoreError) {
      return try await store.schedule.reschedule(
        id, app: call.app, schedule, body: body.encoded, ttl: message.ttl, version: scheduled.version)
    } catch {
      throw Problem(error)
    }
  }
}

extension JSONValue {
  /// The object without these members.
  func without(_ names: [String]) -> JSONValue { .object((object ?? []).filter { !names.contains($0.key) }) }
}
