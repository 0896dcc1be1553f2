import Domain
import RedisClient

/// What a flush writes of one shard, as the script takes it.
struct ShardOutcomes {
  /// Deliveries that turn alike.
  private struct Group: Hashable {
    var code: OutcomeCode
    var counter: [UInt8]
    /// First index of the job; nil of a list, whose jobs are not counted down.
    var job: Int?
    /// A code is not all that is written of them.
    var hasRecords: Bool
  }
  /// In the order in which they came: finals before retries, so that a final one wins.
  private var groups: [(group: Group, indexes: [UInt32])] = []
  private var places: [Group: Int] = [:]
  private var records: [RedisArgument] = []
  private var retries: [RedisArgument] = []
  /// The provider's id of each slice.
  private var slices: [Int: String] = [:]
  private var firstAttempt: WallTime?

  init() {}

  /// Of a list: each delivery has a record, which tells all that the code does not.
  init(_ outcomes: MessageOutcomes) {
    // Most of them end alike, and a name is made once for those that do.
    var last: (final: Flush.Final, group: Group)?
    for final in outcomes.finals {
      // What Redis holds may be damaged: no part has more.
      guard let index = UInt32(exactly: final.delivery.index) else { continue }
      let isAlike = last.map {
        $0.final.outcome == final.outcome && $0.final.reason == final.reason && $0.final.provider == final.provider
          && $0.final.platform == final.platform
      }
      if isAlike != true {
        let counter = CounterName(
          provider: final.provider, outcome: final.outcome, reason: final.reason, platform: final.platform)
        last = (final, Group(code: OutcomeCode(final.outcome), counter: counter.field, job: nil, hasRecords: true))
      }
      if let group = last?.group { add(group, CollectionOfOne(index)) }
      record(final)
    }
    for retry in outcomes.retries { add(retry, job: nil) }
  }

  /// Of an audience: acceptances leave their code and nothing else, unless receipts are kept.
  init(_ outcomes: MessageOutcomes, of part: AudienceShard) {
    let counts = outcomes.finals.contains { $0.cap != nil }
    func group(_ outcome: Outcome, _ reason: String?, _ index: Int, _ job: Snapshot.Job) -> Group {
      Group(
        code: OutcomeCode(outcome), counter: part.counter(of: index, outcome, reason).field,
        job: job.range.lowerBound, hasRecords: outcome != .accepted || part.keepsReceipts || counts)
    }
    for final in outcomes.finals {
      let index = final.delivery.index
      guard let job = part.job(of: index) else { continue }
      add(group(final.outcome, final.reason, index, job), CollectionOfOne(UInt32(index)))
      if final.outcome == .accepted, let id = final.providerID, let slice = part.slices[index] {
        slices[slice.number] = id
      }
      let keeps =
        final.outcome == .accepted ? part.keepsReceipts : final.reason != nil || !final.attempts.isEmpty
      if keeps { record(final) } else { attempted(at: final.attempts.first?.at) }
    }
    for accepted in outcomes.accepted {
      attempted(at: accepted.firstAttempt)
      for segment in part.snapshot.segments {
        let own = accepted.indexes.filter { segment.range.contains(Int($0)) }
        guard let first = own.first, let job = part.job(of: Int(first)) else { continue }
        add(group(.accepted, nil, Int(first), job), own)
      }
    }
    for retry in outcomes.retries {
      if let job = part.job(of: retry.target.delivery.index) { add(retry, job: job.range.lowerBound) }
    }
  }

  private mutating func add(_ group: Group, _ indexes: some Sequence<UInt32>) {
    let place = places[group] ?? groups.count
    if place == groups.count {
      groups.append((group, []))
      places[group] = place
    }
    groups[place].indexes += indexes
  }

  private mutating func record(_ final: Flush.Final) {
    attempted(at: final.attempts.first?.at)
    records += [
      .number(Int64(final.delivery.index)), .bytes(DeliveryRecord(final).head + final.attempts.packed),
    ]
  }

  private mutating func add(_ retry: Flush.RetryEntry, job: Int?) {
    let target = retry.target
    guard let index = UInt32(exactly: target.delivery.index) else { return }
    add(Group(code: .waiting, counter: [], job: job, hasRecords: true), CollectionOfOne(index))
    attempted(at: retry.attempts.first?.at)
    // A registered device's address is read again when the retry is due.
    let packed = PackedTarget(
      index: target.delivery.index, device: target.device, address: target.registered ? nil : target.address)
    let record = DeliveryRecord(
      state: .retrying(
        due: retry.due, reason: retry.reason, sequence: target.sequence, credential: target.credential, packed),
      provider: target.address?.provider, slice: target.slice?.key)
    retries += [
      .number(Int64(target.delivery.index)), .bytes(record.head + retry.attempts.packed),
      .number(retry.due.milliseconds),
    ]
  }

  private mutating func attempted(at: WallTime?) {
    guard let at else { return }
    firstAttempt = min(firstAttempt ?? at, at)
  }

  /// How the script reads a message.
  enum Kind: Int {
    case list = 0
    /// The message is kept in this partition.
    case listAtHome, audience
  }

  /// Numbers that come with every message are in one argument: Redis and Lua take some 600 instructions for each.
  func arguments(of id: MessageID, _ kind: Kind) -> [RedisArgument] {
    var head = id.raw
    for number in [
      Int(id.hour), kind.rawValue, groups.count, records.count / 2, retries.count / 3, slices.count,
    ] { head.append32(number) }
    if let firstAttempt { head += String(firstAttempt.milliseconds).utf8 }
    var arguments: [RedisArgument] = [.bytes(head)]
    for (group, indexes) in groups {
      let windows = CodeWindow.windows(indexes, group.code)
      var head: [UInt8] = []
      for number in [Int(group.code.rawValue), group.hasRecords ? 1 : 0, windows.count, group.job ?? 0] {
        head.append32(number)
      }
      arguments += [.bytes(head), .bytes(group.counter)]
      for window in windows { arguments.append(.bytes(raw32(window.start) + window.codes)) }
    }
    arguments += records + retries
    for (slice, id) in slices.sorted(by: { $0.key < $1.key }) { arguments += [.number(Int64(slice)), .text(id)] }
    return arguments
  }
}

/// Codes to be written into a stretch of a message's codes: 0 where nothing is.
struct CodeWindow: Hashable {
  /// The byte where it begins.
  var start: Int
  var codes: [UInt8]

  /// With more bytes between two members another window begins, and where one has this many: Lua has them on its stack.
  private static let gap = 48
  private static let longest = 1_024

  static func windows(_ indexes: [UInt32], _ code: OutcomeCode) -> [CodeWindow] {
    var windows: [CodeWindow] = []
    for index in indexes.sorted() {
      let byte = Int(index) / 2
      let bits = index.isMultiple(of: 2) ? code.rawValue << 4 : code.rawValue
      if let last = windows.last, byte - last.start < min(last.codes.count + gap, longest) {
        let place = byte - last.start
        while windows[windows.count - 1].codes.count <= place { windows[windows.count - 1].codes.append(0) }
        windows[windows.count - 1].codes[place] |= bits
      } else {
        windows.append(CodeWindow(start: byte, codes: [bits]))
      }
    }
    return windows
  }
}
