/// How people call a place of a request.
package enum FieldName {
  /// `to.users[3]` of the pointer `/to/users/3`; empty for the whole.
  package static func of(pointer: String) -> String {
    var name = ""
    for step in pointer.split(separator: "/").map(String.init) {
      if Whole.read(step, in: 0...Int(Int32.max)) != nil, !name.isEmpty {
        name += "[\(step)]"
      } else {
        name += (name.isEmpty ? "" : ".") + step.replacing("~1", with: "/").replacing("~0", with: "~")
      }
    }
    return name
  }

  /// What is said of a place, behind its name where the sentence does not say it itself. Sentences on the `message` of a
  /// draft use the names within it.
  package static func sentence(_ detail: String, at pointer: String) -> String {
    let name = of(pointer: pointer)
    let within = name.hasPrefix("message.") ? String(name.dropFirst("message.".count)) : name
    return name.isEmpty || detail.contains("`\(within)`") || detail.contains("`\(name)`")
      ? detail : "`\(name)`: \(detail)"
  }
}
