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
}
