import Domain
import Intake

/// What a path names, by its first parameter. No such thing can have a name that is not well formed.
extension Call {
  func messageID() throws(Problem) -> MessageID {
    guard let text = parameters.first, let id = MessageID(text) else { throw Problem.noMessage }
    return id
  }

  func draftID() throws(Problem) -> DraftID {
    guard let text = parameters.first, let id = DraftID(text) else { throw Problem.noDraft }
    return id
  }

  func deviceID() throws(Problem) -> DeviceID {
    guard let text = parameters.first, DeviceReader.isDeviceID(text) else { throw Problem.noDevice }
    return DeviceID(rawValue: text)
  }

  func user() throws(Problem) -> String {
    guard let user = parameters.first, DeviceReader.isUser(user) else { throw Problem.noUser }
    return user
  }

  /// Refuses a name for a thing that is to be made if the API's paths use it as a word. `parameter`: of the path.
  static func checkName(_ name: String, as parameter: String, _ code: ProblemCode) throws(Problem) {
    guard DeviceReader.reservedIDs.contains(name) else { return }
    let detail = "`\(name)` is a word of the API's paths and cannot be an id or name: choose another"
    var violation = Violation("", .notAllowed, detail)
    violation.parameter = parameter
    throw Problem(code, detail, violations: [violation])
  }
}

extension Problem {
  static var noMessage: Problem {
    Problem(.notFound, "No message has this id: it may be another app's, or its retention time is over")
  }
  static var noDraft: Problem { Problem(.notFound, "No draft has this id: it may be another app's, or deleted") }
  static var noDevice: Problem { Problem(.notFound, "No device has this id") }
  static var noKey: Problem { Problem(.notFound, "No key of this app has this id") }
  static var noUser: Problem { Problem(.notFound, "No device is registered for this user") }
}
