import TLS

/// The last requests, oldest first, bounded in number and in bytes of bodies.
package struct RequestLog: Sendable {
  package let capacity: Int
  private let bodyBudget: Int
  private let keepBodiesUpTo: Int
  private var ring: [LogEntry] = []
  /// Where the oldest entry stands once the ring is full.
  private var start = 0
  /// The number of the newest entry; numbers go on after `removeAll`.
  package private(set) var last: UInt64 = 0
  private var bodyBytes = 0
  /// The oldest entry whose body may still be kept.
  private var oldestBody: UInt64 = 1
  /// Accepted deliveries, by hash, for `duplicate`.
  private var seen: Set<Int> = []
  private var latest: (body: [UInt8], digest: BodyDigest)?

  /// `capacity`: entries, the oldest give way. The other two are bytes: of one body, and of all that are kept.
  package init(capacity: Int, keepBodiesUpTo: Int = 1024, bodyBudget: Int = 64 << 20) {
    self.capacity = max(1, capacity)
    self.keepBodiesUpTo = keepBodiesUpTo
    self.bodyBudget = bodyBudget
  }

  package var count: Int { ring.count }
  package var isEmpty: Bool { ring.isEmpty }
  /// The number of the oldest entry kept, or the next one.
  package var first: UInt64 { last + 1 - UInt64(ring.count) }

  /// Nil: not there yet, or no longer.
  package subscript(number: UInt64) -> LogEntry? {
    guard number >= first, number <= last else { return nil }
    return ring[index(of: number)]
  }

  /// Up to `limit` entries behind `number`, oldest first.
  package func entries(after number: UInt64 = 0, limit: Int = .max) -> [LogEntry] {
    let from = max(first, number &+ 1)
    guard number < last, from <= last else { return [] }
    let count = min(UInt64(limit), last - from + 1)
    return (from..<from + count).map { ring[index(of: $0)] }
  }

  /// All entries kept, oldest first, without a copy of them.
  package func forEach(_ body: (LogEntry) -> Void) {
    for place in ring.indices { body(ring[(start + place) % ring.count]) }
  }

  private func index(of number: UInt64) -> Int { (start + Int(number - first)) % ring.count }

  /// The body and digest as the log keeps them. Equal bodies in a row share one copy and one digest.
  mutating func digest(_ body: [UInt8]) -> (kept: [UInt8]?, digest: BodyDigest) {
    if let latest, latest.body == body { return (body.count <= keepBodiesUpTo ? latest.body : nil, latest.digest) }
    let digest = BodyDigest(Digest.sha256(body))
    latest = (body, digest)
    if body.count <= keepBodiesUpTo { bodyBytes += body.count }
    return (body.count <= keepBodiesUpTo ? body : nil, digest)
  }

  /// Numbers the entry, marks a repeated delivery, and answers its number and whether it is one.
  @discardableResult
  mutating func append(_ entry: LogEntry) -> (number: UInt64, duplicate: Bool) {
    var entry = entry
    last += 1
    entry.number = last
    if entry.accepted, let identity = Self.identity(of: entry) { entry.duplicate = !seen.insert(identity).inserted }
    if ring.count < capacity {
      ring.append(entry)
    } else {
      if ring[start].accepted, !ring[start].duplicate, let identity = Self.identity(of: ring[start]) {
        seen.remove(identity)
      }
      dropBody(at: start)
      ring[start] = entry
      start = (start + 1) % capacity
    }
    while bodyBytes > bodyBudget, oldestBody <= last { dropOldestBody() }
    return (last, entry.duplicate)
  }

  private mutating func dropOldestBody() {
    defer { oldestBody += 1 }
    guard oldestBody >= first else { return }
    dropBody(at: index(of: oldestBody))
  }

  private mutating func dropBody(at place: Int) {
    guard let body = ring[place].body else { return }
    ring[place].body = nil
    // Neighbours share their copy: it is given back with the last of them.
    let next = ring[(place + 1) % ring.count]
    let shared = next.number > ring[place].number && next.body != nil && next.bodyDigest == ring[place].bodyDigest
    if !shared { bodyBytes = max(0, bodyBytes - body.count) }
  }

  /// The answer of this entry did not go out after all.
  mutating func withhold(_ number: UInt64) {
    guard number >= first, number <= last else { return }
    ring[index(of: number)].status = 0
  }

  /// Numbers go on; what was accepted before is forgotten, so a repetition of it is no duplicate.
  package mutating func removeAll() {
    ring = []
    start = 0
    seen = []
    bodyBytes = 0
    oldestBody = last + 1
    latest = nil
  }

  /// Nil where the client gave no id that could tell a repetition from a second message.
  private static func identity(of entry: LogEntry) -> Int? {
    guard entry.provider == .fcm || !entry.id.isEmpty else { return nil }
    var hasher = Hasher()
    hasher.combine(entry.provider)
    hasher.combine(entry.token)
    hasher.combine(entry.id)
    if entry.id.isEmpty { hasher.combine(entry.bodyDigest) }
    return hasher.finalize()
  }
}
