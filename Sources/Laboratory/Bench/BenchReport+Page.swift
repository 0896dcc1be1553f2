import Glibc
import Processes

/// Results as they go into Benchmarks/RESULTS.md.
extension BenchReport {
  /// A section of Markdown: on what it was measured, and a row for each figure.
  func page(devices: Int) -> String {
    var lines = [
      "## `fanfare-lab bench dispatch`, commit \(Machine.commit ?? "unknown")", "",
      "\(Self.machine). \(devices) devices, messages or lines in each scenario; worker loop or API on core "
        + "\(BenchStage.workerCore), all else on core \(BenchStage.otherCore).",
      "Quotas and ramp-up are off: `\(BenchConfiguration.quotas)`", "",
      "| scenario | runs | | median | spread | to reach | |", "|---|---|---|---|---|---|---|",
    ]
    for entry in entries {
      var name = "`\(entry.name)` | \(entry.runs)"
      for metric in Metric.allCases {
        guard let spread = entry.spreads[metric] else { continue }
        lines.append("| \(name) | \(metric.title) | \(row(spread, metric, aim: entry.figures[metric])) |")
        name = " | "
      }
      lines += entry.faults.map { "| | | **wrong** | \($0) | | | |" }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private func row(_ spread: Spread, _ metric: Metric, aim: Double?) -> String {
    let values = "\(Self.text(spread.median)) | \(Self.text(spread.low))–\(Self.text(spread.high))"
    guard let aim else { return "\(values) | | " }
    let isReached = metric.lessIsBetter ? spread.median <= aim : spread.median >= aim
    return "\(values) | \(metric.lessIsBetter ? "≤" : "≥") \(Self.text(aim)) | \(isReached ? "" : "**missed**")"
  }
}

extension Machine {
  /// Of the sources in the folder at hand, with a sign if they were changed; nil: they are not under git.
  static var commit: String? {
    guard
      let git = try? ReadProcess(
        "/usr/bin/git", ["describe", "--always", "--dirty=, with changes", "--abbrev=7", "--exclude=*"],
        log: "/dev/null")
    else { return nil }
    return git.line(timeout: 2_000) { !$0.isEmpty }
  }
}
