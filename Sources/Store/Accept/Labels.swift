package import Domain

/// What people call a message and find it by, kept with it for as long as it is: a name, its audience, and labels,
/// which are names with a string, a number or a boolean.
package struct Labels: Hashable, Sendable {
  /// As the request gave them; values are strings, numbers or booleans.
  package private(set) var members: [JSONMember]

  /// Of the message.
  package var name: String?
  /// The expression in its canonical form; nil where it is longer than is worth keeping, and of other recipients.
  package var audience: String?
  /// The same with its named audiences written out, as they were when the message was accepted; nil where it names none.
  package var expression: String?
  /// What the message is about, where it counts towards a cap.
  package var topic: String?
  /// Bytes of an audience that is kept.
  package static let longestAudience = 1_024

  /// An audience longer than `longestAudience` is not kept: the message is found without it.
  package init(
    _ members: [JSONMember] = [], name: String? = nil, audience: String? = nil, expression: String? = nil,
    topic: String? = nil
  ) {
    func short(_ text: String?) -> String? { text.flatMap { $0.utf8.count <= Self.longestAudience ? $0 : nil } }
    self.members = members
    self.name = name
    self.topic = topic
    self.audience = short(audience)
    self.expression = self.audience == nil ? nil : short(expression)
  }

  package var isEmpty: Bool { members.isEmpty && name == nil && audience == nil && topic == nil }

  /// Of a message's hash.
  static let field = "la"

  /// True if one of them reads `key:value`. Numbers and booleans read as in JSON.
  package func hold(_ text: String) -> Bool {
    members.contains { member in
      let value: String
      switch member.value {
      case .string(let own): value = own
      case .bool(let flag): value = flag ? "true" : "false"
      case .integer(let number): value = String(number)
      case .unsigned(let number): value = String(number)
      case .double(let number): value = String(number)
      case .null, .array, .object: return false
      }
      return text.utf8.elementsEqual("\(member.key):\(value)".utf8)
    }
  }

  /// No label is called so: a version that knows no topics reads it as a label, and all else as it was.
  private static let topicKey = ""

  private enum Form: UInt8 {
    case no, yes, integer, unsigned, double, text
  }

  var packed: [UInt8] {
    var packer = Packer()
    let members = members + (topic.map { [JSONMember(Self.topicKey, .string($0))] } ?? [])
    packer.number(members.count)
    for member in members {
      packer.text(member.key)
      switch member.value {
      case .bool(let flag): packer.byte((flag ? Form.yes : .no).rawValue)
      case .integer(let number):
        packer.byte(Form.integer.rawValue)
        packer.signed(number)
      case .unsigned(let number):
        packer.byte(Form.unsigned.rawValue)
        packer.number(number)
      case .double(let number):
        packer.byte(Form.double.rawValue)
        packer.number(number.bitPattern)
      case .string(let text):
        packer.byte(Form.text.rawValue)
        packer.text(text)
      case .null, .array, .object: preconditionFailure("a label is a string, a number or a boolean")
      }
    }
    // Neither of them can be empty.
    if name != nil || audience != nil { packer.text(name ?? "") }
    if let audience {
      packer.text(audience)
      if let expression { packer.text(expression) }
    }
    return packer.bytes
  }

  init(packed: [UInt8]) throws(Corrupt) {
    var reader = Unpacker(packed)
    members = []
    for _ in 0..<(try reader.int()) {
      let key = try reader.text()
      let value: JSONValue
      switch Form(rawValue: try reader.byte()) {
      case .no: value = .bool(false)
      case .yes: value = .bool(true)
      case .integer: value = .integer(try reader.signed())
      case .unsigned: value = .unsigned(try reader.number())
      case .double:
        let number = Double(bitPattern: try reader.number())
        guard number.isFinite else { throw Corrupt() }
        value = .double(number)
      case .text: value = .string(try reader.text())
      case nil: throw Corrupt()
      }
      members.append(JSONMember(key, value))
    }
    topic = members[Self.topicKey]?.string
    members.removeAll { $0.key == Self.topicKey }
    let called = reader.isAtEnd ? "" : try reader.text()
    name = called.isEmpty ? nil : called
    audience = reader.isAtEnd ? nil : try reader.text()
    expression = reader.isAtEnd ? nil : try reader.text()
    guard reader.isAtEnd else { throw Corrupt() }
  }
}

extension StoredMessageHashes {
  var labels: Labels {
    message[Array(Labels.field.utf8)].flatMap { try? Labels(packed: $0) } ?? Labels()
  }
}

/// A page of an app's messages.
package struct MessagePage: Sendable {
  /// Newest first.
  package var reports: [MessageReport]
  /// Behind what was looked at; nil: there are no more.
  package var next: MessageID?
}

extension MessageReports {
  /// Messages that one page looks at for a label: what lies further is for the next page.
  private static let mostLookedAt = 2_000
  private static let lookedAtOnce = 200

  /// Newest first, before `cursor`. With a label, as `key:value`, only those that have it: a page may then hold fewer
  /// than `limit`, or none, and still have a next one.
  package func messages(app: AppID, before cursor: MessageID?, limit: Int, label: String? = nil)
    async throws(StoreError) -> MessagePage
  {
    var reports: [MessageReport] = []
    var place = cursor
    var looked = 0
    // One more tells whether there is a next page.
    while reports.count <= limit, label == nil || looked < Self.mostLookedAt {
      let wanted = limit + 1 - reports.count
      let ids = try await identifiers(app: app, before: place, limit: label == nil ? wanted : Self.lookedAtOnce)
      guard let last = ids.last else { return MessagePage(reports: reports, next: nil) }
      let found = if let label { try await labelled(label, among: ids, app) } else { ids }
      reports += try await self.reports(Array(found.prefix(wanted)), app: app)
      place = last
      looked += ids.count
    }
    if reports.count > limit {
      reports.removeLast(reports.count - limit)
      return MessagePage(reports: reports, next: reports.last?.id ?? cursor)
    }
    return MessagePage(reports: reports, next: place)
  }

  private func labelled(_ label: String, among ids: [MessageID], _ app: AppID) async throws(StoreError) -> [MessageID] {
    zip(ids, try await MessageArchive(session).find(ids)).filter { _, parts in
      guard let parts, parts.text("app") == app.rawValue else { return false }
      return parts.labels.hold(label)
    }.map(\.0)
  }
}
