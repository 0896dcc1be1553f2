import Domain

/// What a process knows of the partitions that it owns. Belongs to the loop of its session. It is of no use without the
/// lease, and all but `parking` is forgotten with it.
final class OwnedPartitions {
  /// By partition: whose message a claimed job is, until a flush finishes it or the lease is gone.
  var claimed: [Int: [JobID: MessageID]] = [:]
  /// By partition: inline messages that were claimed.
  var inlineMessages: [Int: InlineMessageBook] = [:]
  /// By partition: audience parts at work, until they end or the lease is gone.
  var audiences: [Int: [MessageID: AudienceShard]] = [:]
  /// By partition: messages that go to audiences, until their part has ended and their jobs are finished. Whatever claims
  /// or recalls a delivery of an audience enters its message here, so a message that is missing is a direct send, or has
  /// nothing left to do.
  var audienceMessages: [Int: Set<MessageID>] = [:]
  /// By partition and hour: when the finished records of that hour end, as Redis told it last.
  var segmentEnds: [Int: [Int64: WallTime]] = [:]
  /// By partition: the sweep looks at some messages with an error brake at a time; so many were looked at in this round.
  var brakesLooked: [Int: Int] = [:]
  /// By partition: messages whose retries a flush at work puts out of turn, and how many flushes.
  var parking: [Int: [MessageID: Int]] = [:]

  func forget(_ partition: Int) {
    claimed[partition] = nil
    inlineMessages[partition] = nil
    audiences[partition] = nil
    audienceMessages[partition] = nil
    segmentEnds[partition] = nil
    brakesLooked[partition] = nil
  }
}
