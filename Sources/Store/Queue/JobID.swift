package import Domain

/// A stream of jobs: one per partition, credential and urgency, existing only while it holds some.
package struct StreamID: Hashable, Sendable {
  package var partition: Int
  package var credential: CredentialID
  package var urgency: Urgency
  package init(partition: Int, credential: CredentialID, urgency: Urgency) {
    self.partition = partition
    self.credential = credential
    self.urgency = urgency
  }

  /// Looked up several times for each delivery.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(partition << 1 | (urgency == .urgent ? 1 : 0))
    hasher.combine(credential)
  }

  /// The sequence in the name of an entry, `sequence-1`.
  static func sequence(of entry: String) -> UInt64? { Whole.read(entry.prefix { $0 != "-" }, in: 0...UInt64.max) }
}

/// Names a job for as long as its stream holds it.
package struct JobID: Hashable, Sendable {
  package var stream: StreamID
  /// Ascending within a partition over all its streams: the order of acceptance.
  package var sequence: UInt64
  package init(stream: StreamID, sequence: UInt64) {
    self.stream = stream
    self.sequence = sequence
  }

  /// Two streams of a partition have no sequence in common.
  package func hash(into hasher: inout Hasher) { hasher.combine(sequence ^ UInt64(stream.partition) << 48) }
}
