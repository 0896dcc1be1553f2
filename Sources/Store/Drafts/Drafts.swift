package import Domain
import RedisClient
import TLS

/// Drafts of an app, all in one partition, so that each change is one script. They live until they are deleted or sent.
/// Holds nothing but its session, on whose loop it is used. Whether a draft can be sent is not checked here.
package struct Drafts: StorePart {
  let session: RedisSession

  init(_ session: RedisSession) { self.session = session }

  /// In the order in which `StoredDraft` is read.
  private static let draftFields = ["n", "v", "c", "u", "o", "m", "e", "a", "t", "ev", "av"]

  /// Newest first, without their messages.
  package func all(app: AppID) async throws(StoreError) -> [StoredDraft] {
    let names = (try await ask(RedisCommand("ZREVRANGE", keys.drafts(app), "0", "-1")).array ?? []).compactMap(\.text)
    let ids = names.compactMap { DraftID($0) }
    let replies = try await ask(ids.map { RedisCommand(words: ["HMGET", keys.draft(app, $0)] + Self.draftFields) })
    return zip(ids, replies).compactMap { id, reply in Self.draft(id, reply.array ?? []) }
  }

  /// With its message. A draft that was sent leads to its message for as long as that is remembered.
  package func draft(_ id: DraftID, app: AppID) async throws(StoreError) -> DraftState {
    let replies = try await ask([
      RedisCommand(words: ["HMGET", keys.draft(app, id)] + Self.draftFields + ["b"]),
      RedisCommand("GET", keys.sentDraft(app, id)),
    ])
    if let draft = Self.draft(id, replies[0].array ?? []) { return .found(draft) }
    return replies[1].bytes.flatMap { MessageID(raw: $0) }.map { .sent($0) } ?? .unknown
  }

  private static func draft(_ id: DraftID, _ fields: [RedisReply]) -> StoredDraft? {
    guard fields.count >= draftFields.count, let version = fields[1].integer, let created = fields[2].integer,
      let updated = fields[3].integer
    else { return nil }
    return StoredDraft(
      id: id, name: fields[0].text, version: Int(version), createdAt: WallTime(milliseconds: created),
      updatedAt: WallTime(milliseconds: updated), copyOf: fields[4].text,
      body: fields.count > draftFields.count ? fields[draftFields.count].bytes ?? [] : [],
      message: fields[5].bytes.flatMap { MessageID(raw: $0) },
      // A process of an older version changes a draft without saying who did.
      editor: fields[9].integer == version ? fields[6].text : nil,
      approver: fields[10].integer == version ? fields[7].text : nil,
      approvedAt: fields[10].integer == version ? fields[8].integer.map { WallTime(milliseconds: $0) } : nil)
  }

  /// Nil: the app has `limit` drafts, and nothing was kept. `editor`: the key that writes it.
  package func create(
    _ body: [UInt8], name: String?, copyOf: String? = nil, by editor: String, app: AppID, now: WallTime, limit: Int
  ) async throws(StoreError) -> StoredDraft? {
    try session.checkCondition()
    let id = DraftID(word: SecureRandom.word())
    let reply = try await ask(
      Scripts.createDraft, keys: [keys.drafts(app), keys.draft(app, id)],
      [
        .text(id.description), .number(Int64(limit)), .number(now.milliseconds), .bytes(body), .text(name ?? ""),
        .text(copyOf ?? ""), .text(editor),
      ])
    guard reply.integer == 1 else { return nil }
    return StoredDraft(
      id: id, name: name, version: 1, createdAt: now, updatedAt: now, copyOf: copyOf, body: body, message: nil,
      editor: editor)
  }

  /// Replaces all of it; who approved it approved something else. `version`: the one that is replaced; nil: whichever it is.
  package func replace(
    _ id: DraftID, _ body: [UInt8], name: String?, version: Int?, by editor: String, app: AppID, now: WallTime
  ) async throws(StoreError) -> DraftChange {
    try session.checkCondition()
    return Self.change(
      try await ask(
        Scripts.replaceDraft, keys: [keys.draft(app, id), keys.sentDraft(app, id)],
        [
          Self.expected(version), .number(now.milliseconds), .bytes(body), .text(name ?? ""), .text(editor),
        ]))
  }

  /// Of the version that was seen. Repeatable.
  package func approve(_ id: DraftID, version: Int, by approver: String, app: AppID, now: WallTime)
    async throws(StoreError) -> DraftApproval
  {
    try session.checkCondition()
    let reply = try await ask(
      Scripts.approveDraft, keys: [keys.draft(app, id), keys.sentDraft(app, id)],
      [Self.expected(version), .number(now.milliseconds), .text(approver)])
    switch reply.array?.first?.text {
    case "done": return .approved
    case "own": return .own
    default: return .refused(Self.change(reply))
    }
  }

  /// Also one that is being sent: its message goes on.
  package func delete(_ id: DraftID, version: Int?, app: AppID) async throws(StoreError) -> DraftChange {
    Self.change(
      try await ask(
        Scripts.deleteDraft, keys: [keys.draft(app, id), keys.sentDraft(app, id), keys.drafts(app)],
        [Self.expected(version), .text(id.description)]))
  }

  /// Takes a draft for sending, once for all who ask: it changes no more, and whoever asks again gets the same id, under
  /// which storing the message twice is a no-op.
  package func reserve(_ id: DraftID, version: Int, as message: MessageID, app: AppID) async throws(StoreError)
    -> DraftReservation
  {
    let reply = try await ask(
      Scripts.reserveDraft, keys: [keys.draft(app, id), keys.sentDraft(app, id)],
      [Self.expected(version), .bytes(message.raw)])
    switch Self.change(reply) {
    case .done: return .reserved(message, again: false)
    case .sending(let earlier): return .reserved(earlier, again: true)
    case .conflict(let version): return .conflict(version)
    case .sent(let message): return .sent(message)
    case .unknown: return .unknown
    }
  }

  /// Its message is stored: the draft goes, and its id leads to the message for the time of retention. Repeatable.
  package func settle(_ id: DraftID, as message: MessageID, app: AppID) async throws(StoreError) {
    _ = try await ask(
      Scripts.settleDraft, keys: [keys.draft(app, id), keys.sentDraft(app, id), keys.drafts(app)],
      [.text(id.description), .bytes(message.raw), .number(settings.retentionSeconds)])
  }

  private static func expected(_ version: Int?) -> RedisArgument { version.map { .number(Int64($0)) } ?? "" }

  private static func change(_ reply: RedisReply) -> DraftChange {
    let word = reply.array?.first?.text
    let value = reply.array?.last
    switch word {
    case "done": return .done(Int(value?.integer ?? 0))
    case "conflict": return .conflict(Int(value?.integer ?? 0))
    case "sending": return value?.bytes.flatMap { MessageID(raw: $0) }.map { .sending($0) } ?? .unknown
    case "sent": return value?.bytes.flatMap { MessageID(raw: $0) }.map { .sent($0) } ?? .unknown
    default: return .unknown
    }
  }
}
