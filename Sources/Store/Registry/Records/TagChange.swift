import Domain

/// How a set of tags changes: all of it replaced, then some removed, then some added.
package struct TagChange: Hashable, Sendable {
  package var replace: [String]?
  package var add: [String]
  package var remove: [String]

  /// Without arguments nothing changes.
  package init(replace: [String]? = nil, add: [String] = [], remove: [String] = []) {
    self.replace = replace
    self.add = add
    self.remove = remove
  }

  /// What became of a change of tags.
  package enum Result: Hashable, Sendable {
    /// The tags as they now are.
    case changed([String])
    /// More than `Tag.maximumPerDevice`; nothing was changed.
    case tooMany(Int)
    case noDevice
  }

  /// Order is kept; no tag is there twice.
  func applied(to tags: [String]) -> [String] {
    let gone = Set(remove.map(ExactText.init))
    let kept = (replace ?? tags).filter { !gone.contains(ExactText($0)) }
    return (kept + add).eachOnce
  }
}
