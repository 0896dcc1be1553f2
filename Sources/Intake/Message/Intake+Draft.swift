package import Domain

extension Intake {
  /// A draft as `POST /v1/drafts` and `PUT /v1/drafts/{id}` take it. Its message may be incomplete; what it says must be
  /// valid.
  package static func draft(
    from document: JSONValue, providers: [ProviderName: TokenRules]? = nil, maximumTargets: Int = Intake.maximumTargets,
    now: WallTime? = nil
  ) throws(Refusal) -> DraftReading {
    var findings = Findings(providers: providers, maximumTargets: min(maximumTargets, Self.maximumTargets), now: now)
    var name: String?
    var message = JSONValue.object([])
    var missing: [Violation] = []
    if let fields = Fields(document, at: .root, of: .draft, &findings) {
      name = fields.text("name", .line(Message.longestName), &findings)
      if let given = fields["message"] {
        message = given
        var inner = Findings(like: findings, mayBeIncomplete: true)
        _ = readMessage(given, &inner)
        findings.add(inner, of: "message") { "/message" + $0 }
        missing = inner.missing
      } else {
        findings.refuse(fields.place.member("message"), .required, "a draft needs a `message`; it may be `{}`")
      }
    }
    try findings.refuse()
    return DraftReading(name: name, message: message, warnings: findings.warnings, missing: missing)
  }

  /// What a message lacks before it can be sent; nothing where it has other faults.
  package static func missing(in message: JSONValue, providers: [ProviderName: TokenRules]? = nil) -> [Violation] {
    var findings = Findings(providers: providers, maximumTargets: maximumTargets, mayBeIncomplete: true)
    _ = readMessage(message, &findings)
    return findings.missing
  }

  /// Members that say when, to whom and how fast a message goes, and those whose variant is chosen: a test has its own.
  private static let notOfTests: Set<String> = [
    "to", "reach", "onesignal_targeting", "variants", "holdout", "send_at", "send_at_local", "quiet_hours", "cap",
    "topic", "rate_per_second",
  ]

  /// A message that shows what each variant of another shows, or what that shows itself: `to` is left out.
  package static func tests(of message: JSONValue) -> [(variant: String?, message: JSONValue)] {
    contents(of: message).map { variant, content in
      var members = (content.object ?? []).filter { !notOfTests.contains($0.key) }
      // Somebody waits for it.
      members.set("quiet_hours", .bool(false))
      return (variant, .object(members))
    }
  }

  /// The body of `POST /v1/drafts/{id}/test`.
  package static func test(from document: JSONValue) throws(Refusal) -> TestReading {
    var findings = Findings(providers: nil, maximumTargets: maximumTargets)
    var reading = TestReading(lists: [], variant: nil)
    if let fields = Fields(document, at: .root, of: .test, &findings) {
      reading.variant = fields.text("variant", .identifier(32), &findings)
      reading.lists = fields.texts("lists", maximum: maximumListsOfTest, .line(64), &findings) ?? []
      if !fields.has("lists") {
        findings.refuse(fields.place.member("lists"), .required, "name the test lists to send to")
      } else if fields["lists"]?.array?.isEmpty == true {
        findings.refuse(fields.place.member("lists"), .empty, "names no test list")
      }
    }
    try findings.refuse()
    return reading
  }
  private static let maximumListsOfTest = 16

  /// A test list as `PUT /v1/test_lists/{name}` takes it.
  package static func testList(from document: JSONValue, providers: [ProviderName: TokenRules]? = nil) throws(Refusal)
    -> TestRecipients
  {
    var findings = Findings(providers: providers, maximumTargets: TestRecipients.maximum)
    var recipients = TestRecipients()
    if let fields = Fields(document, at: .root, of: .testList, &findings) {
      recipients = readListed(fields, &findings)
      if fields.names.isEmpty {
        findings.refuse(.root, .required, "name `devices`, `users` or `tokens`")
      } else if recipients.count > TestRecipients.maximum {
        findings.refuse(
          .root, .tooMany, "has \(recipients.count) entries; a test list has \(TestRecipients.maximum) at most")
      }
    }
    try findings.refuse()
    return recipients
  }
}

package struct DraftReading: Sendable {
  package var name: String?
  /// As it was given.
  package var message: JSONValue
  package var warnings: [Warning]
  /// What has to be added before it can be sent; pointers are the message's.
  package var missing: [Violation]
}

package struct TestReading: Sendable {
  package var lists: [String]
  /// Nil: each.
  package var variant: String?
}

/// Who gets tests of a message; users stand for their devices of the moment.
package struct TestRecipients: Hashable, Sendable {
  /// Entries of a list.
  package static let maximum = 100

  package var devices: [DeviceID] = []
  package var users: [String] = []
  package var tokens: [Address] = []
  package init() {}

  package var count: Int { devices.count + users.count + tokens.count }

  /// Those of several lists, each once.
  package mutating func add(_ other: TestRecipients) {
    devices += other.devices.filter { !devices.contains($0) }
    users = (users + other.users).eachOnce
    tokens += other.tokens.filter { !tokens.contains($0) }
  }
}
