import Domain
import JSON

extension ComposeForm {
  /// A draft as the API answers it. Each field takes what it can show; the rest stays JSON, so that nothing is lost.
  init(draft document: JSONValue) {
    self.init()
    draft = document["id"]?.string ?? ""
    version = document["version"]?.integer.map { String($0) } ?? ""
    var members = document["message"]?.object ?? []
    let ownName = members.takeText("name")
    name = document["name"]?.string ?? ownName ?? ""
    kind = members.takeText("kind") ?? "alert"
    readNotification(from: &members)
    if let object = members["data"]?.object {
      data = Self.shown(object)
      members.put("data", nil)
    }
    if kind == "alert" {
      readVariants(from: &members)
      holdout = members.takeNumber("holdout") ?? ""
    }
    readRecipients(from: &members)
    readTime(from: &members)
    perSecond = members.takeNumber("rate_per_second") ?? ""
    ttl = members.takeNumber("ttl") ?? ""
    readQuietHours(from: &members)
    readCap(from: &members)
    collapseKey = members.takeText("collapse_key") ?? ""
    rest = Self.shown(members)
  }

  // MARK: Parts

  private mutating func readNotification(from members: inout [JSONMember]) {
    guard kind == "alert", var notification = members["notification"]?.object else { return }
    words = [Words(from: &notification)]
    if let localized = notification["localized"]?.object, localized.count < Self.mostWords,
      localized.allSatisfy({ $0.value.object?.allSatisfy(Words.has) == true })
    {
      notification.removeAll { $0.key == "localized" }
      for var one in localized.map({ ($0.key, $0.value.object ?? []) }) {
        var own = Words(from: &one.1)
        own.language = one.0
        words.append(own)
      }
    }
    image = notification.takeText("image") ?? ""
    link = notification.takeText("link") ?? ""
    if let all = notification["buttons"]?.array, all.count <= Self.mostButtons,
      all.allSatisfy({
        $0.object?.allSatisfy { ["id", "text", "url"].contains($0.key) && $0.value.string != nil } == true
      })
    {
      notification.removeAll { $0.key == "buttons" }
      buttons = all.map { button in
        Button(
          id: button["id"]?.string ?? "", title: button["text"]?.string ?? "", link: button["url"]?.string ?? "")
      }
    }
    sound = notification.takeText("sound") ?? ""
    badge = notification.takeNumber("badge") ?? ""
    members.put("notification", notification.isEmpty ? nil : .object(notification))
  }

  private mutating func readVariants(from members: inout [JSONMember]) {
    guard let all = members["variants"]?.array, all.count <= Self.mostVariants else { return }
    let isShown = all.allSatisfy { variant in
      variant.object?.allSatisfy { member in
        switch member.key {
        case "name": member.value.string != nil
        case "weight": member.value.isNumber
        case "notification":
          member.value.object?.allSatisfy { ["title", "body"].contains($0.key) && $0.value.string != nil } == true
        default: false
        }
      } == true
    }
    guard isShown else { return }
    members.removeAll { $0.key == "variants" }
    variants = all.map { variant in
      Variant(
        name: variant["name"]?.string ?? "", share: variant["weight"]?.number ?? "",
        title: variant["notification"]?["title"]?.string ?? "", body: variant["notification"]?["body"]?.string ?? "")
    }
  }

  private mutating func readRecipients(from members: inout [JSONMember]) {
    reach = members.takeText("reach") ?? Self.allDevices
    guard let to = members["to"]?.object, to.count == 1 else { return }
    if let expression = to["audience"]?.string {
      audience = expression
    } else if to["everyone"]?.bool == true {
      audience = "everyone"
    } else {
      return
    }
    members.removeAll { $0.key == "to" }
  }

  private mutating func readTime(from members: inout [JSONMember]) {
    if let moment = members["send_at"]?.string, let parts = Self.clock(moment) {
      (time, at, offset) = (.at, parts.clock, parts.offset)
      members.removeAll { $0.key == "send_at" }
    } else if let local = members["send_at_local"]?.string, let parts = Self.clock(local + "Z") {
      (time, at) = (.atLocal, parts.clock)
      members.removeAll { $0.key == "send_at_local" }
    }
  }

  /// Date and time as a browser takes them, and the offset behind them; nil: this is no time. Parts of a second are dropped.
  static func clock(_ text: String) -> (clock: String, offset: String)? {
    guard WallTime(rfc3339: text) != nil, text.utf8.count >= 20 else { return nil }
    let clock = text.prefix(19).uppercased()
    let behind = text.dropFirst(19).drop { $0 == "." || $0.isNumber }.uppercased()
    let isWhole = clock.hasSuffix(":00")
    return (isWhole ? String(clock.dropLast(3)) : clock, behind == "Z" ? "+00:00" : behind)
  }

  private mutating func readQuietHours(from members: inout [JSONMember]) {
    if members["quiet_hours"]?.bool == false {
      quiet = .none
      members.removeAll { $0.key == "quiet_hours" }
    } else if var hours = members["quiet_hours"]?.object {
      quiet = .own
      quietFrom = hours.takeText("from") ?? ""
      quietTo = hours.takeText("to") ?? ""
      quietElse = hours.takeText("else") ?? "hold"
      // A zone of their own stays in the JSON.
      members.put("quiet_hours", hours.isEmpty ? nil : .object(hours))
    }
  }

  private mutating func readCap(from members: inout [JSONMember]) {
    guard let cap = members["cap"]?.object, let maximum = cap["max"]?.number, let period = cap["per"]?.string,
      cap.count == 2
    else { return }
    (isCapped, capMaximum, capPeriod) = (true, maximum, period)
    topic = members.takeText("topic") ?? ""
    members.removeAll { $0.key == "cap" }
  }

  private static func shown(_ members: [JSONMember]) -> String {
    members.isEmpty ? "" : PrettyJSON.text(.object(members))
  }
}

extension ComposeForm.Words {
  /// Takes the words out of a notification.
  fileprivate init(from members: inout [JSONMember]) {
    title = members.takeText("title") ?? ""
    subtitle = members.takeText("subtitle") ?? ""
    body = members.takeText("body") ?? ""
  }

  fileprivate static func has(_ member: JSONMember) -> Bool {
    ["title", "subtitle", "body"].contains(member.key) && member.value.string != nil
  }
}

extension [JSONMember] {
  /// Sets a member, or takes it away.
  mutating func put(_ key: String, _ value: JSONValue?) {
    if value == nil { removeAll { $0.key == key } } else { set(key, value) }
  }

  fileprivate mutating func take(_ key: String) -> JSONValue? {
    firstIndex { $0.key == key }.map { remove(at: $0).value }
  }
  /// Only a text is taken.
  fileprivate mutating func takeText(_ key: String) -> String? {
    self[key]?.string.flatMap { _ in take(key)?.string }
  }
  fileprivate mutating func takeNumber(_ key: String) -> String? {
    self[key]?.number.flatMap { _ in take(key)?.number }
  }
}

extension JSONValue {
  fileprivate var isNumber: Bool { number != nil }

  /// As one types it.
  var number: String? {
    switch self {
    case .integer(let whole): String(whole)
    case .double(let number): "\(number)"
    default: nil
    }
  }
}
