/// Prometheus' text format, version 0.0.4.
struct Exposition {
  private(set) var bytes: [UInt8] = []

  mutating func header(_ name: String, help: String, kind: String) {
    let help = Self.escaped(help, quotes: false)
    bytes += Array("# HELP \(name) \(help)\n# TYPE \(name) \(kind)\n".utf8)
  }

  /// `labels`: as `labels(_:)` writes them.
  mutating func sample(_ name: String, _ labels: String, _ value: String) {
    bytes += Array("\(name)\(labels.isEmpty ? "" : "{\(labels)}") \(value)\n".utf8)
  }

  mutating func histogram(_ name: String, _ labels: String, _ histogram: Histogram) {
    let counts = histogram.cumulative
    let separator = labels.isEmpty ? "" : ","
    for (bound, count) in zip(histogram.bounds.map { "\($0)" } + ["+Inf"], counts) {
      sample("\(name)_bucket", "\(labels)\(separator)le=\"\(bound)\"", "\(count)")
    }
    sample("\(name)_sum", labels, "\(histogram.sum)")
    sample("\(name)_count", labels, "\(counts.last!)")
  }

  /// Sorted by name, so that one set of labels has one form.
  static func labels(_ labels: [(String, String)]) -> String {
    let sorted = labels.sorted { $0.0 < $1.0 }
    precondition(zip(sorted, sorted.dropFirst()).allSatisfy { $0.0 != $1.0 }, "a label stands twice")
    return sorted.map { name, value in
      precondition(isName(name) && !name.contains(":") && name != "le", "\(name) is no name for a label")
      return "\(name)=\"\(escaped(value, quotes: true))\""
    }.joined(separator: ",")
  }

  static func isName(_ name: String) -> Bool {
    guard let first = name.utf8.first, !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else { return false }
    return name.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: ":"):
        true
      default: false
      }
    }
  }

  private static func escaped(_ text: String, quotes: Bool) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": escaped += "\\\\"
      case "\n": escaped += "\\n"
      case "\"" where quotes: escaped += "\\\""
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}
