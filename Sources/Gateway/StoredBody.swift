import Domain
import Intake
import JSON

/// How a worker reads a stored message. It was validated when it was accepted, and its targets come with the jobs, so of a
/// list of targets only the first is read: the rest costs more than all else together.
enum StoredBody {
  static func message(_ body: [UInt8]) throws -> Message {
    try MessageReader.message(from: shortened(JSON.parse(body)))
  }

  private static func shortened(_ value: JSONValue) -> JSONValue {
    guard case .object(var members) = value, let index = members.firstIndex(where: { $0.key == "to" }),
      case .object(var recipients) = members[index].value
    else { return value }
    for place in recipients.indices {
      if case .array(let list) = recipients[place].value { recipients[place].value = .array(Array(list.prefix(1))) }
    }
    members[index].value = .object(recipients)
    return .object(members)
  }
}
