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

  /// Users are told by their place only so many times; the rest is a number.
  private static let usersNamed = 20

  /// `isEmpty`: by the user's place in the message, whether it has no device.
  static func ofUsersWithoutDevices(_ isEmpty: [Bool]) -> [Notice] {
    let places = isEmpty.indices.filter { isEmpty[$0] }
    var notices = places.prefix(usersNamed).map {
      Notice(pointer: "/to/users/\($0)", code: "no_devices", detail: "no device is registered for this user")
    }
    if places.count > usersNamed {
      notices.append(
        Notice(
          pointer: "/to/users", code: "no_devices",
          detail: "no device is registered for \(places.count - usersNamed) further users"))
    }
    return notices
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
