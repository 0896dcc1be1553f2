import CommandFrame
import Domain
import JSON

/// What a message would come to, as a funnel: found, less those who get nothing by reason, and who would be sent to.
enum ForecastView {
  static func text(of forecast: JSONValue) -> String {
    let number = { (name: String) in forecast[name]?.integer ?? 0 }
    var table = Table()
    let isOne = number("device_count") == 1
    let excluded = forecast["excluded"]?.array ?? []
    let isOfIDs = excluded.contains { $0["reason"]?.string == SkipReason.unknownDevice.rawValue }
    let found = isOfIDs ? "id\(isOne ? "" : "s") given" : "device\(isOne ? "" : "s") found"
    table.row(String(number("device_count")), found, "")
    for row in excluded {
      table.row("-\(row["count"]?.integer ?? 0)", row["reason"]?.string ?? "", row["detail"]?.string ?? "")
    }
    table.row(String(number("would_be_sent")), "would be sent now", providers(forecast))
    guard forecast["estimated"]?.bool == true else { return table.text }
    let how =
      forecast["sample_size"]?.integer.map { "an estimate from a sample of \($0) devices" }
      ?? "the holdout is drawn when the message is sent: these figures are one possible draw"
    return table.text + "\n(" + how + ")"
  }

  private static func providers(_ forecast: JSONValue) -> String {
    (forecast["by_provider"]?.array ?? []).map { "\($0["provider"]?.string ?? "") \($0["count"]?.integer ?? 0)" }
      .joined(separator: ", ")
  }

  /// The funnel says the same.
  static func shows(_ warning: JSONValue) -> Bool {
    ["targets_ended", "no_targets"].contains(warning["code"]?.string ?? "")
  }

  /// The requests of a dry run, and its funnel beside them.
  @Sendable static func showDryRun(_ answer: JSONValue) {
    for request in answer["requests"]?.array ?? [] {
      let variant = request["variant"]?.string.map { ", variant \($0)" } ?? ""
      Terminal.print("\(request["provider"]?.string ?? "")\(variant): \(request["url"]?.string ?? "")")
      Terminal.print(request["body"] ?? .null)
    }
    Terminal.note(text(of: answer["forecast"] ?? .object([])))
    for warning in answer["warnings"]?.array ?? [] where !shows(warning) {
      AcceptedAnswer.note(warning)
    }
    Terminal.note("nothing was sent")
  }
}
