import CommandFrame
import Domain
import Glibc

/// A line on the terminal that says how far a long task is, drawn when it has taken a second. Elsewhere nothing is written.
struct Progress {
  private let title: String
  private let began = Self.now
  private var drawnAt: Double = 0
  private var bar: ProgressBar

  init(_ title: String) {
    self.title = title
    bar = ProgressBar(title)
  }

  private static var now: Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  /// `count`: so many `words` by now. `part` of `whole`, in whatever unit: how much of the task that is; nil: not known.
  mutating func saw(_ count: Int, _ words: String, part: Int = 0, of whole: Int? = nil) {
    let now = Self.now
    guard ProgressBar.isDrawn, now - began >= 1, now - drawnAt >= 0.1 else { return }
    drawnAt = now
    bar.draw(Self.text(title, count, words, part: part, of: whole, seconds: now - began))
  }

  /// `importing  ██████░░░░ 61 %  61,000 lines  20,300/s  ends in 2 s`
  static func text(
    _ title: String, _ count: Int, _ words: String, part: Int = 0, of whole: Int?, seconds: Double
  ) -> String {
    var parts: [String] = [padded(title, 10)]
    let share = whole.map { $0 > 0 ? min(1, Double(part) / Double($0)) : 1 }
    if let share {
      let filled = Int(share * Double(width))
      parts.append(
        String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
          + " \(Int(share * 100)) %")
    }
    parts.append("\(grouped(count)) \(words)")
    if seconds > 0 { parts.append("\(grouped(Int(Double(count) / seconds)))/s") }
    if let share, share > 0, share < 1 {
      parts.append("ends in \(MessageWatch.span(Int((seconds / share * (1 - share)).rounded(.up))))")
    }
    return parts.joined(separator: "  ")
  }
  private static let width = 20

  /// Takes the line away, for other text.
  mutating func clear() { bar.clear() }
}
