import Domain
import Intake
import JSON
import Support
import Testing

/// What a client wrote, as a value.
func document(_ text: String) throws -> JSONValue { try JSON.parse(Array(text.utf8)) }

func read(_ text: String) throws -> MessageReading {
  try MessageReader.read(document(text), providers: knownProviders)
}

/// `pointer code` of every fault of a message, in the order told.
func faults(of text: String) throws -> [String] {
  let candidate = try document(text)
  do throws(Refusal) {
    _ = try MessageReader.read(candidate, providers: knownProviders)
    return []
  } catch {
    return error.violations.map { "\($0.pointer) \($0.code)" }
  }
}

/// A message to one device with these members beside `to`.
func alert(_ members: String) -> String { #"{"to":{"devices":["d1"]},\#(members)}"# }

/// A registration of an APNs token with these members beside it.
func registration(_ members: String = "") -> String {
  #"{"provider":"apns","token":"ab12"\#(members.isEmpty ? "" : "," + members)}"#
}

func deviceFaults(of text: String, id: String? = nil) throws -> [String] {
  let candidate = try document(text)
  do throws(Refusal) {
    _ = try DeviceReader.read(
      candidate, id: id.map(DeviceID.init(rawValue:)), now: noon, providers: knownProviders)
    return []
  } catch {
    return error.violations.map { "\($0.pointer) \($0.code)" }
  }
}

let noon = WallTime(seconds: 1_795_262_400)
