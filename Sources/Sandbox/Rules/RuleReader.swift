import Domain
import JSON

/// What is wrong with one rule; `rule` counts from 0, nil for the document.
package struct RuleFault: Error, Hashable, Sendable {
  package var rule: Int?
  package var field: String
  package var problem: String
}

/// Never empty.
package struct RuleFaults: Error, Hashable, Sendable { package var faults: [RuleFault] }

/// Reads the JSON array of `PUT /rules`. All faults at once; unknown fields are faults.
package enum RuleReader {
  static let maximumRules = 1000
  static let maximumDelay: Int64 = 3_600_000
  static let maximumBodyBytes: Int64 = 1 << 40

  /// At most 1,000 rules. Throws all faults of all rules.
  package static func read(_ bytes: [UInt8]) throws(RuleFaults) -> [Rule] {
    let document: JSONValue
    do { document = try JSON.parse(bytes) } catch {
      throw RuleFaults(faults: [RuleFault(rule: nil, field: "", problem: "not JSON: \(error.detail)")])
    }
    guard let items = document.array else {
      throw RuleFaults(faults: [RuleFault(rule: nil, field: "", problem: "must be an array of rules")])
    }
    guard items.count <= maximumRules else {
      throw RuleFaults(faults: [RuleFault(rule: nil, field: "", problem: "at most \(maximumRules) rules")])
    }
    var faults: [RuleFault] = []
    var rules: [Rule] = []
    for (index, item) in items.enumerated() {
      var reading = OneRule(index: index)
      reading.read(item)
      faults += reading.faults
      rules.append(reading.rule)
    }
    guard faults.isEmpty else { throw RuleFaults(faults: faults) }
    return rules
  }
}

private struct OneRule {
  let index: Int
  var rule = Rule()
  var faults: [RuleFault] = []
  private var fields: [String: JSONValue] = [:]

  init(index: Int) { self.index = index }

  private static let known: Set<String> = [
    "name", "provider", "token", "share", "times", "times_per_token", "after", "when", "status", "reason", "timestamp",
    "retry_after", "body", "body_bytes", "delay_ms", "action", "code", "streams", "bytes", "certificate", "every_ms",
  ]

  mutating func read(_ value: JSONValue) {
    guard let members = value.object else { return fault("", "must be an object") }
    for member in members {
      if Self.known.contains(member.key) {
        fields[member.key] = member.value
      } else {
        fault(member.key, "unknown field; known: \(Self.known.sorted().joined(separator: ", "))")
      }
    }
    readMatch()
    readReply()
    readAction()
    if rule.reply == nil, rule.action == nil, rule.delay == 0 {
      fault("", "does nothing: give status, action or delay_ms")
    }
  }

  private mutating func readMatch() {
    rule.name = text("name")
    if let word = text("provider") {
      rule.provider = SandboxProvider(word: word)
      if rule.provider == nil {
        fault("provider", "must be one of: \(SandboxProvider.allCases.map(\.word).joined(separator: ", "))")
      }
    }
    if let token = text("token") {
      rule.token = token
      if token.isEmpty { fault("token", "must not be empty; * matches every token") }
    }
    if let share = fields["share"] {
      let number: Double? =
        switch share {
        case .integer(let whole): Double(whole)
        case .double(let number): number
        default: nil
        }
      if let number, (0...1).contains(number) { rule.share = number } else { fault("share", "must be a number 0…1") }
    }
    rule.times = whole("times", in: 1...Int64(Int32.max)).map(Int.init)
    rule.timesPerToken = whole("times_per_token", in: 1...1_000_000).map(Int.init)
    rule.after = whole("after", in: 0...Int64(Int32.max)).map(Int.init) ?? 0
    if let when = text("when") {
      if let known = Rule.When(rawValue: when) { rule.when = known } else { fault("when", "must be before or after") }
    }
    rule.delay = whole("delay_ms", in: 1...RuleReader.maximumDelay) ?? 0
  }

  private mutating func readReply() {
    let timestamp = whole("timestamp", in: 0...Int64.max)
    let retryAfter = readRetryAfter()
    let body = text("body")
    let bodyBytes = whole("body_bytes", in: 1...RuleReader.maximumBodyBytes).map(Int.init)
    if body != nil, bodyBytes != nil { fault("body_bytes", "excludes body") }
    guard fields["status"] != nil else {
      for (name, given) in [
        ("timestamp", timestamp != nil), ("retry_after", retryAfter != nil), ("body", body != nil),
        ("body_bytes", bodyBytes != nil),
      ] where given { fault(name, "needs status") }
      if fields["reason"] != nil, fields["action"]?.string != "goaway" { fault("reason", "needs status or goaway") }
      return
    }
    guard let status = whole("status", in: 200...999) else { return }
    if timestamp != nil, status != 410 { fault("timestamp", "goes with status 410") }
    let reason = text("reason")
    if let reason, !reason.utf8.allSatisfy({ (0x20...0x7e).contains($0) }) {
      fault("reason", "must be printable ASCII")
    }
    rule.reply = Rule.Reply(
      status: Int(status), reason: reason, timestamp: timestamp, retryAfter: retryAfter, body: body,
      bodyBytes: bodyBytes)
    if rule.picksMembers, rule.provider != .oneSignal {
      fault("reason", "\(reason ?? "") is OneSignal's: give provider onesignal")
    }
  }

  /// Seconds as a number, or the header's text, which may be a date.
  private mutating func readRetryAfter() -> String? {
    guard let text = fields["retry_after"]?.string else {
      return whole("retry_after", in: 0...86_400).map { String($0) }
    }
    guard (1...64).contains(text.utf8.count), text.utf8.allSatisfy({ (0x20...0x7e).contains($0) }) else {
      fault("retry_after", "must be a number of seconds, or a text of 1–64 printable ASCII characters")
      return nil
    }
    return text
  }

  /// Fields that only some actions have.
  private static let actionFields: [String: Set<String>] = [
    "code": ["goaway", "reset"], "streams": ["settings"], "bytes": ["headers"], "certificate": ["certificate"],
    "every_ms": ["handshake"],
  ]
  private static let actions = [
    "certificate", "close", "expire", "goaway", "handshake", "headers", "hpack", "reset", "settings", "stall",
  ]

  private mutating func readAction() {
    let code = whole("code", in: 0...Int64(UInt32.max)).map { UInt32($0) }
    let streams = whole("streams", in: 0...100_000).map(Int.init)
    let bytes = whole("bytes", in: 1...RuleReader.maximumBodyBytes).map(Int.init)
    let every = whole("every_ms", in: 1...RuleReader.maximumDelay)
    let word = text("action")
    for (name, actions) in Self.actionFields.sorted(by: { $0.key < $1.key })
    where fields[name] != nil && !actions.contains(word ?? "") {
      fault(name, "needs action \(actions.sorted().joined(separator: " or "))")
    }
    guard let word else { return }
    if fields["status"] != nil { fault("action", "excludes status: a request gets one or the other") }
    switch word {
    case "goaway": rule.action = .goaway(code: code ?? 0, reason: text("reason") ?? "Shutdown")
    case "reset": rule.action = .reset(code: code ?? (rule.when == .before ? 7 : 2))
    case "stall": rule.action = .stall
    case "close": rule.action = .close
    case "headers": rule.action = .headers(bytes: bytes)
    case "hpack": rule.action = .hpack
    case "expire": rule.action = .expire
    case "certificate": readCertificate()
    case "handshake": rule.action = .handshake(every: every)
    case "settings":
      rule.action = .streams(streams ?? 1)
      if fields["streams"] == nil { fault("streams", "missing: the number of streams to announce") }
      rule.when = .after
    default: fault("action", "must be one of: \(Self.actions.joined(separator: ", "))")
    }
    if rule.meetsConnections {
      for name in ["token", "times_per_token", "when", "delay_ms"] where fields[name] != nil {
        fault(name, "\(word) meets connections, not requests")
      }
    }
    if rule.action == .expire, let provider = rule.provider, !provider.hasExpiringCredentials {
      fault("action", "expire is for provider and access tokens: apns, channels, fcm")
    }
  }

  private mutating func readCertificate() {
    let words = Rule.CertificateFault.allCases.map(\.rawValue)
    guard let known = text("certificate").flatMap({ Rule.CertificateFault(rawValue: $0) }) else {
      return fault("certificate", "must be one of: \(words.joined(separator: ", "))")
    }
    rule.action = .certificate(known)
  }

  private mutating func fault(_ field: String, _ problem: String) {
    faults.append(RuleFault(rule: index, field: field, problem: problem))
  }
  private mutating func text(_ name: String) -> String? {
    guard let value = fields[name] else { return nil }
    if let text = value.string { return text }
    fault(name, "must be a string")
    return nil
  }
  private mutating func whole(_ name: String, in range: ClosedRange<Int64>) -> Int64? {
    guard let value = fields[name] else { return nil }
    if let number = value.integer, range.contains(number) { return number }
    fault(name, "must be a whole number \(range.lowerBound)…\(range.upperBound)")
    return nil
  }
}
