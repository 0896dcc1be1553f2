package import Domain
import JSON

/// One fault of a request, with the place it stands at.
package struct Violation: Error, Hashable, Sendable {
  /// JSON pointer.
  package var pointer: String
  /// Stable, snake_case: `unknown_field`, `wrong_type`, `out_of_range`, `required`, `not_allowed`, `too_long` …
  package var code: String
  /// A sentence that names the fix.
  package var detail: String
  package init(_ pointer: String, _ code: String, _ detail: String) {
    self.pointer = pointer
    self.code = code
    self.detail = detail
  }
}

/// All faults of one request; `notYet` lists what is valid but not executed by this version (answered 501).
package struct Refusal: Error, Sendable {
  package var violations: [Violation]
  package var notYet: [Violation]
  package init(violations: [Violation], notYet: [Violation] = []) {
    self.violations = violations
    self.notYet = notYet
  }
}

/// Validates and normalises requests (pure).
package enum Intake {
  /// A message as `POST /v1/messages` takes it.
  package static func message(from document: JSONValue) throws(Refusal) -> Message {
    preconditionFailure("not built yet")
  }
  /// A device as `PUT /v1/devices/{id}` and `POST /v1/devices` take it. `id`: from the path, or nil (then a body's `id`
  /// is used, or one derived by the caller, left empty here).
  package static func device(from document: JSONValue, id: DeviceID?, now: WallTime) throws(Refusal) -> Device {
    preconditionFailure("not built yet")
  }
}
