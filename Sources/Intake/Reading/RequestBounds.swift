/// How much one request may ask for, and how much it is told.
package enum RequestBounds {
  /// Targets that one message may list.
  package static let targets = 10_000
  /// Faults told of one request; what lies beyond is counted.
  package static let violations = 200
  /// Of those one document of a bulk call may have so many.
  package static let violationsOfLine = 20
  /// Warnings told of one request; what lies beyond is counted.
  package static let warnings = 200
}
