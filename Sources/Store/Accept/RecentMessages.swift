import Domain
import Loop
import Synchronization

/// Messages that this process has accepted a moment ago, as it has read them: a worker in the same process need not read
/// again what it claims. Only those of one delivery, as each is claimed once. Bounded, and nothing depends on what it has
/// forgotten. From any thread.
package final class RecentMessages: Sendable {
  private struct Known {
    var messages: [MessageID: Message] = [:]
    /// Oldest first; those that were taken since stand here too.
    var order = FIFO<MessageID>()
  }
  private let known = Mutex(Known())
  /// Reckoned at some ten megabytes, as the bodies of such messages are small (`InlineMessage.longestBody`).
  private static let limit = 1_024

  /// One for each process, shared by the stores of its API and its workers.
  package init() {}

  /// Before it is stored, as a worker may claim it before the answer is here.
  func put(_ id: MessageID, _ message: Message) {
    known.withLock { known in
      known.messages[id] = message
      known.order.append(id)
      while known.order.count > Self.limit, let oldest = known.order.popFirst() { known.messages[oldest] = nil }
    }
  }

  /// It is forgotten here.
  func take(_ id: MessageID) -> Message? { known.withLock { $0.messages.removeValue(forKey: id) } }
}
