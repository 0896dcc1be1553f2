import CommandFrame
import Domain
import GatewayClient
import Glibc
import HTTPClient
import JSON
import Loop
import Processes

/// `fanfare messages watch ID`: how a message goes, until it has ended.
struct MessageWatch {
  /// Between two looks; a message of a minute and one of a day need no more.
  private static let interval: Int64 = 500
  /// A server that cannot be reached for so long will not come back soon.
  private static let patience: Int64 = 30_000
  /// Where there is no terminal, a line at least this often.
  private static let lineEvery: Int64 = 10_000

  private let json: Bool
  private var bar: ProgressBar
  private var speed = Speed()
  private var state: String?
  private var lastLine: Instant?
  private var lastJSON: [UInt8] = []

  private init(_ id: String, json: Bool) {
    self.json = json
    bar = ProgressBar(String(id.prefix(12)))
  }

  static func run(_ id: String, _ path: String, _ arguments: Arguments) throws -> ExitCode {
    let json = arguments.wantsJSON
    StopSignals.block()
    return try ServerCall.run(arguments) { client, loop in
      let stopping = loop.spawn { await stopWhenAsked(id, loop) }
      defer { stopping.cancel() }
      var watch = MessageWatch(id, json: json)
      var away: Instant?
      while true {
        do throws(HTTPClientFailure) {
          let answer = try await client.call("GET", path)
          // Redis may be away for a moment.
          guard answer.status == 503 || answer.isSuccess else { return ServerCall.refused(answer, json: json) }
          if answer.isSuccess, let report = answer.document {
            away = nil
            if let end = watch.saw(report, answer.body, now: loop.now) { return end }
          } else {
            away = away ?? loop.now
          }
        } catch {
          if away == nil { Terminal.note("cannot reach the server; waiting for it (\(error.reason))") }
          away = away ?? loop.now
          if loop.now - away! > patience { throw error }
        }
        if let away, loop.now - away > patience {
          Terminal.complain("the server has not reported for \(patience / 1_000) s", "fanfare status shows its state")
          return .unreachable
        }
        await loop.sleep(milliseconds: interval)
      }
    }
  }

  /// Ends the process at ctrl-C, also while the server lets wait for an answer. The message goes on.
  static func stopWhenAsked(_ id: String, _ loop: EventLoop) async {
    while !Task.isCancelled {
      if StopSignals.isPending {
        if ProgressBar.isDrawn { Terminal.write("\r\u{1b}[K", to: 2) }
        Terminal.note("sending continues; to follow it again: fanfare messages watch \(id)")
        exit(ExitCode.interrupted.rawValue)
      }
      await loop.sleep(milliseconds: 100)
    }
  }

  /// Shows a report; not nil: the message has ended.
  private mutating func saw(_ report: JSONValue, _ body: [UInt8], now: Instant) -> ExitCode? {
    let counts = MessageCounts(report)
    let final = Int(report["progress"]?["final"]?.integer ?? 0)
    let state = report["state"]?.string ?? ""
    let isOver = report["completed_at"] != nil
    speed.saw(final, now: now)
    let line = Self.text(report, counts, final: final, speed)
    if json {
      if body != lastJSON { Terminal.print(body) }
      lastJSON = body
    } else if state != self.state || isOver || lastLine.map({ now - $0 >= Self.lineEvery }) ?? true {
      if ProgressBar.isDrawn {
        if state != self.state, self.state != nil || isOver { bar.clear() }
        if state != self.state { Terminal.print(changed(report, to: state)) }
      } else {
        Terminal.print("\(state)  \(line)")
      }
      lastLine = now
    }
    self.state = state
    if !json, ProgressBar.isDrawn { bar.draw(final, of: counts.total, line) }
    guard isOver else { return nil }
    if !json {
      if ProgressBar.isDrawn { bar.clear() }
      Terminal.print(ended(report, counts, state))
    }
    return state == "completed" ? .success : .failure
  }

  private func changed(_ report: JSONValue, to state: String) -> String {
    switch state {
    case "paused":
      let why = report["paused_reason"]?.string
      return why == "error_brake"
        ? "paused by the error brake: too many deliveries failed. See fanfare messages show; continue with resume"
        : "paused. Continue with fanfare messages resume"
    default: return state
    }
  }

  /// `41.2 %  5,012/s  ends in 2 min 10 s  412,003 accepted, 12 failed`
  static func text(_ report: JSONValue, _ counts: MessageCounts, final: Int, _ speed: Speed) -> String {
    let state = report["state"]?.string ?? ""
    var words: [String] = []
    if counts.total > 0 { words.append("\(tenths(Double(final) * 100 / Double(counts.total))) %") }
    if !ProgressBar.isDrawn {
      words.append("\(grouped(final)) of \(grouped(counts.total))")
    }
    let time = report["waiting_for_time"]
    // Nobody knows when what stands against a credential has ended, and what waits for its time does not go at this rate.
    let isMoving = time == nil && report["waiting_for"]?.array?.isEmpty != false
    let retrying = Int(report["progress"]?["retrying"]?.integer ?? 0)
    if state == "sending", let perSecond = speed.perSecond, perSecond > 0 || isMoving {
      words.append("\(perSecond < 10 ? tenths(perSecond) : grouped(Int(perSecond)))/s")
      // Retries go at times of their own.
      let left = Double(counts.total - final - retrying)
      if retrying > 0 { words.append("\(grouped(retrying)) wait for a retry") }
      if perSecond > 0, left > 0, isMoving {
        words.append("\(retrying > 0 ? "the others end" : "ends") in \(span(Int(left / perSecond)))")
      }
    } else {
      if ProgressBar.isDrawn { words.append(state) }
      if state == "scheduled", let start = MessagesCommand.start(of: report) { words.append("starts at \(start)") }
    }
    let outcomes = Outcome.allCases.compactMap { outcome -> String? in
      let count = counts.outcomes[outcome.rawValue, default: 0]
      return count == 0 ? nil : "\(grouped(count)) \(outcome.rawValue)"
    }
    if let time { words.append("\(grouped(time["count"]?.integer ?? 0)) wait \(ForecastView.TimeWait.text(of: time))") }
    for wait in report["waiting_for"]?.array ?? [] {
      let next = wait["next_try_at"]?.string.map { ", next try \($0)" } ?? ""
      words.append(
        "\(grouped(wait["count"]?.integer ?? 0)) wait for \(wait["credential"]?.string ?? "") "
          + "(\(wait["reason"]?.string ?? "")\(next))")
    }
    if !outcomes.isEmpty { words.append(outcomes.joined(separator: ", ")) }
    return words.joined(separator: "  ")
  }

  private func ended(_ report: JSONValue, _ counts: MessageCounts, _ state: String) -> String {
    var text = "\(state): "
    if state == "cancelled" {
      text += Self.sums(counts)
    } else if counts.total == 0 {
      text += "it had no recipients"
    } else {
      text += counted(counts.total, "delivery")
    }
    if let duration = Self.duration(report) { text += ", in \(Self.span(milliseconds: duration))" }
    var table = Table()
    for line in counts.lines {
      table.row(line.provider, line.outcome, line.reason ?? "", grouped(line.count))
    }
    return counts.lines.isEmpty ? text : text + "\n" + table.text
  }

  private static func tenths(_ number: Double) -> String {
    let tenths = Int((number * 10).rounded(.down))
    return "\(tenths / 10).\(tenths % 10)"
  }

  /// What became of a message that was cancelled: the numbers are those of the table.
  static func sums(_ counts: MessageCounts) -> String {
    let sent = counts.outcomes["accepted", default: 0]
    let others = counts.lines.reduce(0) { $0 + $1.count } - sent - counts.outcomes["cancelled", default: 0]
    let cancelled = max(0, counts.total - sent - others)
    let rest = others > 0 ? ", \(grouped(others)) had ended otherwise" : ""
    return "\(grouped(sent)) sent, \(grouped(cancelled)) cancelled\(rest)"
  }

  /// Milliseconds in which a message was sent: the wait for its start does not count.
  private static func duration(_ report: JSONValue) -> Int? {
    guard let end = report["completed_at"]?.string.flatMap({ WallTime(rfc3339: $0) }),
      let accepted = report["accepted_at"]?.string.flatMap({ WallTime(rfc3339: $0) })
    else { return nil }
    let start = report["starts_at"]?.string.flatMap { WallTime(rfc3339: $0) }
    return Int(max(0, end - max(accepted, start ?? accepted)))
  }

  private static func span(milliseconds: Int) -> String {
    milliseconds < 1_000 ? "\(milliseconds) ms" : span(milliseconds / 1_000)
  }

  /// Seconds as people say them.
  static func span(_ seconds: Int) -> String {
    switch seconds {
    case ..<60: "\(seconds) s"
    case ..<3_600: "\(seconds / 60) min \(seconds % 60) s"
    case ..<86_400: "\(seconds / 3_600) h \(seconds / 60 % 60) min"
    default: "\(seconds / 86_400) d \(seconds / 3_600 % 24) h"
    }
  }

  /// How fast it goes now: over the last seconds, not since it began.
  struct Speed {
    private var seen: [(count: Int, at: Instant)] = []
    private static let window: Int64 = 5_000

    mutating func saw(_ count: Int, now: Instant) {
      seen.append((count, now))
      while seen.count > 2, now - seen[1].at >= Self.window { seen.removeFirst() }
    }
    var perSecond: Double? {
      guard let first = seen.first, let last = seen.last, last.at - first.at >= 400 else { return nil }
      return Double(last.count - first.count) * 1_000 / Double(last.at - first.at)
    }
  }
}
