import Domain
import HTTPServer
import Store
import Telemetry

/// Pauses, resumes and cancels messages.
struct ControlCalls {
  let store: Store
  let log: Log

  // `POST /v1/messages/{id}/pause`, `/resume` and `/cancel`. Attempts in flight finish. A repeated call changes
  // nothing. Of two operators at the same time, the later one decides.
  func pauseMessage(_ call: Call) async throws(Problem) -> HTTPServerResponse { try await control(call, .paused) }
  func resumeMessage(_ call: Call) async throws(Problem) -> HTTPServerResponse { try await control(call, .running) }
  func cancelMessage(_ call: Call) async throws(Problem) -> HTTPServerResponse { try await control(call, .cancelled) }

  private func control(_ call: Call, _ word: Control.Word) async throws(Problem) -> HTTPServerResponse {
    let id = try call.messageID()
    let controlled: Controlled
    do throws(StoreError) {
      controlled = try await store.control.change(id, app: call.app, word)
    } catch {
      throw Problem(error)
    }
    switch controlled {
    case .changed:
      // It counts among the scheduled ones of its app no longer, if it was one.
      if word == .cancelled { try? await store.scheduledCounts.leave(id, app: call.app) }
      log(.info, "message_controlled", ["message": id.description, "control": word.name, "key": call.key?.id ?? ""])
      return Answer.bytes("application/json", try await store.reports.found(id, call).encoded)
    case .unchanged: return Answer.bytes("application/json", try await store.reports.found(id, call).encoded)
    case .completed:
      throw Problem(
        .messageCompleted,
        "Every delivery has ended and the state is `completed`: there is nothing left to \(word.verb)")
    case .cancelled:
      throw Problem(
        .messageCancelled,
        "The state is `cancelled`, and cannot change: \(Self.afterCancel)")
    case .unknown: throw Problem.noMessage
    }
  }

  private static let afterCancel =
    "POST …/replay with outcomes [\"cancelled\"] sends the cancelled deliveries at once, as a new message"
}

extension Control.Word {
  fileprivate var verb: String {
    switch self {
    case .running: "resume"
    case .paused: "pause"
    case .cancelled: "cancel"
    }
  }
  fileprivate var name: String {
    switch self {
    case .running: "resumed"
    case .paused: "paused"
    case .cancelled: "cancelled"
    }
  }
}
