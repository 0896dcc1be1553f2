import Glibc

/// How a word looks on a terminal. Elsewhere text stays as it is.
package enum Style: String {
  case bold = "1"
  case dim = "2"
  case red = "31"
  case green = "32"
  case yellow = "33"
  case cyan = "36"

  /// Standard output is a terminal that shows colours. `NO_COLOR` (no-color.org) and `TERM=dumb` turn them off.
  package static let isUsed = Terminal.isShown && !isTurnedOff
  private static let isTurnedOff: Bool = {
    if let word = getenv("NO_COLOR"), word.pointee != 0 { return true }
    return getenv("TERM").map { String(cString: $0) } == "dumb"
  }()

  /// The text in this style, where styles are used.
  package func on(_ text: String) -> String {
    Self.isUsed && !text.isEmpty ? "\u{1b}[\(rawValue)m\(text)\u{1b}[0m" : text
  }

  /// Of a word that says how something stands: a message's state, an outcome, the status of a device.
  package static func of(state word: String) -> Style? {
    switch word {
    case "completed", "accepted", "active", "open", "ready", "ok": .green
    case "failed", "dead", "blocked", "unreachable", "failing", "FAIL": .red
    case "paused", "cancelled", "retrying", "expired", "disabled", "waiting", "skipped", "WARN": .yellow
    default: nil
    }
  }
}
