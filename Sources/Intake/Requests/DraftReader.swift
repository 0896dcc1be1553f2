package import Domain

/// Reads drafts, and makes tests of them.
package enum DraftReader {
  /// A draft as `POST /v1/drafts` and `PUT /v1/drafts/{id}` take it. Its message may be incomplete; what it says must
  /// be valid.
  package static func read(
    _ document: JSONValue, providers: [ProviderName: TokenRules]? = nil, maximumTargets: Int = RequestBounds.targets,
    now: WallTime? = nil
  ) throws(Refusal) -> DraftReading {
    var findings = Findings(providers: providers, maximumTargets: min(maximumTargets, RequestBounds.targets), now: now)
    var name: String?
    var message = JSONValue.object([])
    var missing: [Violation] = []
    if let fields = Fields(document, at: .root, of: .draft, &findings) {
      name = fields.text("name", .line(Message.longestName), &findings)
      if let given = fields["message"] {
        message = given
        var inner = Findings(like: findings, mayBeIncomplete: true)
        _ = MessageReader.read(given, &inner)
        findings.add(inner, of: "message") { "/message" + $0 }
        missing = inner.missing
      } else {
        findings.refuse(fields.place.member("message"), .required, "a draft needs a `message`; it may be `{}`")
      }
    }
    try findings.refuse()
    return DraftReading(name: name, message: message, warnings: findings.warnings, missing: missing)
  }

  /// Members that say when, to whom and how fast a message goes, and those whose variant is chosen: a test has its own.
  private static let notOfTests: Set<String> = [
    "to", "reach", "onesignal_targeting", "variants", "holdout", "send_at", "send_at_local", "quiet_hours", "cap",
    "topic", "rate_per_second",
  ]

  /// A message that shows what each variant of another shows, or what that shows itself: `to` is left out.
  package static func tests(of message: JSONValue) -> [(variant: String?, message: JSONValue)] {
    VariantReader.contents(of: message).map { variant, content in
      var members = (content.object ?? []).filter { !notOfTests.contains($0.key) }
      // Somebody waits for it.
      members.set("quiet_hours", .bool(false))
      // So that each delivery shows which variant it is.
      if let variant {
        let whole = [JSONMember("name", .string(variant)), JSONMember("weight", .integer(100))]
        members.set("variants", .array([.object(whole)]))
      }
      return (variant, .object(members))
    }
  }
}

/// A draft that may be stored.
package struct DraftReading: Sendable {
  package var name: String?
  /// As it was given.
  package var message: JSONValue
  package var warnings: [Warning]
  /// What has to be added before it can be sent; pointers are the message's.
  package var missing: [Violation]
}
