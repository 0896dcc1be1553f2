package import Domain

/// The members of one OneSignal request, stored before its first attempt, never changed (design D17).
package struct StoredSlice: Hashable, Sendable {
  package var message: MessageID
  package var partition: Int
  package var number: Int
  /// 0, then one more each time that members were left out: refused by name, or late after a take-over.
  package var revision: Int
  package var members: [Int]
  /// `members`: indexes of deliveries within the partition.
  package init(message: MessageID, partition: Int, number: Int, revision: Int, members: [Int]) {
    self.message = message
    self.partition = partition
    self.number = number
    self.revision = revision
    self.members = members
  }
}
