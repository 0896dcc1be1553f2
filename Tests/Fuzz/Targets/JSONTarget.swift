import Domain
import JSON

@testable import API

extension FuzzTarget {
  /// Any text as JSON, within the limits of a request's body. What is read and written reads as the same again.
  static let json = FuzzTarget("json") { bytes in
    for limits in [Call.limits, JSONLimits(depth: 8, members: 4, values: 16), JSONLimits(depth: 1_000)] {
      guard let value = try? JSON.parse(bytes, limits) else { continue }
      let written = value.encoded
      do throws(JSONFault) {
        let again = try JSON.parse(written, limits)
        demand(again == value, "what was written reads as the same value")
        demand(again.encoded == written, "what was written is written alike")
      } catch {
        fatalError("what was written is no JSON: \(error.detail)")
      }
    }
  }

  /// The document that a request's body is; nil: it is refused before anybody reads it.
  static func document(_ bytes: [UInt8]) -> JSONValue? { try? JSON.parse(bytes, Call.limits) }
}
