import Domain
import HTTPServer
import Intake
import JSON
import Store

/// A draft is tried out: a real message, made by the same renderer, to those on test lists only.
struct DraftTestCalls {
  let store: Store
  let configuration: AdoptedConfiguration
  let urgentTargets: Int
  let lookup: DraftLookup
  let preparation: MessagePreparation
  let check: MessageCheck
  let recipientResolver: RecipientResolver
  let forecaster: Forecaster
  let acceptor: MessageAcceptor

  /// `POST /v1/drafts/{id}/test`: a message for each variant, or for the one that is named.
  func testDraft(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let reading = try reading(of: call)
    let recipients = try await recipients(of: reading.lists, call)
    let draft = try await lookup.draft(try call.draftID(), call.app)
    let tests = try chosen(DraftReader.tests(of: try lookup.document(of: draft)), reading.variant)
    var ready: [(variant: String?, draft: PreparedMessage)] = []
    for (variant, message) in tests {
      ready.append((variant, try await test(message, variant, recipients, of: draft, call)))
    }
    // Nothing is sent before all of them are found good.
    var sent: [(variant: String?, message: AcceptedMessage)] = []
    for (_, draft) in ready { try await acceptor.charge(draft, call) }
    for (variant, draft) in ready { sent.append((variant, try await acceptor.accept(draft, call))) }
    return Answer.json(202) { writer in
      writer.objects("items", sent) { writer, item in
        let (variant, message) = item
        writer.member("variant", variant)
        message.write(to: &writer)
      }
    }
  }

  func reading(of call: Call) throws(Problem) -> TestReading {
    try call.read(.invalidTest) { document throws(Refusal) in try TestReader.read(document) }
  }

  private func chosen(_ tests: [(variant: String?, message: JSONValue)], _ variant: String?) throws(Problem)
    -> [(variant: String?, message: JSONValue)]
  {
    guard let variant else { return tests }
    let chosen = tests.filter { $0.variant == variant }
    guard chosen.isEmpty else { return chosen }
    let names = tests.compactMap(\.variant)
    let hint = Suggestion.nearest(to: variant, among: names).map { "did you mean `\($0)`?" }
    let known = names.isEmpty ? "the draft has no variants" : "the variants are \(names.joined(separator: ", "))"
    throw Problem(
      Refusal(violations: [Violation("/variant", .unknownValue, "no variant has this name; \(hint ?? known)")]),
      .invalidTest)
  }

  private func recipients(of names: [String], _ call: Call) async throws(Problem) -> TestRecipients {
    var recipients = TestRecipients()
    var violations: [Violation] = []
    do throws(StoreError) {
      let lists = try await store.testLists.find(names, app: call.app)
      var known: [String]?
      for (index, list) in lists.enumerated() {
        if let list, let own = list.read(configuration.tokenRules) {
          recipients.add(own)
          continue
        }
        if known == nil { known = try await store.testLists.all(app: call.app).map(\.name) }
        let hint = call.suggestions.nearest(to: names[index], among: known ?? []).map { "did you mean `\($0)`?" }
        violations.append(
          Violation(
            "/lists/\(index)", .unknownValue,
            "no test list has this name; "
              + (hint ?? "create it with `fanfare test-lists set NAME`, or `PUT /v1/test_lists/{name}`")))
      }
    } catch {
      throw Problem(error)
    }
    guard violations.isEmpty else { throw Problem(Refusal(violations: violations), .invalidTest) }
    return recipients
  }

  /// Found good for all accounts that its recipients are reached by, and not stored.
  private func test(
    _ message: JSONValue, _ variant: String?, _ recipients: TestRecipients, of source: StoredDraft, _ call: Call
  ) async throws(Problem) -> PreparedMessage {
    try await NestedMessage.check { () async throws(Problem) in
      var members = message.object ?? []
      members.set("to", recipients.document)
      let document = JSONValue.object(members)
      let reading = try preparation.read(document, call)
      let contents = reading.message.textsByVariant
      let (resolved, mapped) = try await check.perform(reading.message, contents, call) { () throws(Problem) in
        try await resolve(recipients, as: reading.message, call.app)
      }
      var notices = reading.warnings.map { Notice(pointer: $0.pointer, code: $0.code, detail: $0.detail) }
      notices += resolved.warnings
      notices += mapped
      let draft = PreparedMessage(
        reading.message, resolved, body: document.encoded, app: call.app, now: call.now, warnings: notices,
        errorBrake: nil, urgentTargets: urgentTargets)
      draft.submission.testOf = source.id
      draft.isSeenByTwo = source.isSeenByTwo(sentBy: call, sawVersion: false)
      let name = draft.submission.labels.name ?? source.name
      draft.submission.labels.name = name.map { DraftName.ofTest(of: $0, variant) }
      try await preparation.foresee(
        draft, resolved, forecaster.outlook(of: reading.message, contents, call, for: .warning), call, .warning)
      draft.warnings = call.notices.told(draft.warnings)
      return draft
    }
  }

  /// Each device once, whichever way it is named.
  private func resolve(_ recipients: TestRecipients, as message: Message, _ app: AppID) async throws(Problem)
    -> ResolvedRecipients
  {
    let all = ResolvedRecipients(targets: [])
    for to in recipients.ways {
      var message = message
      message.to = to
      let found = try await recipientResolver.resolveListed(message, app, keepsDevices: true)
      all.targets += found.targets
      all.devices += found.devices
      all.warnings += found.warnings
      all.others.merge(found.others, uniquingKeysWith: +)
    }
    var seen: Set<DeviceID> = []
    let first = all.targets.map { seen.insert($0.device).inserted }
    let resolved = ResolvedRecipients(
      targets: zip(all.targets, first).filter(\.1).map(\.0), devices: zip(all.devices, first).filter(\.1).map(\.0),
      warnings: all.warnings)
    resolved.others = all.others
    return resolved
  }
}

extension TestRecipients {
  fileprivate var ways: [Recipients] {
    var ways: [Recipients] = []
    if !devices.isEmpty { ways.append(.devices(devices)) }
    if !users.isEmpty { ways.append(.users(users)) }
    if !tokens.isEmpty { ways.append(.tokens(tokens)) }
    return ways
  }

  /// As a message names them: one way. Tokens first, as a replay needs them; who else is meant stands with the
  /// message's deliveries.
  fileprivate var document: JSONValue {
    if !tokens.isEmpty { return .object([JSONMember("tokens", .array(tokens.map(\.document)))]) }
    let (way, names) = devices.isEmpty ? ("users", users) : ("devices", devices.map(\.rawValue))
    return .object([JSONMember(way, .array(names.map { .string($0) }))])
  }
}

extension Address {
  fileprivate var document: JSONValue {
    var members: [JSONMember] = []
    members.set("provider", provider.rawValue)
    members.set("token", token)
    members.set("token_kind", tokenKind.rawValue)
    if provider == .apns { members.set("environment", environment.rawValue) }
    members.set("bundle_id", bundleID)
    members.set("live_activity_token", liveActivityToken)
    return .object(members)
  }
}
