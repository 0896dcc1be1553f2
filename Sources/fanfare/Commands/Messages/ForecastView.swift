import CommandFrame
import Domain
import JSON

/// What a message would come to, as a funnel: found, less those who get nothing by reason, and who would be sent to.
enum ForecastView {
  static func text(of forecast: JSONValue) -> String {
    let number = { (name: String) in forecast[name]?.integer ?? 0 }
    let about = forecast["estimated"]?.bool == true ? "about " : ""
    var table = Table()
    let isOne = number("device_count") == 1
    let excluded = forecast["excluded"]?.array ?? []
    let isOfIDs = excluded.contains { $0["reason"]?.string == SkipReason.unknownDevice.rawValue }
    let found = isOfIDs ? "id\(isOne ? "" : "s") given" : "device\(isOne ? "" : "s") found"
    table.row(grouped(number("device_count")), found, "")
    for row in excluded {
      table.row(
        "-\(about)\(grouped(row["count"]?.integer ?? 0))", row["reason"]?.string ?? "", row["detail"]?.string ?? "")
    }
    table.row("\(about)\(grouped(number("would_be_sent")))", "would be sent", providers(forecast))
    for row in forecast["waiting"]?.array ?? [] {
      table.row("\(about)\(grouped(row["count"]?.integer ?? 0))", "of these wait", TimeWait.text(of: row))
    }
    guard forecast["estimated"]?.bool == true else { return table.text }
    let how =
      forecast["sample_size"]?.integer.map { "an estimate from a sample of \($0) devices" }
      ?? "holdout and variants are decided when the message is sent: these figures are one possible result"
    return table.text + "\n(" + how + ")"
  }

  private static func providers(_ forecast: JSONValue) -> String {
    (forecast["by_provider"]?.array ?? []).map {
      "\($0["provider"]?.string ?? "") \(grouped($0["count"]?.integer ?? 0))"
    }
    .joined(separator: ", ")
  }

  /// The funnel says the same.
  static func shows(_ warning: JSONValue) -> Bool {
    ["targets_ended", "no_targets"].contains(warning["code"]?.string ?? "")
  }

  /// Why some wait for a time, and until when.
  enum TimeWait {
    /// `until 2026-12-01T08:00:00Z (quiet_hours)`; with a span of times, from the first to the last.
    static func text(of row: JSONValue) -> String {
      let reason = "(\(row["reason"]?.string ?? ""))"
      guard let first = row["first_at"]?.string else { return reason }
      guard let last = row["last_at"]?.string else { return "until \(first) or later \(reason)" }
      return first == last ? "until \(first) \(reason)" : "until \(first) … \(last) \(reason)"
    }
  }

  /// The requests of a dry run, and its funnel beside them.
  @Sendable static func showDryRun(_ answer: JSONValue) {
    for request in answer["requests"]?.array ?? [] {
      let variant = request["variant"]?.string.map { ", variant \($0)" } ?? ""
      Terminal.print("\(request["provider"]?.string ?? "")\(variant): \(request["url"]?.string ?? "")")
      Terminal.print(request["body"] ?? .null)
    }
    Terminal.print(whole(answer))
    warn(answer)
    Terminal.note("nothing was sent")
  }

  /// The funnel of a dry run, and what else is to be known before a send.
  @Sendable static func tell(_ answer: JSONValue) {
    Terminal.note(whole(answer))
    warn(answer)
  }

  /// The funnel, and when the message starts, if not at once.
  static func whole(_ answer: JSONValue) -> String {
    let start = MessagesCommand.start(of: answer).map { "\nstarts at \($0)" } ?? ""
    return text(of: answer["forecast"] ?? .object([])) + start
  }

  private static func warn(_ answer: JSONValue) {
    for warning in answer["warnings"]?.array ?? [] where !shows(warning) {
      AcceptedAnswer.note(warning)
    }
  }
}
