package import Domain

/// What workers are woken for over the store's channel. Any of them may be lost with the connection: `reconnected` asks
/// to look for all.
package enum Wakeup: Sendable {
  case work(StreamID)
  /// An audience may be due to start in this partition.
  case start(Int)
  /// What holds for a message in this partition, as an operator wants it.
  case controlled(MessageID, partition: Int, Control)
  /// The owner of a partition has handed it over.
  case released(Int)
  /// A credential's prune brake went on or was released.
  case braked
  case reconnected
}

extension Wakeup {
  init?(payload: [UInt8]) {
    let words = String(decoding: payload, as: UTF8.self).split(separator: " ", maxSplits: 2)
    switch words.first {
    case "w":
      guard words.count == 3, let partition = StoredNumber.partition(words[1]),
        let stream = StreamID(partition: partition, name: String(words[2]))
      else { return nil }
      self = .work(stream)
    case "s":
      guard words.count == 2, let partition = StoredNumber.partition(words[1]) else { return nil }
      self = .start(partition)
    case "c":
      let parts = words.last?.split(separator: " ") ?? []
      guard words.count == 3, parts.count == 2, let partition = StoredNumber.partition(words[1]),
        let id = MessageID(String(parts[0])),
        let control = Control(packed: parts[1])
      else { return nil }
      self = .controlled(id, partition: partition, control)
    case "l":
      guard words.count == 2, let partition = StoredNumber.partition(words[1]) else { return nil }
      self = .released(partition)
    case "b": self = .braked
    default: return nil
    }
  }
}
