import Domain

/// Durations and sizes are written as text with a unit, so that no number needs a guess.
package enum Units {
  /// A sentence for whoever wrote something else.
  package static let durationHelp =
    "Write a duration with its unit, such as \"250ms\", \"60s\", \"15m\", \"1h\" or \"7d\""
  static let sizeHelp = "Write a size with its unit, such as \"512KiB\", \"1MiB\" or \"4GiB\""

  /// Milliseconds; nil: the text has no unit, or another one.
  package static func duration(_ text: String) -> Int64? {
    scaled(text, by: ["ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000])
  }

  /// Bytes.
  static func size(_ text: String) -> Int64? {
    scaled(text, by: ["B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40])
  }

  private static func scaled(_ text: String, by units: [String: Int64]) -> Int64? {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    let unit = String(text.dropFirst(digits.count).drop { $0 == " " })
    guard let count = Whole.read(digits, in: 0...Int64.max), let scale = units[unit] else { return nil }
    let (product, overflow) = count.multipliedReportingOverflow(by: scale)
    return overflow ? nil : product
  }
}
