package import Domain
import RedisClient

/// How far a timeline was read.
package struct TimelinePlace: Hashable, Sendable {
  /// Only what is older comes.
  package var before: MessageID?
  /// Where a search in parts goes on; nil: what is newest is looked for first.
  var spot: Spot?
  /// Of what stands at that spot only what is older comes: the rest was told.
  var within: MessageID?

  /// Reads what is older than `before`; nil: from the newest message on.
  package init(before: MessageID?) { self.before = before }

  /// Where a step of a search begins.
  enum Spot: Hashable {
    case inlineMessages(cursor: String)
    case stream(name: String, from: String)
    case retries(rank: Int)
    case atWork(rank: Int)
    case segment(hour: Int64, cursor: String)
    case kept(hour: Int64, cursor: String)

    var hour: Int64? {
      switch self {
      case .segment(let hour, _), .kept(let hour, _): hour
      default: nil
      }
    }
  }

  /// `before`, alone; or with what is within and the spot behind it.
  package var text: String {
    let older = before?.description ?? "-"
    guard let spot else { return older }
    let (kind, name, at) =
      switch spot {
      case .inlineMessages(let cursor): ("s", "", cursor)
      case .stream(let name, let from): ("q", name, from)
      case .retries(let rank): ("r", "", String(rank))
      case .atWork(let rank): ("e", "", String(rank))
      case .segment(let hour, let cursor): ("g", String(hour), cursor)
      case .kept(let hour, let cursor): ("k", String(hour), cursor)
      }
    return [older, within?.description ?? "-", kind, at, name].joined(separator: " ")
  }

  /// Nil: no text that `text` makes.
  package init?(text: String) {
    func message(_ word: Substring) -> MessageID?? {
      word == "-" ? .some(nil) : MessageID(String(word)).map { .some($0) }
    }
    let words = text.split(separator: " ", maxSplits: 4, omittingEmptySubsequences: false)
    guard let first = words.first, let older = message(first) else { return nil }
    before = older
    guard words.count > 1 else { return }
    guard words.count == 5, let within = message(words[1]) else { return nil }
    self.within = within
    let (at, name) = (String(words[3]), String(words[4]))
    let number = StoredNumber.index(Array(words[3].utf8))
    let hour = StoredNumber.index(Array(words[4].utf8)).map { Int64($0) }
    let isCursor = Whole.read(at, in: 0...UInt64.max) != nil
    switch (words[2], number, hour) {
    case ("s", _, _) where isCursor: spot = .inlineMessages(cursor: at)
    case ("q", _, _) where at == "-" || at.first == "(": spot = .stream(name: name, from: at)
    case ("r", let rank?, _): spot = .retries(rank: rank)
    case ("e", let rank?, _): spot = .atWork(rank: rank)
    case ("g", _, let hour?) where isCursor: spot = .segment(hour: hour, cursor: at)
    case ("k", _, let hour?) where isCursor: spot = .kept(hour: hour, cursor: at)
    default: return nil
    }
  }
}

/// A search for what was aimed at one device, step by step.
struct DeviceSearch {
  var partition: Int
  var device: DeviceID
  /// Of a registered device: members of audiences are found by it.
  var number: Int?
  var before: MessageID?
  /// Of what the present step finds.
  var within: MessageID?
  var found: Set<MessageID> = []
  /// Parts that were looked at where they stand.
  var looked: Set<MessageID> = []
  /// Hours that are searched, newest first; known when all that has not ended was searched.
  var hours: [Int64] = []
  var steps = 0

  mutating func add(_ id: MessageID?) {
    guard let id, before.map({ id < $0 }) ?? true, within.map({ id < $0 }) ?? true else { return }
    found.insert(id)
  }
}

extension Timelines {
  /// Parts, jobs or retries looked at by one script run.
  private static let partsPerStep = 200
  private static let listsPerStep = 20

  static let searchStart = TimelinePlace.Spot.inlineMessages(cursor: "0")

  /// One step, of a bounded number of parts, jobs or retries; answers where the next one begins, nil: all was searched.
  func step(_ spot: TimelinePlace.Spot, _ search: inout DeviceSearch) async throws(StoreError) -> TimelinePlace.Spot? {
    search.steps += 1
    let partition = search.partition
    switch spot {
    case .inlineMessages(let cursor):
      let next = try await scan(keys.inlineMessages(partition), cursor, ["1"], &search)
      return next == "0" ? try await stream(behind: nil, partition) : .inlineMessages(cursor: next)
    case .stream(let name, let from):
      let reply =
        try await ask(
          Scripts.scanStream, keys: [keys.stream(partition, name)],
          [.text(from), .number(Int64(Self.listsPerStep)), .text(search.device.rawValue)], partition: partition
        ).array ?? []
      for id in reply.dropFirst() { search.add(id.bytes.flatMap { MessageID(raw: $0) }) }
      guard let last = reply.first?.text, !last.isEmpty else { return try await stream(behind: name, partition) }
      return .stream(name: name, from: "(" + last)
    case .retries(let rank):
      let members = try await page(keys.retry(partition), rank)
      try await look(at: members.compactMap { MessageID(raw: Array($0.prefix(16))) }, &search)
      return members.count < Self.partsPerStep ? .atWork(rank: 0) : .retries(rank: rank + members.count)
    case .atWork(let rank):
      let members = try await page(keys.ends(partition), rank)
      try await look(at: members.compactMap { MessageID(raw: $0) }, &search)
      if members.count == Self.partsPerStep { return .atWork(rank: rank + members.count) }
      return try await hour(before: search.before.map(Self.hourAfter), &search)
    case .segment(let hour, let cursor):
      let next = try await scan(keys.segment(partition, hour), cursor, [], &search)
      return next == "0" ? .kept(hour: hour, cursor: "0") : .segment(hour: hour, cursor: next)
    case .kept(let hour, let cursor):
      let page =
        try await ask(
          RedisCommand("SSCAN", keys.kept(partition, hour), cursor, "COUNT", String(Self.partsPerStep)),
          partition: partition
        ).array ?? []
      try await look(at: (page.last?.array ?? []).compactMap { $0.bytes.flatMap { MessageID(raw: $0) } }, &search)
      let next = page.first?.text ?? "0"
      return next == "0" ? try await self.hour(before: hour, &search) : .kept(hour: hour, cursor: next)
    }
  }

  private func page(_ key: String, _ rank: Int) async throws(StoreError) -> [[UInt8]] {
    let command = RedisCommand("ZRANGE", key, String(rank), String(rank + Self.partsPerStep - 1))
    return (try await ask(command).array ?? []).compactMap(\.bytes)
  }

  /// Streams in the order of their names; behind the last of them come the retries.
  private func stream(behind name: String?, _ partition: Int) async throws(StoreError) -> TimelinePlace.Spot {
    let names = try await JobQueue(session).streams(of: partition).map(\.stream.name).sorted()
    guard let next = names.first(where: { name == nil || $0 > name! }) else { return .retries(rank: 0) }
    return .stream(name: next, from: "-")
  }

  /// The first hour that has nothing older than this.
  private static func hourAfter(_ id: MessageID) -> Int64 {
    let begin = MessageID(acceptedAt: WallTime(seconds: id.hour * 3600), partition: 0, random: 0)
    return id <= begin ? id.hour : id.hour + 1
  }

  /// The newest hour that has finished records and lies before that one.
  private func hour(before bound: Int64?, _ search: inout DeviceSearch) async throws(StoreError) -> TimelinePlace.Spot?
  {
    let listed = try await ask(RedisCommand("ZRANGE", keys.segments(search.partition), "0", "-1"))
    search.hours = (listed.array ?? []).compactMap(\.integer).filter { $0 < bound ?? .max }.sorted(by: >)
    return search.hours.first.map { .segment(hour: $0, cursor: "0") }
  }

  /// Some of those in a hash whose value holds the device; the next cursor. `last`: of the script's arguments.
  private func scan(_ key: String, _ cursor: String, _ last: [RedisArgument], _ search: inout DeviceSearch)
    async throws(StoreError) -> String
  {
    let reply =
      try await ask(
        Scripts.scanSegment, keys: [key],
        [.text(cursor), .number(Int64(Self.partsPerStep)), .text(search.device.rawValue)] + last,
        partition: search.partition
      ).array ?? []
    for id in reply.dropFirst() { search.add(id.bytes.flatMap { MessageID(raw: $0) }) }
    return reply.first?.text ?? "0"
  }

  /// Parts whose keys stand where they were made.
  private func look(at ids: [MessageID], _ search: inout DeviceSearch) async throws(StoreError) {
    var rest = ids.filter { search.looked.insert($0).inserted }[...]
    while !rest.isEmpty {
      let step = Array(rest.prefix(Self.listsPerStep))
      rest = rest.dropFirst(step.count)
      let kinds =
        try await ask(
          Scripts.aimedShards, keys: step.map { keys.work(search.partition, $0) }, [.text(search.device.rawValue)],
          partition: search.partition
        ).array ?? []
      search.steps += 1
      for (id, kind) in zip(step, kinds.map(\.integer)) {
        if kind == 1 {
          search.add(id)
        } else if kind == 2, let number = search.number,
          let snapshot = try await DeliveryReports(session).snapshot(id, search.partition),
          snapshot.index(of: number) != nil
        {
          search.add(id)
        }
      }
    }
  }
}
