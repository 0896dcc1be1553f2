import Domain

/// The configuration file, checked as a whole.
package struct Configuration: Sendable {
  package init() {}
}
