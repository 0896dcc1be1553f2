package import Domain

/// One fault of a request, with the place it stands at.
package struct Violation: Error, Hashable, Sendable {
  /// The codes that Intake gives; renderers have their own beside them.
  package enum Code: String, Sendable, CaseIterable {
    case unknownField = "unknown_field"
    case unknownParameter = "unknown_parameter"
    case wrongType = "wrong_type"
    case required
    case outOfRange = "out_of_range"
    case tooLong = "too_long"
    case tooMany = "too_many"
    case tooDeep = "too_deep"
    case empty
    case invalidFormat = "invalid_format"
    case invalidPlaceholder = "invalid_placeholder"
    case invalidAudience = "invalid_audience"
    case unknownValue = "unknown_value"
    case notAllowed = "not_allowed"
    case duplicate
    case moreViolations = "more_violations"
  }

  /// JSON pointer.
  package var pointer: String
  /// Stable, snake_case: `unknown_field`, `wrong_type`, `out_of_range`, `required`, `not_allowed`, `too_long` …
  package var code: String
  /// A sentence that names the fix.
  package var detail: String
  /// Of an expression: where in its text, in characters, from 1.
  package var column: Int?
  /// Of a query, a header or a path: the parameter. The pointer is empty then.
  package var parameter: String?
  /// `code`: one that a renderer or a provider gives, outside `Code`.
  package init(_ pointer: String, _ code: String, _ detail: String) {
    self.pointer = pointer
    self.code = code
    self.detail = detail
  }
  package init(_ pointer: String, _ code: Code, _ detail: String) { self.init(pointer, code.rawValue, detail) }

  /// In place of those that are left out.
  package static func untold(_ count: Int) -> Violation {
    Violation("", .moreViolations, "\(count) more faults are not listed; fix these first")
  }
}

/// All faults of one request.
package struct Refusal: Error, Sendable {
  package var violations: [Violation]
  /// Of a message: what could be read of it. What is faulty is left out, or what it is by default.
  package var partialMessage: Message?
  /// `violations`: never empty.
  package init(violations: [Violation]) { self.violations = violations }
}

/// What was changed, mapped or left out of a request that was accepted all the same.
package struct Warning: Hashable, Sendable {
  /// JSON pointer.
  package var pointer: String
  package var code: String
  package var detail: String
  /// `code`: stable, for programs. `detail`: a sentence for the caller.
  package init(_ pointer: String, _ code: String, _ detail: String) {
    self.pointer = pointer
    self.code = code
    self.detail = detail
  }
}
