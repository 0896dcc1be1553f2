/// Messages to many devices need a second person: one key writes, another one approves or sends.
package struct ApprovalRule: Hashable, Sendable {
  /// Messages to more devices than these need it.
  package var above: Int
  /// Ids of the keys of programs, which send without it.
  package var exempt: Set<String> = []

  /// No key is exempt. `above`: devices, 0 or more.
  package init(above: Int) { self.above = above }

  /// `devices`: nil where a provider decides who gets the message, so that nobody here knows how many.
  package func holds(of key: String, _ devices: Int?) -> Bool { (devices ?? .max) > above && !exempt.contains(key) }
}
