import Domain
import Intake
import JSON
import Store

/// What a client should know about a message that was accepted all the same.
struct Notice: Hashable {
  /// JSON pointer.
  var pointer: String
  var code: String
  var detail: String

  func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("pointer", pointer)
    writer.member("code", code)
    writer.member("detail", detail)
    writer.endObject()
  }

  /// Targets that get nothing, by reason: the send was accepted, but not all of it goes out.
  static func ofSkipped(_ targets: [SubmissionTarget]) -> [Notice] {
    var counts: [String: Int] = [:]
    for target in targets {
      if case .ended(let outcome, let reason) = target.fate {
        counts["\(outcome.rawValue): \(reason)", default: 0] += 1
      }
    }
    return counts.sorted { $0.key < $1.key }.map { reason, count in
      Notice(
        pointer: "/to", code: "targets_ended",
        detail: "\(count) of \(targets.count) target\(targets.count == 1 ? "" : "s") will get nothing (\(reason))")
    }
  }
}
