import CommandFrame
import Domain
import JSON

/// How results are shown and stored.
struct BenchReport {
  struct Entry {
    var name: String
    var about: String
    var runs: Int
    var figures: [Metric: Double]
    var spreads: [Metric: Spread]
    var faults: [String]
  }
  var entries: [Entry] = []

  func show(_ entry: Entry) {
    var table = Table()
    table.row("\(entry.name), \(entry.runs) runs", "median", "spread", "to reach")
    for metric in Metric.allCases {
      guard let spread = entry.spreads[metric] else { continue }
      let aim = entry.figures[metric].map { (metric.lessIsBetter ? "≤ " : "≥ ") + Self.text($0) } ?? ""
      table.row(metric.title, Self.text(spread.median), "\(Self.text(spread.low))–\(Self.text(spread.high))", aim)
    }
    Terminal.print("\n\(entry.about)\n\(table.text)")
    for fault in entry.faults { Terminal.note("  WRONG: \(fault)") }
  }

  /// Three digits that count.
  static func text(_ value: Double) -> String {
    if abs(value) >= 100 { return "\(Int(value.rounded()))" }
    let scale = abs(value) >= 10 ? 10.0 : 100.0
    let scaled = Int((value * scale).rounded())
    let fraction = String(abs(scaled) % Int(scale))
    return "\(scaled / Int(scale))." + String(repeating: "0", count: (scale == 10 ? 1 : 2) - fraction.count) + fraction
  }

  static var machine: String {
    "\(Machine.processor), \(Machine.cores) cores, Linux \(Machine.kernel), fanfare \(Program.version)"
      + (Machine.isDebugBuild ? ", DEBUG BUILD: figures mean little" : "")
  }

  var encoded: [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("machine", Self.machine)
    writer.member("commit", Machine.commit)
    writer.key("scenarios")
    writer.beginObject()
    for entry in entries {
      writer.key(entry.name)
      writer.beginObject()
      writer.member("runs", entry.runs)
      for metric in Metric.allCases {
        guard let spread = entry.spreads[metric] else { continue }
        writer.key(metric.rawValue)
        writer.beginObject()
        for (name, value) in [("median", spread.median), ("low", spread.low), ("high", spread.high)] {
          writer.key(name)
          writer.double(value)
        }
        writer.endObject()
      }
      if !entry.faults.isEmpty {
        writer.key("faults")
        writer.beginArray()
        for fault in entry.faults { writer.string(fault) }
        writer.endArray()
      }
      writer.endObject()
    }
    writer.endObject()
    writer.endObject()
    return writer.bytes
  }

  /// What has become worse by more than the noise of a shared machine: ratios within a run only.
  func regressions(since last: JSONValue) -> [String] {
    var worse: [String] = []
    for entry in entries {
      for metric in Metric.allCases where metric.isRatio {
        guard let now = entry.spreads[metric], let before = last["scenarios"]?[entry.name]?[metric.rawValue],
          let median = Self.number(before["median"]), median > 0
        else { continue }
        // The best of these runs against the middle of the last ones.
        let best = metric.lessIsBetter ? now.low / median : median / max(now.high, 0.001)
        if best > Self.tolerance {
          worse.append("\(entry.name): \(metric.title) is \(Self.text(now.median)), was \(Self.text(median))")
        }
      }
    }
    return worse
  }
  private static let tolerance = 1.1

  private static func number(_ value: JSONValue?) -> Double? {
    switch value {
    case .double(let number)?: number
    case .integer(let number)?: Double(number)
    default: nil
    }
  }
}
