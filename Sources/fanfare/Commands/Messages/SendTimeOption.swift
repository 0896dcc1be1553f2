import CommandFrame
import Domain
import JSON

/// The options that say when a message is sent, and others that take a time. A mistake is told in their own words, before
/// anything is asked of the server.
enum SendTimeOption {
  private static let members = [("--at", "send_at"), ("--at-local", "send_at_local")]

  /// The member of a message that they stand for; nil: none of them is there.
  static func read(_ arguments: Arguments) throws(UsageProblem) -> JSONMember? {
    let given = members.filter { arguments.has($0.0) }
    guard given.count < 2 else { throw UsageProblem(text: "give --at or --at-local, not both") }
    guard let (option, key) = given.first, let text = arguments.text(option) else { return nil }
    if option == "--at" {
      try check(text, option, orLocal: true)
    } else if LocalTime(text) == nil {
      throw UsageProblem(text: "--at-local needs \(TimeAdvice.local(text))")
    }
    return JSONMember(key, .string(text))
  }

  /// Of an option that takes a point in time; nil: it is not there.
  static func time(_ option: String, _ arguments: Arguments) throws(UsageProblem) -> String? {
    guard let text = arguments.text(option) else { return nil }
    try check(text, option, orLocal: false)
    return text
  }

  private static func check(_ text: String, _ option: String, orLocal: Bool) throws(UsageProblem) {
    guard WallTime(rfc3339: text) == nil else { return }
    let other = orLocal && LocalTime(text) != nil ? "; for this time by each device's clock use --at-local" : ""
    throw UsageProblem(text: "\(option) needs \(TimeAdvice.absolute(text))\(other)")
  }
}
