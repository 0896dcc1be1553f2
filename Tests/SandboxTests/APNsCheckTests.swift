import Domain
import TLS
import Testing

@testable import Sandbox

private let token = String(repeating: "0a", count: 32)
private let alert = #"{"aps":{"alert":"hi"}}"#

@Suite struct APNsCheckTests {
  private func refusal(
    token: String = token,
    _ headers: [(String, String)] = [("apns-topic", "com.example.app"), ("apns-push-type", "alert")],
    _ body: String = alert
  ) -> String? {
    var check = APNsRequestCheck()
    var topic = headers.first { $0.0 == "apns-topic" }?.1 ?? ""
    return check.refusal(
      token: token, headers: headers.map { Header($0.0, $0.1) }, body: Array(body.utf8),
      topics: .bundles(["com.example.app"]), topic: &topic)?.rawValue
  }

  @Test(
    "the sheet's requests pass (R1–R9, R11, R12)",
    arguments: [
      (
        "alert", "", "10",
        #"{"aps":{"alert":{"title":"Order shipped","subtitle":"Parcel 1 of 2","body":"Arrives Tuesday"},"badge":3,"sound":"chime.caf","thread-id":"order-881","category":"ORDER"},"orderId":"881"}"#
      ),
      ("background", "", "5", #"{"aps":{"content-available":1},"sync":{"box":"inbox","rev":42}}"#),
      (
        "alert", "", "10",
        #"{"aps":{"alert":{"title":"New photo","body":"Ana posted"},"mutable-content":1,"sound":"default"},"image":"https://cdn.example.com/p/9.jpg"}"#
      ),
      (
        "alert", "", "10",
        #"{"aps":{"alert":{"title":"Gate change","body":"Now B12"},"interruption-level":"time-sensitive","relevance-score":1}}"#
      ),
      (
        "alert", "", "5",
        #"{"aps":{"alert":{"title-loc-key":"INVITE_TITLE","loc-key":"INVITE_BODY","loc-args":["Mia","7"]}}}"#
      ),
      (
        "alert", "", "10",
        #"{"aps":{"alert":{"title":"Leak","body":"Cellar sensor"},"sound":{"critical":1,"name":"siren.caf","volume":0.9},"interruption-level":"critical"}}"#
      ),
      (
        "liveactivity", ".push-type.liveactivity", "5",
        #"{"aps":{"timestamp":1767220000,"event":"update","content-state":{"home":2,"away":1},"stale-date":1767223600,"relevance-score":75}}"#
      ),
      (
        "liveactivity", ".push-type.liveactivity", "10",
        #"{"aps":{"timestamp":1767219000,"event":"start","content-state":{"home":0,"away":0},"attributes-type":"MatchAttributes","attributes":{"matchId":"m7"},"input-push-token":1,"alert":{"title":"Kick-off","body":"Reds v Blues"}}}"#
      ),
      (
        "liveactivity", ".push-type.liveactivity", "10",
        #"{"aps":{"timestamp":1767226000,"event":"end","dismissal-date":1767225999,"content-state":{"home":3,"away":1}}}"#
      ),
      ("voip", ".voip", "10", #"{"callId":"c-551","from":"Ana"}"#),
      ("widgets", ".push-type.widgets", "10", #"{"aps":{"content-changed":true}}"#),
    ])
  func vectors(_ type: String, _ suffix: String, _ priority: String, _ body: String) {
    #expect(
      refusal(
        [
          ("apns-topic", "com.example.app" + suffix), ("apns-push-type", type), ("apns-priority", priority),
          ("apns-expiration", "1767225600"), ("apns-collapse-id", "order-881"),
          ("apns-id", "5d1c6a1e-3c1b-4d0e-9a5e-0d7c2f4b9a10"),
        ], body) == nil)
  }

  @Test(
    "a bad header is refused with the vendor's word",
    arguments: [
      ("apns-id", "not-a-uuid", "BadMessageId"), ("apns-expiration", "soon", "BadExpirationDate"),
      ("apns-expiration", "-1", "BadExpirationDate"), ("apns-priority", "7", "BadPriority"),
      ("apns-priority", "high", "BadPriority"), ("apns-push-type", "widget", "InvalidPushType"),
      ("apns-push-type", "live-activity", "InvalidPushType"), ("apns-push-type", "voip", "InvalidPushType"),
      ("apns-push-type", "background", "BadPriority"), ("apns-topic", "", "MissingTopic"),
      ("apns-topic", "com.other.app", "TopicDisallowed"), ("apns-topic", "com/example", "BadTopic"),
      ("apns-topic", "com.example.app.voip", "InvalidPushType"),
      ("apns-collapse-id", String(repeating: "x", count: 65), "BadCollapseId"),
      ("apns-collapse-id", String(repeating: "é", count: 33), "BadCollapseId"),
    ])
  func headers(_ name: String, _ value: String, _ reason: String) {
    var headers = ["apns-topic": "com.example.app", "apns-push-type": "alert"]
    headers[name] = value
    #expect(refusal(headers.map { ($0.key, $0.value) }) == reason)
  }

  @Test("64 bytes of collapse id, and no push type, are fine; no topic is not")
  func edges() {
    let topic = ("apns-topic", "com.example.app")
    #expect(refusal([topic, ("apns-collapse-id", String(repeating: "x", count: 64))]) == nil)
    #expect(refusal([("apns-push-type", "alert")]) == "MissingTopic")
    #expect(APNsRequestCheck.duplicated([Header("apns-topic", "a"), Header("x", "1"), Header("apns-topic", "a")]))
    #expect(!APNsRequestCheck.duplicated([Header("x", "1"), Header("x", "1")]))
  }

  @Test(
    "tokens are hex, even and of a believable length",
    arguments: [
      (64, "0a", true), (200, "0A", true), (512, "ff", true), (62, "0a", false), (514, "0a", false), (64, "0g", false),
      (64, "0/", false),
    ])
  func tokens(_ length: Int, _ pair: String, _ good: Bool) {
    let text = String(repeating: pair, count: length / 2)
    #expect(refusal(token: text) == (good ? nil : "BadDeviceToken"))
    #expect(refusal(token: text + "0") == "BadDeviceToken")
  }

  @Test("the payload: empty, too large by one byte, no object, and not what its type says")
  func payloads() {
    let topic = ("apns-topic", "com.example.app")
    func body(_ size: Int) -> String { #"{"aps":{"alert":""# + String(repeating: "x", count: size - 20) + #""}}"# }
    #expect(body(4096).utf8.count == 4096)
    #expect(refusal([topic], body(4096)) == nil)
    #expect(refusal([topic], body(4097)) == "PayloadTooLarge")
    let voip = [("apns-topic", "com.example.app.voip"), ("apns-push-type", "voip")]
    #expect(refusal(voip, body(5120)) == nil)
    #expect(refusal(voip, body(5121)) == "PayloadTooLarge")
    #expect(refusal([topic], "") == "PayloadEmpty")
    for bad in ["{", "[]", "7", #"{"aps":1}"#, #"{"data":1}"#] { #expect(refusal([topic], bad) == "BadRequestPayload") }
    let silent = [topic, ("apns-push-type", "background"), ("apns-priority", "5")]
    #expect(refusal(silent, #"{"aps":{"content-available":1}}"#) == nil)
    #expect(refusal(silent, #"{"aps":{"content-available":1,"badge":1}}"#) == "InvalidPushType")
    #expect(refusal([topic, ("apns-push-type", "alert")], #"{"aps":{}}"#) == "InvalidPushType")
  }

  @Test(
    "each type takes its own payload and topic",
    arguments: [
      ("location", ".location-query", "10", #"{"aps":{}}"#), ("complication", ".complication", "5", #"{"score":1}"#),
      ("pushtotalk", ".voip-ptt", "10", #"{"channel":"c"}"#),
      ("fileprovider", ".pushkit.fileprovider", "5", #"{"container-identifier":"c","domain":"d"}"#),
      ("controls", ".push-type.controls", "10", #"{"aps":{"content-changed":true}}"#),
      ("alert", "", "1", #"{"aps":{"alert":"x","content-available":1}}"#),
      (
        "liveactivity", ".push-type.liveactivity", "10",
        #"{"aps":{"timestamp":1,"event":"update","content-state":{},"alert":{"title":{"loc-key":"T","loc-args":["a"]},"body":"b","sound":"x.caf"}}}"#
      ),
    ])
  func types(_ type: String, _ suffix: String, _ priority: String, _ body: String) {
    let headers = [("apns-topic", "com.example.app" + suffix), ("apns-push-type", type), ("apns-priority", priority)]
    #expect(refusal(headers, body) == nil)
    let others = APNsPushType.allCases.filter { $0.topicSuffix != suffix && $0 != .mdm }
    for other in others {
      let wrong = [("apns-topic", "com.example.app" + other.topicSuffix), headers[1], headers[2]]
      #expect(refusal(wrong, body) == "InvalidPushType", "\(type) on \(other)'s topic")
    }
  }

  @Test(
    "a payload that its type does not take is refused",
    arguments: [
      ("liveactivity", #"{"aps":{"event":"update","content-state":{}}}"#, "InvalidPushType"),
      (
        "liveactivity",
        #"{"aps":{"timestamp":1,"event":"start","content-state":{},"attributes":{},"attributes-type":"A"}}"#,
        "InvalidPushType"
      ),
      (
        "liveactivity",
        #"{"aps":{"timestamp":1,"event":"start","content-state":{},"alert":"x","attributes-type":"A"}}"#,
        "InvalidPushType"
      ),
      ("liveactivity", #"{"aps":{"timestamp":1,"event":"update"}}"#, "InvalidPushType"),
      ("liveactivity", #"{"aps":{"timestamp":1,"event":"update","content-state":{},"sound":"x"}}"#, "InvalidPushType"),
      ("liveactivity", #"{"aps":{"timestamp":"now","event":"update","content-state":{}}}"#, "BadRequestPayload"),
      ("liveactivity", #"{"aps":{"timestamp":1,"event":"pause","content-state":{}}}"#, "BadRequestPayload"),
      ("widgets", #"{"aps":{"content-changed":false}}"#, "BadRequestPayload"),
      ("widgets", #"{"aps":{}}"#, "InvalidPushType"),
      ("fileprovider", #"{"domain":"d"}"#, "InvalidPushType"),
      ("fileprovider", #"{"container-identifier":"c","aps":{}}"#, "InvalidPushType"),
      ("alert", #"{"aps":{"alert":{"title":1}}}"#, "BadRequestPayload"),
      ("alert", #"{"aps":{"alert":{"loc-args":[1]}}}"#, "BadRequestPayload"),
      ("alert", #"{"aps":{"alert":"x","badge":"1"}}"#, "BadRequestPayload"),
      ("alert", #"{"aps":{"alert":"x","sound":{"volume":2}}}"#, "BadRequestPayload"),
      ("alert", #"{"aps":{"alert":"x","interruption-level":"time_sensitive"}}"#, "BadRequestPayload"),
      ("alert", #"{"aps":{"alert":"x","relevance-score":2}}"#, "BadRequestPayload"),
      ("alert", #"{"aps":{"timestamp":1,"event":"update","content-state":{}}}"#, "InvalidPushType"),
    ])
  func misfits(_ type: String, _ body: String, _ reason: String) throws {
    let suffix = try #require(APNsPushType(rawValue: type)).topicSuffix
    let headers = [("apns-topic", "com.example.app" + suffix), ("apns-push-type", type), ("apns-priority", "5")]
    #expect(refusal(headers, body) == reason)
  }

  @Test("management: its own topics and payload")
  func management() {
    let topic = ("apns-topic", "com.apple.mgmt.External.8250eaf6-1a58-489e-b136-7c74a864b434")
    #expect(refusal([topic, ("apns-push-type", "mdm")], #"{"mdm":"magic"}"#) == nil)
    #expect(refusal([topic, ("apns-push-type", "mdm")], #"{"aps":{}}"#) == "InvalidPushType")
    #expect(refusal([topic, ("apns-push-type", "alert")]) == "TopicDisallowed")
    #expect(
      refusal([("apns-topic", "com.example.app"), ("apns-push-type", "mdm")], #"{"mdm":"x"}"#) == "InvalidPushType")
  }

  @Test("paths and methods")
  func paths() {
    func word(_ method: String, _ path: String) -> String {
      switch APNsRequestCheck.token(method: method, path: path) {
      case .success(let token): token
      case .failure(let refusal): refusal.reason.rawValue
      }
    }
    #expect(word("POST", "/3/device/abc") == "abc")
    #expect(word("POST", "/3/device/") == "MissingDeviceToken")
    #expect(word("POST", "/2/device/abc") == "BadPath")
    #expect(word("GET", "/3/device/abc") == "MethodNotAllowed")
  }
}

@Suite struct ProviderTokenTests {
  private static let key = SigningKey.generate(.es256).key
  private let now = WallTime(seconds: 1_767_220_000)

  private func sign(
    _ issuedAt: Int64, kid: String = "SANDBOXKEY", team: String = "FANFARE001", alg: String = "ES256",
    key: SigningKey = Self.key
  ) -> String {
    let head = Base64URL.encode(Array(#"{"alg":"\#(alg)","kid":"\#(kid)"}"#.utf8))
    let claims = Base64URL.encode(Array(#"{"iss":"\#(team)","iat":\#(issuedAt)}"#.utf8))
    return "\(head).\(claims)." + Base64URL.encode(key.sign(Array("\(head).\(claims)".utf8)))
  }
  private func makeCheck() throws -> ProviderTokenCheck {
    ProviderTokenCheck(keys: [
      APNsKey(
        id: "SANDBOXKEY", team: "FANFARE001", verifying: try VerifyingKey(pem: Self.key.publicKeyPEM, for: .es256),
        topics: .bundles([]))
    ])
  }

  @Test("only the right key, key id, team and algorithm sign")
  func signatures() throws {
    var check = try makeCheck()
    #expect(check.finding(sign(5)) == .signed(issuedAt: 5, key: "SANDBOXKEY"))
    #expect(check.finding(sign(5, kid: "OTHERKEY00")) == .invalid)
    #expect(check.finding(sign(5, team: "OTHERTEAM0")) == .invalid)
    #expect(check.finding(sign(5, alg: "none")) == .invalid)
    #expect(check.finding(sign(5, key: SigningKey.generate(.es256).key)) == .invalid)
    for bad in ["", "a.b", "a.b.c", sign(5) + "x"] { #expect(check.finding(bad) == .invalid) }
  }

  @Test("missing, expired, from the future")
  func ages() throws {
    var check = try makeCheck()
    func refusal(_ authorization: String?, _ trust: inout APNsConnectionTrust) -> String? {
      trust.refusal(authorization, &check, now)?.rawValue
    }
    var trust = APNsConnectionTrust()
    #expect(refusal(nil, &trust) == "MissingProviderToken")
    #expect(refusal("Basic x", &trust) == "MissingProviderToken")
    #expect(refusal("bearer x", &trust) == "InvalidProviderToken")
    #expect(refusal("bearer \(sign(now.seconds + 4000))", &trust) == "InvalidProviderToken")
    #expect(refusal("bearer \(sign(now.seconds - 3600))", &trust) == nil)
    var second = APNsConnectionTrust()
    #expect(refusal("bearer \(sign(now.seconds - 3601))", &second) == "ExpiredProviderToken")
    // The connection stays unusable.
    #expect(refusal("bearer \(sign(now.seconds))", &second) == "ExpiredProviderToken")
  }

  @Test("a new token within 20 minutes is too often; the earlier one stays good")
  func refresh() throws {
    var check = try makeCheck()
    var trust = APNsConnectionTrust()
    let first = "bearer " + sign(now.seconds)
    let second = "bearer " + sign(now.seconds + 1)
    let minute: Int64 = 60_000
    #expect(trust.refusal(first, &check, now) == nil)
    #expect(trust.refusal(second, &check, now + 19 * minute) == .tooManyProviderTokenUpdates)
    #expect(trust.refusal(first, &check, now + 19 * minute) == nil)
    #expect(trust.refusal(second, &check, now + 20 * minute) == nil)
    #expect(trust.refusal(first, &check, now + 21 * minute) == .tooManyProviderTokenUpdates)
  }
}

extension APNsConnectionTrust {
  fileprivate mutating func refusal(
    _ authorization: String?, _ check: inout ProviderTokenCheck, _ now: WallTime
  ) -> APNsReason? {
    if case .failure(let refusal) = pass(authorization: authorization, &check, in: .production, now: now) {
      refusal.reason
    } else {
      nil
    }
  }
}
