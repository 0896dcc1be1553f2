import Domain
import JSON

/// What OneSignal answers: refusals, rules' answers, and the answer that names members.
extension OneSignalVendor {
  static let headers = [Header("content-type", "application/json; charset=utf-8")]

  static func refusal(_ status: Int, _ errors: [String]) -> VendorAnswer {
    VendorAnswer(
      status: status, reason: String(errors[0].prefix(100)), headers: headers,
      body: JSONValue.object([JSONMember("errors", .array(errors.map { .string($0) }))]).encoded)
  }
  static let denied = refusal(
    403,
    [
      "Access denied.  Please include an 'Authorization: ...' header with a valid API key (https://documentation.onesignal.com/docs/accounts-and-keys)."
    ])
  static let unauthorized = VendorAnswer(
    status: 401, reason: "auth-1", headers: headers,
    body: Array(#"{"errors":[{"code":"auth-1","title":"Missing or invalid API key"}]}"#.utf8))
  static let notSubscribed = "not_subscribed"

  func refuses(_ reply: Rule.Reply) -> Bool { reply.status >= 300 || reply.reason == Self.notSubscribed }

  /// The answer of a rule.
  func answer(_ reply: Rule.Reply, to examination: Examination) -> VendorAnswer {
    var answer: VendorAnswer
    switch reply.status {
    case 200, 201:
      guard reply.reason == Self.notSubscribed else { return reply.filling(examination.answer) }
      answer = VendorAnswer(
        status: 200, reason: Self.notSubscribed, headers: Self.headers,
        body: Array(#"{"id":"","errors":["All included players are not subscribed"]}"#.utf8))
    case 401: answer = Self.unauthorized
    case 403: answer = reply.reason.map { Self.refusal(403, [$0]) } ?? Self.denied
    case 404: answer = Self.refusal(404, [reply.reason ?? "Notification not found"])
    case 429: answer = Self.refusal(429, [reply.reason ?? "API rate limit exceeded"])
    case 503: answer = Self.refusal(503, [reply.reason ?? "Service temporarily unavailable"])
    case 500...: answer = VendorAnswer(status: reply.status, reason: reply.reason ?? "server error")
    default: answer = Self.refusal(reply.status, [reply.reason ?? "Bad request"])
    }
    // "always present" with 429
    if let wait = reply.retryAfter ?? (reply.status == 429 ? "1" : nil) {
      answer.headers.append(Header("retry-after", wait))
    }
    return reply.filling(answer)
  }

  /// The partial answer that names these members.
  func partial(_ reason: String, _ picked: [String], _ examination: Examination) -> VendorAnswer {
    var answer = examination.answer
    let errors: JSONValue
    if reason == "invalid_aliases" {
      var labels: [JSONMember] = []
      for member in picked {
        let parts = member.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, parts[0] == "alias" else { continue }
        let place = labels.firstIndex { $0.key == parts[1] } ?? labels.count
        if place == labels.count { labels.append(JSONMember(parts[1], .array([]))) }
        labels[place].value = .array((labels[place].value.array ?? []) + [.string(parts[2])])
      }
      errors = .object(labels)
    } else {
      errors = .array(picked.map { .string($0) })
    }
    let echo: JSONValue = examination.id.isEmpty ? .null : .string(examination.id)
    answer.body =
      JSONValue.object([
        JSONMember("id", .string(answer.name)), JSONMember("external_id", echo),
        JSONMember("errors", .object([JSONMember(reason, errors)])),
      ]).encoded
    return answer
  }
}
