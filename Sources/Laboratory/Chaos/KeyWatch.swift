import CommandFrame
import Domain
import JSON
import RedisClient
import Store

/// What Redis holds, by families of keys, over time (docs/storage.md tells of each when it ends).
struct KeyWatch {
  /// Of one family at one moment.
  struct Held {
    var keys: Int64 = 0
    /// Members of its sets, fields of its hashes, entries of its streams; bytes of its strings.
    var elements: Int64 = 0
    var bytes: Int64 = 0
  }

  private var series: [KeyFamily: [Held]] = [:]
  private var looks = 0
  /// Keys that belong to no family.
  private(set) var strangers: Set<String> = []

  /// Keys looked at by one script.
  private static let keysPerStep = 200
  private static let script = """
    local out = {}
    for i, key in ipairs(KEYS) do
      local kind, count = redis.call('TYPE', key).ok, 0
      if kind == 'string' then count = redis.call('STRLEN', key)
      elseif kind == 'hash' then count = redis.call('HLEN', key)
      elseif kind == 'set' then count = redis.call('SCARD', key)
      elseif kind == 'zset' then count = redis.call('ZCARD', key)
      elseif kind == 'stream' then count = redis.call('XLEN', key) end
      out[2 * i - 1] = count
      out[2 * i] = redis.call('MEMORY', 'USAGE', key) or 0
    end
    return out
    """

  /// All keys of a store, by family; and names that are of none.
  static func held(by redis: Redis, prefix: String) async throws -> (families: [KeyFamily: Held], strangers: [String]) {
    var families: [KeyFamily: Held] = [:]
    var strangers: [String] = []
    var seen: Set<String> = []
    var cursor = "0"
    repeat {
      let page = try await redis.call(RedisCommand("SCAN", cursor, "COUNT", String(keysPerStep))).array ?? []
      cursor = page.first?.text ?? "0"
      let keys = (page.last?.array ?? []).compactMap(\.text).filter { seen.insert($0).inserted }
      guard !keys.isEmpty else { continue }
      let figures = try await redis.call(RedisCommand(words: ["EVAL", script, String(keys.count)] + keys)).array ?? []
      for (place, key) in keys.enumerated() where figures.count > 2 * place + 1 {
        guard let family = KeyFamily(of: key, prefix: prefix) else {
          strangers.append(key)
          continue
        }
        families[family, default: Held()].keys += 1
        families[family]!.elements += figures[2 * place].integer ?? 0
        families[family]!.bytes += figures[2 * place + 1].integer ?? 0
      }
    } while cursor != "0"
    return (families, strangers)
  }

  mutating func look(_ held: (families: [KeyFamily: Held], strangers: [String])) {
    for family in KeyFamily.allCases {
      let before = [Held](repeating: Held(), count: looks)
      series[family, default: before].append(held.families[family] ?? Held())
    }
    looks += 1
    strangers.formUnion(held.strangers)
  }

  // MARK: Judging

  /// Half of the figures of a part of the time lie below it.
  private static func median(_ values: ArraySlice<Int64>) -> Int64 {
    values.isEmpty ? 0 : values.sorted()[values.count / 2]
  }

  /// A figure of a family: the second quarter of the time, and the last.
  private func figure(_ family: KeyFamily, _ figure: (Held) -> Int64) -> (early: Int64, late: Int64) {
    let values = (series[family] ?? []).map(figure)
    return (
      Self.median(values[values.count / 4..<max(values.count / 4, values.count / 2)]),
      Self.median(values[values.count * 3 / 4..<values.count])
    )
  }

  /// What single figures waver by: what is at work comes and goes, what has a time goes hour by hour.
  private static func isFlat(_ family: KeyFamily, _ figure: (early: Int64, late: Int64), slack: Int64) -> Bool {
    switch family.end {
    case .withWork: figure.late <= figure.early + figure.early / 2 + 4 * slack
    case .expires, .withRegistry, .fixed: figure.late <= figure.early + figure.early / 5 + slack
    }
  }

  /// It counts records that could not be read. Nothing is damaged on purpose, so one is too many.
  private func hasDamage(_ family: KeyFamily) -> Bool {
    family == .corrupt && series[family]?.contains { $0.keys > 0 } == true
  }

  func isFlat(_ family: KeyFamily) -> Bool {
    !hasDamage(family) && Self.isFlat(family, figure(family, \.keys), slack: 16)
      && Self.isFlat(family, figure(family, \.elements), slack: 32)
      && Self.isFlat(family, figure(family, \.bytes), slack: 64 << 10)
  }
  var isFlat: Bool { strangers.isEmpty && KeyFamily.allCases.allSatisfy(isFlat) }

  /// Families of which there was anything.
  var seen: [KeyFamily] {
    KeyFamily.allCases.filter { family in series[family]?.contains { $0.keys > 0 } == true }
  }

  var table: String {
    var table = Table()
    table.row("family", "keys early", "late", "elements early", "late", "bytes early", "late", "")
    for family in seen {
      let figures = [figure(family, \.keys), figure(family, \.elements), figure(family, \.bytes)]
      table.row(
        [family.rawValue] + figures.flatMap { ["\($0.early)", "\($0.late)"] } + [word(for: family)])
    }
    return table.text + strangers.sorted().map { "of no family: \($0)\n" }.joined()
  }

  private func word(for family: KeyFamily) -> String {
    hasDamage(family) ? "DAMAGE" : isFlat(family) ? "flat" : "GROWS"
  }

  func write(to writer: inout JSONWriter) {
    writer.objects("families", seen) { writer, family in
      writer.member("family", family.rawValue)
      for (name, figure) in [
        ("keys", figure(family, \.keys)), ("elements", figure(family, \.elements)), ("bytes", figure(family, \.bytes)),
      ] {
        writer.member("early_\(name)", figure.early)
        writer.member("late_\(name)", figure.late)
      }
      writer.member("flat", isFlat(family))
    }
  }
}
