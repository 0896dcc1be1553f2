package import Domain

/// Names a delivery: a message and the place of the target in the partition's list.
package struct DeliveryID: Hashable, Sendable {
  package var message: MessageID
  package var partition: Int
  package var index: Int
  /// `partition` and `index` are those of the target, not of the message's home.
  package init(message: MessageID, partition: Int, index: Int) {
    self.message = message
    self.partition = partition
    self.index = index
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(message.low ^ UInt64(truncatingIfNeeded: partition) << 32 ^ UInt64(truncatingIfNeeded: index))
  }
}
