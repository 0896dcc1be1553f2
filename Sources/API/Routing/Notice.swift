import Domain
import Intake
import JSON
import Store

/// The warnings that one request may still be told. The lines of a bulk call share them. Belongs to the loop.
final class NoticeBudget {
  private var left = RequestBounds.warnings

  /// As many of `all` as may be told, one at least, and how many are left out.
  func told(_ all: [Notice]) -> [Notice] {
    let count = min(all.count, max(1, left))
    left = max(0, left - count)
    guard count < all.count else { return all }
    return all.prefix(count) + [
      Notice(pointer: "", code: "more_warnings", detail: "\(all.count - count) more warnings are not listed")
    ]
  }
}

/// What a client should know about a message that was accepted all the same.
struct Notice: Hashable {
  /// JSON pointer.
  var pointer: String
  var code: String
  var detail: String

  func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writeMembers(to: &writer)
    writer.endObject()
  }

  /// Without the braces.
  func writeMembers(to writer: inout JSONWriter) {
    writer.member("pointer", pointer)
    writer.member("code", code)
    writer.member("detail", detail)
  }

  /// Of a message that was accepted before and is cancelled by now: nothing of it is sent any more.
  static func ofCancelled(_ id: MessageID) -> Notice {
    Notice(
      pointer: "", code: ProblemCode.messageCancelled.rawValue,
      detail: "the message \(id) was cancelled, so nothing is sent: duplicate the message to send it")
  }

  /// Users are told by their place only so many times; the rest is a number.
  private static let usersNamed = 20

  /// `users`: as the message lists them, each with whether it has no device.
  static func ofUsersWithoutDevices(_ users: [(name: String, isEmpty: Bool)]) -> [Notice] {
    let places = users.indices.filter { users[$0].isEmpty }
    var notices = places.prefix(usersNamed).map { place in
      let name = users[place].name
      let hint = name.contains(",") ? "; this is one name: if you mean several users, list each separately" : ""
      return Notice(
        pointer: "/to/users/\(place)", code: "no_devices",
        detail: "user `\(name.prefix(200))` has no device\(hint)")
    }
    if places.count > usersNamed {
      notices.append(
        Notice(
          pointer: "/to/users", code: "no_devices",
          detail: "no device is registered for \(places.count - usersNamed) further users"))
    }
    return notices
  }
}
