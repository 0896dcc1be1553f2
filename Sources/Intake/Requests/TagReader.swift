package import Domain

/// How a request changes tags: all of them replaced, or some removed and then some added.
package struct TagEdit: Hashable, Sendable {
  package var replace: [String]?
  package var add: [String]
  package var remove: [String]
}

/// Reads tags of devices and users, and changes of them.
package enum TagReader {
  /// The body of `PATCH /v1/devices/{id}/tags` and of `PATCH /v1/users/{user}/tags` (`add`, `remove`, or `replace` alone).
  package static func edit(from document: JSONValue) throws(Refusal) -> TagEdit {
    try reading(document, of: .tagEdit) { fields, findings in
      let replace = tags(fields, "replace", &findings)
      let add = tags(fields, "add", &findings)
      let remove = tags(fields, "remove", &findings)
      if replace != nil, add != nil || remove != nil {
        findings.refuse(
          fields.place.member("replace"), .notAllowed, "`replace` sets all tags: give it alone, or `add` and `remove`")
      }
      if !["add", "remove", "replace"].contains(where: fields.hasOrMeans) {
        findings.refuse(fields.place, .required, "give `add`, `remove` or `replace`")
      }
      let removed = Set((remove ?? []).map(ExactText.init))
      for tag in add ?? [] where removed.contains(ExactText(tag)) {
        findings.refuse(
          fields.place.member("remove"), .notAllowed, "`\(tag)` is in `add` too: give it in only one of the two")
      }
      return TagEdit(replace: replace, add: add ?? [], remove: remove ?? [])
    }
  }

  /// The body of `PUT /v1/users/{user}/tags`: all tags that the user's devices have by their user.
  package static func userTags(from document: JSONValue) throws(Refusal) -> TagEdit {
    try reading(document, of: .userTags) { fields, findings in
      guard let tags = tags(fields, "tags", &findings) else {
        fields.require("tags", "`tags` is missing", &findings)
        return TagEdit(replace: nil, add: [], remove: [])
      }
      return TagEdit(replace: tags, add: [], remove: [])
    }
  }

  private static func reading(
    _ document: JSONValue, of schema: Schema, _ read: (Fields, inout Findings) -> TagEdit
  ) throws(Refusal) -> TagEdit {
    var findings = Findings(providers: nil, maximumTargets: RequestBounds.targets)
    let edit = Fields(document, at: .root, of: schema, &findings).map { read($0, &findings) }
    try findings.refuse()
    guard let edit else { preconditionFailure("no tags were read, but nothing was found wrong with them") }
    return edit
  }

  /// Each once, in their order; nil if the member is missing or wrong.
  static func tags(_ fields: Fields, _ name: String, _ findings: inout Findings) -> [String]? {
    fields.texts(name, maximum: Tag.maximumPerDevice, .line(Tag.maximumBytes), &findings)?.eachOnce
  }
}
