import Domain
import JSON
import Support
import Testing

/// A request that somebody in a hurry sends, and what has to come back.
private struct Slip {
  var method = "POST"
  var path = "/v1/messages"
  var body: String?
  var headers: [Header] = []
  var status: Int
  /// Words of `detail` or of a violation that name the place or the fix.
  var says: [String]

  init(
    _ method: String = "POST", _ path: String = "/v1/messages", _ body: String? = nil, _ headers: [Header] = [],
    _ status: Int, _ says: String...
  ) {
    (self.method, self.path, self.body, self.headers, self.status, self.says) =
      (method, path, body, headers, status, says)
  }

  /// A message with these members beside a right recipient.
  static func message(_ members: String, _ status: Int = 422, _ says: String...) -> Slip {
    var slip = Slip("POST", "/v1/messages", #"{"to":{"devices":["d1"]},\#(members)}"#, [], status)
    slip.says = says
    return slip
  }
  /// A message with this recipient.
  static func to(_ recipients: String, _ says: String...) -> Slip {
    var slip = Slip("POST", "/v1/messages", #"{"to":\#(recipients),"notification":{"body":"Hi"}}"#, [], 422)
    slip.says = says
    return slip
  }
  static func device(_ members: String, _ says: String...) -> Slip {
    var slip = Slip("PUT", "/v1/devices/d2", "{\(members)}", [], 422)
    slip.says = says
    return slip
  }
}

extension Journeys {
  private static let alert = #""notification":{"body":"Hi"}"#
  private static let fcm = #""provider":"fcm","token":"t1""#

  private static let slips: [Slip] = [
    // The body as a whole.
    Slip("POST", "/v1/messages", "", [], 400, "JSON"), Slip("POST", "/v1/messages", "{", [], 400, "column"),
    Slip("POST", "/v1/messages", "[]", [], 422, "object"), Slip("POST", "/v1/messages", "null", [], 422, "object"),
    Slip("POST", "/v1/messages", "\"text\"", [], 422, "object"), Slip("POST", "/v1/messages", "{}", [], 422, "`to`"),
    Slip("POST", "/v1/messages", "{'to':1}", [], 400, "column"),
    Slip("POST", "/v1/messages", "{\"to\":1,}", [], 400, "column"),
    Slip("POST", "/v1/messages", "{} {}", [], 400, "column"),
    Slip("POST", "/v1/messages", "{\"a\":01}", [], 400, "column"),
    Slip("POST", "/v1/messages", "{\"a\":\"\\u12\"}", [], 400, "column"),
    Slip(
      "POST", "/v1/messages", String(repeating: "[", count: 40) + String(repeating: "]", count: 40), [], 400, "deep"),
    Slip("POST", "/v1/messages", "to=d1", [.init("content-type", "application/x-www-form-urlencoded")], 415, "json"),
    Slip("POST", "/v1/messages", "{}", [.init("content-type", "text/plain")], 415, "application/json"),
    Slip("POST", "/v1/devices/bulk", "{}", [.init("content-type", "application/json")], 415, "application/x-ndjson"),
    // Whom it is for.
    .to("{}", "/to"), .to("\"d1\"", "/to"), .to("[\"d1\"]", "/to"), .to(#"{"device":"d1"}"#, "devices"),
    .to(#"{"devices":"d1"}"#, "/to/devices"), .to(#"{"devices":[]}"#, "/to/devices"),
    .to(#"{"devices":[1]}"#, "/to/devices/0"), .to(#"{"devices":["a b"]}"#, "/to/devices/0"),
    .to(#"{"devices":["d1"],"audience":"everyone"}"#, "/to"), .to(#"{"users":[""]}"#, "/to/users/0"),
    .to(#"{"tokens":[{"provider":"fcm"}]}"#, "token"), .to(#"{"tokens":[{"token":"t"}]}"#, "provider"),
    .to(#"{"tokens":[{"provider":"fmc","token":"t"}]}"#, "fcm"), .to(#"{"tokens":["t"]}"#, "/to/tokens/0"),
    .to(#"{"tokens":[{"provider":"apns","token":"xyz"}]}"#, "/to/tokens/0/token"),
    .to(#"{"audience":""}"#, "/to/audience"), .to(#"{"audience":"plan:"}"#, "/to/audience"),
    .to(#"{"audience":"a &&"}"#, "/to/audience"), .to(#"{"audience":"(a"}"#, "/to/audience"),
    .to(#"{"audience":"a & b"}"#, "&&"), .to(#"{"audience":"seen:<30x"}"#, "/to/audience"),
    .to(#"{"everyone":false}"#, "everyone"), .to(#"{"everyone":"yes"}"#, "/to/everyone"),
    .to(#"{"channel":{}}"#, "/to/channel"), .to(#"{"filters":{}}"#, "/to/filters"),
    // What it says.
    .message(#""notification":{}"#, 422, "/notification"), .message(#""notification":"Hi""#, 422, "/notification"),
    .message(#""notification":{"text":"Hi"}"#, 422, "/notification/text"),
    .message(#""notification":{"title":7}"#, 422, "/notification/title"),
    .message(#""notification":{"boddy":"Hi"}"#, 422, "body"), .message(#""kind":"alert""#, 422, "notification"),
    .message(#""kind":"alarm",\#(alert)"#, 422, "alert"),
    .message(#""kind":"background",\#(alert)"#, 422, "/notification"),
    .message(#""kind":"live_activity""#, 422, "live_activity"), .message(#""titel":"x",\#(alert)"#, 422, "/titel"),
    .message(#""data":[],\#(alert)"#, 422, "/data"), .message(#""data":"x",\#(alert)"#, 422, "/data"),
    .message(#""ttl":-1,\#(alert)"#, 422, "/ttl"), .message(#""ttl":"1h",\#(alert)"#, 422, "/ttl"),
    .message(#""ttl":1e12,\#(alert)"#, 422, "/ttl"), .message(#""ttl":1.5,\#(alert)"#, 422, "/ttl"),
    .message(#""priority":"urgent",\#(alert)"#, 422, "high"), .message(#""priority":10,\#(alert)"#, 422, "/priority"),
    .message(#""collapse_key":"",\#(alert)"#, 422, "/collapse_key"),
    .message(#""link":"no url",\#(alert)"#, 422, "/link"),
    .message(#""providers":["gcm"],\#(alert)"#, 422, "/providers/0"),
    .message(#""providers":"fcm",\#(alert)"#, 422, "/providers"),
    .message(#""labels":{"a":{}},\#(alert)"#, 422, "/labels"),
    .message(#""send_at":"tomorrow",\#(alert)"#, 422, "offset from UTC"),
    .message(#""send_at":"2026-12-01T09:00:00",\#(alert)"#, 422, "send_at_local"),
    .message(#""send_at":"2001-01-01T00:00:00Z",\#(alert)"#, 422, "passed"),
    .message(#""send_at":"9999-01-01T00:00:00Z",\#(alert)"#, 422, "days"),
    .message(#""send_at_local":"2026-12-01T09:00:00Z",\#(alert)"#, 422, "without an offset"),
    .message(#""quiet_hours":true,\#(alert)"#, 422, "22:00"),
    .message(#""quiet_hours":{"from":"22:00","to":"22:00"},\#(alert)"#, 422, "/quiet_hours/to"),
    .message(#""quiet_hours":{"from":"25:00","to":"08:00"},\#(alert)"#, 422, "00:00"),
    .message(#""quiet_hours":{"from":"22:00","to":"08:00","zone":"Wien"},\#(alert)"#, 422, "Europe/Vienna"),
    .message(#""cap":{"max":1,"per":"day"},\#(alert)"#, 422, "/topic"),
    .message(#""topic":"offers",\#(alert)"#, 422, "`cap`"),
    .message(#""cap":{"max":1,"per":"month"},"topic":"offers",\#(alert)"#, 422, "/cap/per"),
    .message(#""holdout":100,\#(alert)"#, 422, "/holdout"), .message(#""holdout":10.123,\#(alert)"#, 422, "decimals"),
    .message(#""variants":[],\#(alert)"#, 422, "/variants"),
    .message(#""variants":[{"name":"a","weight":50}],\#(alert)"#, 422, "add 50"),
    .message(#""variants":[{"weight":100}],\#(alert)"#, 422, "name"),
    .message(#""rate_per_second":0,\#(alert)"#, 422, "/rate_per_second"),
    .message(#""durability":{"replicas":99},\#(alert)"#, 422, "/durability"),
    .message(#""overrides":{"apns":{"headers":{"authorization":"x"}}},\#(alert)"#, 422, "/overrides"),
    .message(#""notification":{"body":"Hi {{name"}"#, 422, "/notification/body"),
    .message(#""notification":{"body":"Hi","image":"http://x/y.png"}"#, 422, "https"),
    .message(#""notification":{"body":"Hi","badge":-1}"#, 422, "/notification/badge"),
    .message(#""notification":{"body":"Hi","localized":{"de!":{"body":"x"}}}"#, 422, "/notification/localized"),
    // Parameters, headers and paths.
    Slip("GET", "/v1/messages?limit=0", nil, [], 400, "1…1000"),
    Slip("GET", "/v1/messages?limit=ten", nil, [], 400, "1…1000"),
    Slip("GET", "/v1/messages?limits=5", nil, [], 400, "`limit`"),
    Slip("GET", "/v1/messages?limit=1&limit=1", nil, [], 400, "once"),
    Slip("GET", "/v1/messages?cursor=abc", nil, [], 400, "cursor"),
    Slip("GET", "/v1/messages?label=x", nil, [], 400, "label"),
    Slip("POST", "/v1/messages?dry_run=yes", #"{}"#, [], 400, "true or false"),
    Slip("POST", "/v1/messages?dry-run=true", #"{}"#, [], 400, "dry_run"),
    Slip("POST", "/v1/messages", "{}", [.init("idempotency-key", "")], 400, "Idempotency-Key"),
    Slip("POST", "/v1/messages", "{}", [.init("idempotency-key", String(repeating: "k", count: 256))], 400, "255"),
    Slip("GET", "/v1/message", nil, [], 404, "/v1/messages"),
    Slip("GET", "/v1/messages/", nil, [], 404, "/v1/messages"),
    Slip("GET", "/messages", nil, [], 404, "/v1/messages"),
    Slip("GET", "/v1/messages/msg_nope", nil, [], 404, "No message has"),
    Slip("GET", "/v1/users/%zz", nil, [], 400, "%"), Slip("DELETE", "/v1/messages", nil, [], 405, "GET"),
    Slip("PUT", "/v1/devices/export", "{}", [], 405, "GET"),
    Slip("GET", "/v1/drafts/drf_nope", nil, [], 404, "No draft has"),
    Slip("POST", "/v1/messages/msg_nope/cancel", "", [], 404, "No message has"),
    // Devices, drafts, audiences.
    .device("", "provider"), .device(#""provider":"fcm""#, "token"),
    .device(#""provider":"gcm","token":"t""#, "provider"),
    .device(#"\#(fcm),"tz":"Vienna""#, "Europe/Vienna"), .device(#"\#(fcm),"language":"german!""#, "/language"),
    .device(#"\#(fcm),"tags":"vip""#, "/tags"), .device(#"\#(fcm),"tags":["a b c",7]"#, "/tags"),
    .device(#"\#(fcm),"enabled":"no""#, "/enabled"), .device(#"\#(fcm),"id":"other""#, "path"),
    .device(#"\#(fcm),"registered_at":"2026-01-01T00:00:00Z""#, "server"),
    .device(#"\#(fcm),"last_seen_at":"yesterday""#, "offset from UTC"),
    .device(#"\#(fcm),"authorization":"granted""#, "authorized"),
    .device(#"\#(fcm),"attributes":{"a":{"b":1}}"#, "/attributes"), .device(#"\#(fcm),"user":7"#, "/user"),
    Slip("POST", "/v1/drafts", #"{"name":"x"}"#, [], 422, "message"),
    Slip("POST", "/v1/drafts", #"{"message":[]}"#, [], 422, "/message"),
    Slip("POST", "/v1/audiences/count", #"{}"#, [], 422, "audience"),
    Slip("PUT", "/v1/audiences/a%20b", #"{"audience":"everyone"}"#, [], 422, "letters"),
    Slip("PUT", "/v1/test_lists/t", #"{"devices":"d1"}"#, [], 422, "/devices"),
    Slip("PATCH", "/v1/devices/d1/tags", #"{"plus":["a"]}"#, [], 422, "add"),
    Slip("POST", "/v1/channels", #"{"environment":"test"}"#, [], 422, "sandbox"),
  ]

  @Test("a hundred malformed requests, each refused by a problem document that names the place or the fix")
  func malformedRequests() async throws {
    let world = try await World()
    let gateway = try await world.gateway()
    let made = try await gateway.client.put("/v1/devices/d1", "{\(Self.fcm)}")
    #expect(made.status == 201, "\(made.text)")
    #expect(Self.slips.count >= 100)
    for slip in Self.slips {
      let answer = try await gateway.client.call(slip.method, slip.path, slip.body, headers: slip.headers)
      let sent = "\(slip.method) \(slip.path) \((slip.body ?? "").prefix(200))"
      #expect(answer.status == slip.status, "\(sent): \(answer.text)")
      #expect(answer.header("content-type")?.hasPrefix("application/problem+json") == true, "\(sent)")
      let problem = answer.json
      #expect(
        problem["status"]?.integer == Int64(answer.status) && problem["code"]?.string != nil, "\(sent): \(answer.text)")
      guard let detail = problem["detail"]?.string else {
        Issue.record("\(sent) has no detail: \(answer.text)")
        continue
      }
      #expect(detail.utf8.count > 10, "\(sent): \(detail)")
      let told =
        ([detail]
        + (problem["violations"]?.array ?? []).flatMap {
          [$0["pointer"]?.string ?? "", $0["detail"]?.string ?? ""]
        }).joined(separator: " | ")
      for word in slip.says { #expect(told.contains(word), "\(sent) does not say `\(word)`: \(told)") }
    }
    #expect(try await gateway.client.get("/v1/messages").json["items"]?.array?.isEmpty == true, "nothing was sent")
    #expect(try await gateway.client.get("/readyz").status == 200)
  }
}
