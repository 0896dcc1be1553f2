import Domain
import HTTPServer
import Intake
import JSON
import Store

/// Messages that are not sent yet. They stand apart from `/v1/messages`, so that no mistyped parameter can send one.
final class DraftCalls {
  private let store: Store
  private let configuration: AdoptedConfiguration
  private let settings: ServiceSettings
  private let lookup: DraftLookup
  private let preparation: MessagePreparation
  private let forecaster: Forecaster
  private let attributes: AttributeCheck
  private let bodies: LargeBodies

  init(
    store: Store, configuration: AdoptedConfiguration, settings: ServiceSettings, lookup: DraftLookup,
    preparation: MessagePreparation, forecaster: Forecaster, attributes: AttributeCheck, bodies: LargeBodies
  ) {
    self.store = store
    self.configuration = configuration
    self.settings = settings
    self.lookup = lookup
    self.preparation = preparation
    self.forecaster = forecaster
    self.attributes = attributes
    self.bodies = bodies
  }

  func listDrafts(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let drafts: [StoredDraft]
    do throws(StoreError) {
      drafts = try await store.drafts.all(app: call.app)
    } catch {
      throw Problem(error)
    }
    return try await Listing.answer(all: drafts, call, columns: StoredDraft.columns, row: \.row) { draft, writer in
      writer.beginObject()
      draft.write(to: &writer)
      writer.endObject()
    }
  }

  func createDraft(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let reading = try await reading(of: call)
    let notices = await notices(of: reading, call)
    let draft = try await keep(reading.message.encoded, name: reading.name, copyOf: nil, call)
    return answer(201, draft, try await missingAudiences(of: draft, call.app) + notices)
  }

  func readDraft(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let draft = try await lookup.draft(try call.draftID(), call.app)
    return answer(200, draft, try await missingAudiences(of: draft, call.app))
  }

  /// Whole: what is left out is gone. `If-Match` names the version that the client has seen, so that of two who change
  /// it at once the second learns of the first.
  func replaceDraft(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let id = try call.draftID()
    guard let match = try call.draftVersion() else {
      throw Problem(
        .preconditionRequired,
        "Send `If-Match` with the `etag` of the draft that you read, or `*` to replace any version")
    }
    let reading = try await reading(of: call)
    let body = reading.message.encoded
    try checkSize(body)
    let change: DraftChange
    do throws(StoreError) {
      change = try await store.drafts.replace(
        id, body, name: reading.name, version: match.version, by: call.keyID, app: call.app, now: call.now)
    } catch {
      throw Problem(error)
    }
    try await check(change, call.app)
    let draft = try await lookup.draft(id, call.app)
    return answer(200, draft, try await missingAudiences(of: draft, call.app) + (await notices(of: reading, call)))
  }

  /// `POST /v1/drafts/{id}/approve`: another key than the one that wrote it found this version good.
  func approveDraft(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let id = try call.draftID()
    guard let version = try call.draftVersion()?.version else {
      throw Problem(
        .preconditionRequired,
        "Send `If-Match` with the `etag` of the draft that you read: that version is approved, and no later one")
    }
    guard call.isSomebody else {
      throw Problem(
        .ownDraft, "A link of `fanfare console` is nobody's own key: sign in with an API key of yours to approve")
    }
    let approval: DraftApproval
    do throws(StoreError) {
      approval = try await store.drafts.approve(
        id, version: version, by: call.keyID, app: call.app, now: call.now)
    } catch {
      throw Problem(error)
    }
    switch approval {
    case .approved: break
    case .own:
      throw Problem(
        .ownDraft, "This key wrote this version of the draft: another key with the scope `send` approves it")
    case .refused(let change): try await check(change, call.app)
    }
    let draft = try await lookup.draft(id, call.app)
    return answer(200, draft, try await missingAudiences(of: draft, call.app))
  }

  /// Named audiences of a draft that do not exist, or not any more.
  private func missingAudiences(of draft: StoredDraft, _ app: AppID) async throws(Problem) -> [Notice] {
    let message = try lookup.document(of: draft)
    let names = AudienceUses.names(in: message["to"]?["audience"]?.string).sorted()
    guard !names.isEmpty else { return [] }
    let found: [String?]
    do throws(StoreError) {
      found = try await store.namedAudiences.find(names, app: app)
    } catch {
      throw Problem(error)
    }
    return zip(names, found).filter { $1 == nil }.map { name, _ in
      Notice(
        pointer: "/message/to/audience", code: "unknown_audience",
        detail: "no audience is called `\(name)`: create the audience or change the draft before you send it")
    }
  }

  /// What is to be known of a draft's message when it is written, long before it is sent. What cannot be said yet is
  /// left out: no draft is refused for it.
  private func notices(of reading: DraftReading, _ call: Call) async -> [Notice] {
    let notices = reading.warnings.map { Notice(pointer: $0.pointer, code: $0.code, detail: $0.detail) }
    var found: [Notice] = []
    do throws(Problem) {
      found = try await foreseen(of: reading.message, call)
    } catch {
      // It is told when the draft is counted or sent.
    }
    for index in found.indices { found[index].pointer = "/message" + found[index].pointer }
    return call.notices.told(notices + found)
  }

  /// Of a message that names nobody yet only what is wrong for everybody.
  private func foreseen(of message: JSONValue, _ call: Call) async throws(Problem) -> [Notice] {
    if message["to"] != nil {
      return try await forecaster.count(try preparation.read(message, call).message, call, document: message, .warning)
        .warnings
    }
    var members = message.object ?? []
    members.set("to", .object([JSONMember("everyone", .bool(true))]))
    let contents = try preparation.read(.object(members), call).message.textsByVariant
    return Notice.of(unknownAttributes: try await attributes.unknown(in: contents, call))
  }

  func deleteDraft(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let id = try call.draftID()
    let match = try call.draftVersion()
    let change: DraftChange
    do throws(StoreError) {
      change = try await store.drafts.delete(id, version: match?.version, app: call.app)
    } catch {
      throw Problem(error)
    }
    try await check(change, call.app)
    return HTTPServerResponse(status: 204)
  }

  func duplicateDraft(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let source = try await lookup.draft(try call.draftID(), call.app)
    let name = source.name.map { DraftName.of("Copy of", $0) }
    return try await answer(copy: source.body, name: name, of: source.id.description, call)
  }

  /// `POST /v1/messages/{id}/duplicate`: what was sent becomes a draft.
  func duplicateMessage(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    guard call.may(.send) || call.may(.read) else {
      throw Problem(.forbidden, "To copy a message that was sent, a key with `drafts` needs the scope `read` too")
    }
    let id = try call.messageID()
    let body: [UInt8]?
    let report: MessageReport?
    do throws(StoreError) {
      body = try await store.archive.body(of: id, app: call.app)
      report = try await store.reports.report(id, app: call.app)
    } catch {
      throw Problem(error)
    }
    guard let body else {
      guard report != nil else { throw Problem.noMessage }
      throw Problem(
        .contentGone,
        "The content of this message is no longer stored. After its end, a message keeps its content only if it went "
          + "to an audience, came from a draft, or had failed, expired or cancelled deliveries")
    }
    let name = report?.labels.name.map { DraftName.of("Copy of", $0) }
    // The copy is called otherwise.
    let nameless = await bodies.read(body.count) {
      (try? JSON.parse(body, maximumDepth: Call.maximumDepth))?.without(["name"]).encoded
    }
    return try await answer(copy: nameless ?? body, name: name, of: id.description, call)
  }

  /// Warns as a new draft does. What a new one would be refused for, such as a time that has passed since, is to be mended
  /// before the copy is sent.
  private func answer(copy body: [UInt8], name: String?, of source: String, _ call: Call) async throws(Problem)
    -> HTTPServerResponse
  {
    let draft = try await keep(body, name: name, copyOf: source, call)
    let missing = try await missingAudiences(of: draft, call.app)
    guard let message = try? JSON.parse(body, maximumDepth: Call.maximumDepth) else {
      return answer(201, draft, missing)
    }
    let reading: DraftReading
    do throws(Refusal) {
      reading = try reader(call)(.object([JSONMember("message", message)]))
    } catch {
      let faults = error.violations.map { Notice(pointer: $0.pointer, code: $0.code, detail: $0.detail) }
      return answer(201, draft, missing + call.notices.told(faults))
    }
    return answer(201, draft, missing + (await notices(of: reading, call)))
  }

  // MARK: Parts

  func reading(of call: Call) async throws(Problem) -> DraftReading {
    let reader = reader(call)
    return try await bodies.read(call.request.body.count) {
      Result { () throws(Problem) in try call.read(.invalidDraft, reader) }
    }.get()
  }

  private func reader(_ call: Call) -> (JSONValue) throws(Refusal) -> DraftReading {
    let (rules, maximumTargets, now) = (configuration.tokenRules, settings.maximumTargets, call.now)
    return { document throws(Refusal) in
      try DraftReader.read(document, providers: rules, maximumTargets: maximumTargets, now: now)
    }
  }

  private func keep(_ body: [UInt8], name: String?, copyOf: String?, _ call: Call) async throws(Problem) -> StoredDraft
  {
    try checkSize(body)
    let draft: StoredDraft?
    do throws(StoreError) {
      draft = try await store.drafts.create(
        body, name: name, copyOf: copyOf, by: call.keyID, app: call.app, now: call.now, limit: settings.maximumDrafts)
    } catch {
      throw Problem(error)
    }
    guard let draft else {
      throw Problem(
        .draftLimit, "An app may have at most \(settings.maximumDrafts) drafts: delete one that is not needed")
    }
    return draft
  }

  private func checkSize(_ body: [UInt8]) throws(Problem) {
    guard body.count > settings.maximumDraftBytes else { return }
    let limit = "\(settings.maximumDraftBytes) (`limits.draft_body`)"
    let detail = "the message has \(body.count) bytes; the limit of a draft is \(limit)"
    throw Problem(.invalidDraft, detail, violations: [Violation("/message", .tooLong, detail)])
  }

  private func check(_ change: DraftChange, _ app: AppID) async throws(Problem) {
    switch change {
    case .done: return
    case .conflict(let version): throw Problem.draftConflict(version)
    case .sending(let message):
      throw Problem(
        .draftSent, "This draft is being sent as \(message): repeat the send to get its result, or duplicate the draft")
    case .sent(let message): throw try await lookup.sent(message, app)
    case .unknown: throw Problem.noDraft
    }
  }

  private func answer(_ status: Int, _ draft: StoredDraft, _ warnings: [Notice] = []) -> HTTPServerResponse {
    var headers = [Header("etag", "\"\(draft.version)\"")]
    if status == 201 { headers.append(Header("location", "/v1/drafts/\(draft.id)")) }
    let message = (try? JSON.parse(draft.body, maximumDepth: Call.maximumDepth)) ?? .object([])
    return Answer.json(status, headers: headers) { writer in
      draft.write(to: &writer)
      writer.member("message", message)
      writer.key("missing")
      writer.beginArray()
      for violation in MessageReader.missing(in: message, providers: configuration.tokenRules) {
        violation.write(to: &writer)
      }
      writer.endArray()
      writer.key("warnings")
      writer.beginArray()
      for warning in warnings { warning.write(to: &writer) }
      writer.endArray()
    }
  }
}

extension StoredDraft {
  fileprivate func write(to writer: inout JSONWriter) {
    writer.member("id", id.description)
    writer.member("name", name)
    writer.member("version", version)
    writer.member("created_at", createdAt.rfc3339)
    writer.member("updated_at", updatedAt.rfc3339)
    writer.member("copy_of", copyOf)
    writer.member("sending_as", message?.description)
    writer.member("edited_by", editor)
    writer.member("approved_by", approver)
    writer.member("approved_at", approvedAt?.rfc3339)
  }

  fileprivate static let columns = [
    "id", "name", "version", "created_at", "updated_at", "copy_of", "sending_as", "edited_by", "approved_by",
    "approved_at",
  ]
  fileprivate var row: [String] {
    [
      id.description, name ?? "", String(version), createdAt.rfc3339, updatedAt.rfc3339, copyOf ?? "",
      message?.description ?? "", editor ?? "", approver ?? "", approvedAt?.rfc3339 ?? "",
    ]
  }
}
