import Domain
import Intake
import JSON

extension Forecast {
  /// Those who are no targets first, then by outcome and reason.
  var rows: [(exclusion: Exclusion, count: Int)] {
    excluded.sorted {
      ($0.key.outcome?.rawValue ?? "", $0.key.reason, $0.key.note ?? "")
        < ($1.key.outcome?.rawValue ?? "", $1.key.reason, $1.key.note ?? "")
    }
    .map { ($0.key, $0.value) }
  }

  func write(to writer: inout JSONWriter) {
    writer.key("forecast")
    writer.beginObject()
    writer.member("device_count", devices)
    writer.member("targets", targets)
    writer.objects("excluded", rows) { writer, row in
      writer.member("outcome", row.exclusion.outcome?.rawValue)
      writer.member("reason", row.exclusion.reason)
      writer.member("count", row.count)
      writer.member("detail", row.exclusion.explanation)
    }
    writer.member("would_be_sent", wouldBeSent)
    writer.objects("by_provider", byProvider.sorted { $0.key.rawValue < $1.key.rawValue }) { writer, row in
      writer.member("provider", row.key.rawValue)
      writer.member("count", row.value)
    }
    if !waiting.isEmpty {
      writer.objects("waiting", waiting.sorted { $0.key < $1.key }) { writer, row in
        writer.member("reason", row.key)
        writer.member("count", row.value.count)
        writer.member("first_at", row.value.first.rfc3339)
        writer.member("last_at", row.value.last.rfc3339)
      }
    }
    if passed > 0 { writer.member("clock_passed", passed) }
    writer.member("estimated", isEstimated)
    writer.member("sample_size", sample)
    writer.endObject()
  }
}

extension Forecast.Exclusion {
  /// In plain words.
  var explanation: String {
    if let note { return note }
    return switch outcome {
    case .skipped?: SkipReason(rawValue: reason)?.explanation ?? reason
    case .expired?: "the message's `ttl` ends before the delivery could start"
    case .failed?: "the provider would refuse the request"
    case nil: SkipReason(rawValue: reason)?.explanation ?? "the provider has called the token dead"
    case .dead?: "the provider has called the token dead"
    case .accepted?, .superseded?, .cancelled?: reason
    }
  }
}

extension Notice {
  /// A send of the message will be refused.
  static func of(unknownAttributes violations: [Violation]) -> [Notice] {
    violations.map {
      Notice(pointer: $0.pointer, code: "unknown_attribute", detail: $0.detail + "; a send is refused while this is so")
    }
  }

  /// A local time that some devices' clocks have passed.
  private static func ofPassed(_ forecast: Forecast) -> [Notice] {
    guard forecast.passed > 0 else { return [] }
    let isAll = forecast.passed == forecast.wouldBeSent
    let isOne = forecast.passed == 1
    let about = forecast.sample == nil || isAll ? "" : "about "
    let all = isAll ? isOne ? "the only device" : "all \(grouped(forecast.passed)) devices" : nil
    let devices = all ?? "\(grouped(forecast.passed)) device\(isOne ? "" : "s")"
    return [
      Notice(
        pointer: "/send_at_local", code: "local_time_passed",
        detail: "\(about)\(devices) \(isOne ? "gets" : "get") it at once: \(isOne ? "its" : "their") clock has passed "
          + "this time")
    ]
  }

  /// Who gets nothing, by reason: the send is accepted, but not all of it goes out.
  static func of(_ forecast: Forecast) -> [Notice] {
    let total = "\(grouped(forecast.targets)) target\(forecast.targets == 1 ? "" : "s")"
    return ofPassed(forecast)
      + forecast.rows.map { exclusion, count in
        let about = forecast.sample == nil ? "" : "about "
        guard let outcome = exclusion.outcome else {
          return Notice(
            pointer: "/to", code: "no_targets",
            detail: (count == 1 ? "1 device of these users gets" : "\(grouped(count)) devices of these users get")
              + " nothing (\(exclusion.reason)): \(exclusion.explanation)")
        }
        return Notice(
          pointer: "/to", code: "targets_ended",
          detail: "\(about)\(grouped(count)) of \(total) will get nothing "
            + "(\(outcome.rawValue): \(exclusion.reason)): \(exclusion.explanation)")
      }
  }
}
