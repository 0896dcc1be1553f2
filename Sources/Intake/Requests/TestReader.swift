package import Domain

/// Reads to whom a message is sent to be looked at.
package enum TestReader {
  /// The body of `POST /v1/drafts/{id}/test`.
  package static func read(_ document: JSONValue) throws(Refusal) -> TestReading {
    var findings = Findings(providers: nil, maximumTargets: RequestBounds.targets)
    var reading = TestReading(lists: [], variant: nil)
    if let fields = Fields(document, at: .root, of: .test, &findings) {
      reading.variant = fields.text("variant", .identifier(32), &findings)
      reading.lists = fields.texts("lists", maximum: maximumListsOfTest, .line(64), &findings) ?? []
      if !fields.hasOrMeans("lists") {
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
  package static func list(_ document: JSONValue, providers: [ProviderName: TokenRules]? = nil) throws(Refusal)
    -> TestRecipients
  {
    var findings = Findings(providers: providers, maximumTargets: TestRecipients.maximum)
    var recipients = TestRecipients()
    if let fields = Fields(document, at: .root, of: .testList, &findings) {
      recipients = RecipientsReader.listed(fields, &findings)
      if fields.isEmpty, !fields.meansOthers {
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

/// Which variant of a draft goes to which test lists.
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
