import Domain

/// Where a list of deliveries goes on: the partition, and the index in its part.
package struct DeliveryPlace: Hashable, Comparable, Sendable {
  var partition: Int
  var index: Int

  init(partition: Int, index: Int) {
    self.partition = partition
    self.index = index
  }

  package static func < (left: Self, right: Self) -> Bool {
    (left.partition, left.index) < (right.partition, right.index)
  }

  /// For a cursor.
  package var text: String { "\(partition).\(index)" }
  /// Nil for what no list gave.
  package init?(text: String) {
    let words = text.split(separator: ".", omittingEmptySubsequences: false)
    guard words.count == 2, let partition = Whole.read(words[0], in: 0...Int(UInt16.max)),
      let index = Whole.read(words[1], in: 0...Int(UInt32.max))
    else { return nil }
    self.init(partition: partition, index: index)
  }
}
