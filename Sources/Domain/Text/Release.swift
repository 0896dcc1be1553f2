/// What is told of this build, to people and to programs.
package enum Release {
  package static let version = "0.1.0"
}
