import Domain
import JSON

/// An answer with its four forms of `errors` brought into one.
struct OneSignalReply: Sendable {
  /// Nil: no such member. Empty: nothing was sent. The start of a Live Activity calls it `notification_id`.
  var id: String?
  /// Sentences, titles or codes, for people; no contract.
  var texts: [String] = []
  /// The first `code` of `{code,title,meta}`.
  var code: String?
  /// Ids of `invalid_player_ids` and `invalid_subscription_ids`, lower case.
  var unsubscribed: Set<String> = []
  var invalidAliases = 0
  var warnings = 0
  var hasErrors = false

  static let depth = 16
  static let longestText = 64

  /// Nil: no JSON object.
  init?(_ body: [UInt8]) {
    guard let document = try? JSON.parse(body, maximumDepth: Self.depth), document.object != nil else { return nil }
    id = document["id"]?.string ?? document["notification_id"]?.string
    switch document["warnings"] {
    case .array(let items): warnings = items.count
    case .object(let members): warnings = members.count
    default: break
    }
    switch document["errors"] {
    case nil, .null?: break
    case .string(let text)?:
      hasErrors = true
      texts = [text]
    case .array(let items)?:
      hasErrors = !items.isEmpty
      for item in items { read(item) }
    case .object(let members)?:
      hasErrors = !members.isEmpty
      for member in members { read(member) }
    default: hasErrors = true
    }
  }

  private mutating func read(_ item: JSONValue) {
    if let text = item.string { return texts.append(text) }
    if let code = item["code"]?.string { self.code = self.code ?? code }
    if let title = item["title"]?.string { texts.append(title) }
  }

  private mutating func read(_ member: JSONMember) {
    switch member.key {
    case "invalid_player_ids", "invalid_subscription_ids":
      for id in member.value.array ?? [] { if let id = id.string { unsubscribed.insert(id.lowercased()) } }
    case "invalid_aliases":
      for label in member.value.object ?? [] { invalidAliases += label.value.array?.count ?? 0 }
    default: texts.append(member.key)
    }
  }

  /// The service's stable word, else the start of its sentence as one line without anything that could be a key or token.
  func reason(status: Int) -> String {
    let source = code ?? texts.first ?? ""
    let words = source.split(whereSeparator: \.isWhitespace).map { word in
      word.utf8.count > 32 || !word.utf8.allSatisfy { (0x21...0x7e).contains($0) } ? "…" : String(word)
    }
    var text = words.first ?? ""
    for word in words.dropFirst() {
      guard text.utf8.count + 1 + word.utf8.count <= Self.longestText else {
        text += " …"
        break
      }
      text += " " + word
    }
    return text.isEmpty ? "HTTP \(status)" : text
  }
}
