import Domain
import JSON
import Testing

/// Section 10 of the vendor's facts, for the kinds sent now. Fanfare always says how long, how urgently and as what a
/// message goes; where a vector leaves that to the vendor's defaults, these members are the named extras.
@Suite("FCM requests")
struct FCMRequestVectors {
  private static let always: Set<String> = [
    "/message/android/priority", "/message/android/ttl", "/message/webpush", "/message/apns/headers",
    "/message/apns/headers/apns-push-type", "/message/apns/headers/apns-priority",
    "/message/apns/headers/apns-expiration",
  ]
  private let fid = Address(provider: .fcm, token: "cT3x9QeSRk2mJb0aYw1ZpL", tokenKind: .fid)
  private let token = Address(provider: .fcm, token: "dXk…:APA91bExample")

  private func request(_ message: Message, to address: Address) throws -> ProviderRequest {
    let account = try ProviderUnderTest.fcm.account()
    let rendering = try account.render(message, startedAt: started)
    return account.request(rendering, to: [address], id: someID, authorization: "Bearer ya29.x")
  }

  @Test("R1 alert, both platforms; the Android sound by override, as a message has one sound")
  func alert() throws {
    let message = Message.alert { message, notification in
      notification.badge = 3
      notification.sound = Sound(name: "chime.caf")
      notification.threadID = "order-881"
      notification.category = "ORDER"
      notification.androidChannel = "orders"
      message.data = [JSONMember("orderId", .string("881"))]
      message.collapseKey = "order-881"
      message.ttl = 86_400
      message.overrides.fcmAndroid = [
        JSONMember("notification", .object([JSONMember("sound", .string("default"))]))
      ]
    }
    let request = try request(message, to: fid)
    #expect(request.method == "POST")
    #expect(request.path == "/v1/projects/demo-app/messages:send")
    #expect(request.headers.contains(Header("content-type", "application/json")))
    #expect(request.headers.contains(Header("authorization", "Bearer ya29.x", indexed: false)))
    try expectJSON(
      request.body,
      #"{"message":{"fid":"cT3x9QeSRk2mJb0aYw1ZpL","notification":{"title":"Order shipped","body":"Arrives Tuesday"},"data":{"orderId":"881"},"android":{"priority":"HIGH","ttl":"86400s","collapse_key":"order-881","notification":{"channel_id":"orders","sound":"default","tag":"order-881","notification_count":3}},"apns":{"headers":{"apns-collapse-id":"order-881","apns-expiration":"\#(started.seconds + 86_400)"},"payload":{"aps":{"badge":3,"sound":"chime.caf","thread-id":"order-881","category":"ORDER"}}}}}"#,
      extras: Self.always)
  }

  @Test("R2 silent data; a number travels as text with a warning")
  func background() throws {
    let message = Message.background { message in
      message.data = [JSONMember("sync", .string("inbox")), JSONMember("rev", .integer(42))]
      message.ttl = 3600
    }
    let rendering = try ProviderUnderTest.fcm.account().render(message, startedAt: started)
    #expect(rendering.warnings.map(\.pointer) == ["/data/rev"])
    try expectJSON(
      request(message, to: token).body,
      #"{"message":{"token":"dXk…:APA91bExample","data":{"sync":"inbox","rev":"42"},"android":{"priority":"NORMAL","ttl":"3600s"},"apns":{"headers":{"apns-push-type":"background","apns-priority":"5"},"payload":{"aps":{"content-available":1}}}}}"#,
      extras: Self.always)
  }

  @Test("R3 image")
  func image() throws {
    let message = Message.alert { message, notification in
      notification.title = "New photo"
      notification.body = "Ana posted"
      notification.image = "https://cdn.example.com/p/9.jpg"
    }
    try expectJSON(
      request(message, to: fid).body,
      #"{"message":{"fid":"cT3x9QeSRk2mJb0aYw1ZpL","notification":{"title":"New photo","body":"Ana posted","image":"https://cdn.example.com/p/9.jpg"},"apns":{"payload":{"aps":{"mutable-content":1}},"fcm_options":{"image":"https://cdn.example.com/p/9.jpg"}}}}"#,
      extras: Self.always.union(["/message/android"]))
  }

  @Test("R4 localized; Apple's spelling of the keys by override")
  func localized() throws {
    let message = Message.alert { message, notification in
      notification = Notification()
      notification.titleKey = "invite_title"
      notification.bodyKey = "invite_body"
      notification.bodyArgs = ["Mia", "7"]
      let alert = [
        JSONMember("title-loc-key", .string("INVITE_TITLE")), JSONMember("loc-key", .string("INVITE_BODY")),
      ]
      message.overrides.fcmAPNs = [
        JSONMember("payload", .object([JSONMember("aps", .object([JSONMember("alert", .object(alert))]))]))
      ]
    }
    try expectJSON(
      request(message, to: fid).body,
      #"{"message":{"fid":"cT3x9QeSRk2mJb0aYw1ZpL","android":{"notification":{"title_loc_key":"invite_title","body_loc_key":"invite_body","body_loc_args":["Mia","7"]}},"apns":{"payload":{"aps":{"alert":{"title-loc-key":"INVITE_TITLE","loc-key":"INVITE_BODY","loc-args":["Mia","7"]}}}}}}"#,
      extras: Self.always)
  }

  @Test("R5 time-sensitive; Android's visibility by override")
  func timeSensitive() throws {
    let message = Message.alert { message, notification in
      notification.title = "Gate change"
      notification.body = "Now B12"
      notification.androidChannel = "urgent"
      notification.interruptionLevel = .timeSensitive
      notification.relevanceScore = 1
      message.ttl = 600
      message.overrides.fcmAndroid = [
        JSONMember("notification", .object([JSONMember("visibility", .string("PUBLIC"))]))
      ]
    }
    try expectJSON(
      request(message, to: fid).body,
      #"{"message":{"fid":"cT3x9QeSRk2mJb0aYw1ZpL","notification":{"title":"Gate change","body":"Now B12"},"android":{"priority":"HIGH","ttl":"600s","notification":{"channel_id":"urgent","notification_priority":"PRIORITY_MAX","visibility":"PUBLIC"}},"apns":{"headers":{"apns-priority":"10"},"payload":{"aps":{"interruption-level":"time-sensitive","relevance-score":1}}}}}"#,
      extras: Self.always)
  }

  @Test("R10 web push: headers and link from the message, the web notification by override")
  func web() throws {
    let message = Message.alert { message, notification in
      notification.title = "Hi"
      notification.body = "There"
      notification.link = "https://example.com/inbox"
      message.ttl = 300
      let shown = [
        JSONMember("title", .string("Hi")), JSONMember("body", .string("There")),
        JSONMember("icon", .string("https://example.com/i.png")),
      ]
      message.overrides.fcmWebpush = [JSONMember("notification", .object(shown))]
    }
    try expectJSON(
      request(message, to: Address(provider: .fcm, token: "eWeb…")).body,
      #"{"message":{"token":"eWeb…","webpush":{"headers":{"TTL":"300","Urgency":"high"},"notification":{"title":"Hi","body":"There","icon":"https://example.com/i.png"},"fcm_options":{"link":"https://example.com/inbox"}}}}"#,
      extras: ["/message/notification", "/message/android", "/message/apns"])
  }

  @Test("now or never: both zeros")
  func nowOrNever() throws {
    let body = try JSON.parse(request(.alert { message, _ in message.ttl = 0 }, to: fid).body)
    #expect(body["message"]?["android"]?["ttl"]?.string == "0s")
    #expect(body["message"]?["apns"]?["headers"]?["apns-expiration"]?.string == "0")
    #expect(body["message"]?["webpush"]?["headers"]?["TTL"]?.string == "0")
  }

  @Test(
    "keys that belong to FCM are refused with their place",
    arguments: ["from", "message_type", "gcm", "google", "googleId", "google.x", "gcm.notification.title"])
  func reservedKeys(_ key: String) throws {
    let message = Message.background { $0.data = [JSONMember(key, .string("x"))] }
    let account = try ProviderUnderTest.fcm.account()
    let fault = #expect(throws: RenderFault.self) { try account.render(message, startedAt: started) }
    #expect(fault?.code == "reserved_key")
    #expect(fault?.pointer == "/data/\(key)")
  }

  @Test("overrides that remove everything still leave a whole message")
  func emptied() throws {
    let message = Message.background { message in
      message.overrides.fcmAndroid = [JSONMember("priority", .null), JSONMember("ttl", .null)]
      message.overrides.fcmAPNs = [JSONMember("headers", .null), JSONMember("payload", .null)]
      message.overrides.fcmWebpush = [JSONMember("headers", .null)]
    }
    try expectJSON(request(message, to: fid).body, #"{"message":{"fid":"cT3x9QeSRk2mJb0aYw1ZpL"}}"#)
  }

  @Test("another project and an analytics label come from the settings")
  func settings() throws {
    var credential = ProviderUnderTest.fcm.credential
    credential.texts = ["project_id": "other-app", "analytics_label": "spring.sale"]
    let account = try ProviderUnderTest.fcm.provider.open(credential)
    let rendering = try account.render(.alert(), startedAt: started)
    #expect(rendering.path == "/v1/projects/other-app/messages:send")
    #expect(String(decoding: rendering.tail, as: UTF8.self).contains(#""analytics_label":"spring.sale""#))
    for wrong in ["", "a/b", "a b", "a\r\n"] {
      credential.texts = ["project_id": wrong]
      #expect(throws: CredentialFault.self) { try ProviderUnderTest.fcm.provider.open(credential) }
    }
  }
}
