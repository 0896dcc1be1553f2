import Domain
import JSON
import Testing

/// protocols/fcm.md section 10 (R7 and R8 aim at topics, R9 asks for a trial, R11: `FCMTokenTests`). Fanfare always
/// says how long, how urgently and as what a message goes; where a vector leaves that to the vendor's defaults, these
/// members are the named extras.
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

  @Test(
    "a campaign within two minutes of a quarter of an hour is warned of, as the vendor asks to stay away; others are not",
    arguments: [(0, true), (119, true), (120, false), (780, false), (781, true), (5_400, true), (5_640, false)])
  func crowdedTimes(seconds: Int64, isWarned: Bool) throws {
    let account = try ProviderUnderTest.fcm.account()
    for (time, pointer) in [
      (SendTime.at(WallTime(seconds: 1_764_576_000 + seconds)), "/send_at"),
      (.local(LocalTime(seconds: 1_764_576_000 + seconds)), "/send_at_local"),
    ] {
      var message = Message.alert { message, _ in message.sendAt = time }
      message.to = .everyone
      let told = try account.render(message, startedAt: started).warnings.map(\.pointer)
      #expect(told == (isWarned ? [pointer] : []))
      message.to = .devices([DeviceID(rawValue: "d")])
      #expect(try account.render(message, startedAt: started).warnings.isEmpty)
    }
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

  @Test("R5 time-sensitive")
  func timeSensitive() throws {
    let message = Message.alert { message, notification in
      notification.title = "Gate change"
      notification.body = "Now B12"
      notification.androidChannel = "urgent"
      notification.interruptionLevel = .timeSensitive
      notification.relevanceScore = 1
      notification.androidVisibility = .public
      message.ttl = 600
    }
    try expectJSON(
      request(message, to: fid).body,
      #"{"message":{"fid":"cT3x9QeSRk2mJb0aYw1ZpL","notification":{"title":"Gate change","body":"Now B12"},"android":{"priority":"HIGH","ttl":"600s","notification":{"channel_id":"urgent","notification_priority":"PRIORITY_MAX","visibility":"PUBLIC"}},"apns":{"headers":{"apns-priority":"10"},"payload":{"aps":{"interruption-level":"time-sensitive","relevance-score":1}}}}}"#,
      extras: Self.always)
  }

  @Test("R6 Live Activity update: Apple's token last in its block, beside the registration")
  func activityUpdate() throws {
    let message = Message.activity(.update) { message, activity in
      activity.contentState = [JSONMember("home", .integer(2)), JSONMember("away", .integer(1))]
    }
    try expectJSON(
      request(message, to: withActivity(fid)).body,
      #"{"message":{"fid":"cT3x9QeSRk2mJb0aYw1ZpL","apns":{"live_activity_token":"80a1f0","headers":{"apns-priority":"5"},"payload":{"aps":{"timestamp":1767220000,"event":"update","content-state":{"home":2,"away":1}}}}}}"#,
      extras: ["/message/apns/headers/apns-expiration"])
  }

  @Test("an activity starts and ends with all that its device needs; texts are said in the alert, with their sound")
  func activityLife() throws {
    let start = Message.activity(.start) { message, activity in
      activity.attributesType = "MatchAttributes"
      activity.attributes = [JSONMember("matchId", .string("m7"))]
      activity.inputPushToken = true
      activity.relevanceScore = 75
      message.data = [JSONMember("note", .object([JSONMember("deep", .bool(true))]))]
      message.analyticsLabel = "match"
      message.notification = Notification()
      message.notification?.title = "Kick-off"
      message.notification?.bodyKey = "VERSUS"
      message.notification?.bodyArgs = ["Reds", "Blues"]
      message.notification?.sound = Sound(name: "whistle.caf")
    }
    try expectJSON(
      request(start, to: withActivity(token)).body,
      #"{"message":{"token":"dXk…:APA91bExample","apns":{"live_activity_token":"80a1f0","headers":{"apns-priority":"10","apns-expiration":"\#(started.seconds + 259_200)"},"payload":{"aps":{"timestamp":1767220000,"event":"start","content-state":{},"attributes-type":"MatchAttributes","attributes":{"matchId":"m7"},"input-push-token":1,"relevance-score":75,"alert":{"title":"Kick-off","body":{"loc-key":"VERSUS","loc-args":["Reds","Blues"]},"sound":"whistle.caf"}},"note":{"deep":true}}},"fcm_options":{"analytics_label":"match"}}}"#
    )
    let end = Message.activity(.end) { message, activity in
      activity.staleDate = 1_767_220_100
      activity.dismissalDate = 1_767_220_200
      activity.activityID = "match-7"
      message.ttl = 0
      message.overrides.fcmAndroid = [JSONMember("direct_boot_ok", .bool(true))]
    }
    let rendering = try ProviderUnderTest.fcm.account().render(end, startedAt: started)
    #expect(rendering.warnings.map(\.pointer) == ["/live_activity/activity_id"])
    try expectJSON(
      request(end, to: withActivity(token)).body,
      #"{"message":{"token":"dXk…:APA91bExample","android":{"direct_boot_ok":true},"apns":{"live_activity_token":"80a1f0","headers":{"apns-priority":"5","apns-expiration":"0"},"payload":{"aps":{"timestamp":1767220000,"event":"end","stale-date":1767220100,"dismissal-date":1767220200}}}}}"#
    )
  }

  private func withActivity(_ address: Address) -> Address {
    var address = address
    address.liveActivityToken = "80a1f0"
    return address
  }

  @Test(
    "an activity asks for the token of its device, which no override can replace; kinds of Apple's own are not carried")
  func activityAim() throws {
    let provider = ProviderUnderTest.fcm.provider
    for event in LiveActivity.Event.allCases {
      #expect(provider.carries(PushType(.liveActivity, event), to: fid))
    }
    #expect(provider.carries(PushType(.alert), to: fid))
    #expect(!provider.carries(PushType(.pushToTalk), to: fid))
    let account = try ProviderUnderTest.fcm.account()
    #expect(try account.render(.activity(.update), startedAt: started).needsLiveActivityToken)
    #expect(try !account.render(.alert(), startedAt: started).needsLiveActivityToken)
    for message in [Message.activity(.update), .alert()] {
      var message = message
      message.overrides.fcmAPNs = [JSONMember("live_activity_token", .string("80a1f1"))]
      let fault = #expect(throws: RenderFault.self) { try account.render(message, startedAt: started) }
      #expect(fault?.pointer == "/overrides/fcm/apns/live_activity_token")
    }
  }

  @Test("all that Android and browsers show has its field; what only some platforms have is said")
  func looks() throws {
    let message = Message.alert { message, notification in
      notification.icon = "ic_order"
      notification.color = "#aabbcc"
      notification.badge = 3
      notification.androidCount = 7
      notification.androidTag = "orders"
      notification.androidTicker = "An order"
      notification.androidVisibility = .secret
      notification.subtitle = "Two"
      notification.buttons = (1...3).map { Button(id: "b\($0)", text: "B\($0)", icon: "i\($0)") }
      notification.web = WebLook()
      notification.web?.icon = "https://example.com/i.png"
      notification.web?.badge = "https://example.com/b.png"
      notification.web?.requireInteraction = true
      notification.web?.silent = false
      message.collapseKey = "order-881"
      message.encryptedBody = "b64=="
      message.analyticsLabel = "spring"
    }
    let rendering = try ProviderUnderTest.fcm.account().render(message, startedAt: started)
    #expect(
      rendering.warnings.map(\.pointer) == ["/notification/subtitle", "/notification/buttons", "/encrypted_body"])
    let body = try #require(try JSON.parse(request(message, to: fid).body)["message"])
    try expectJSON(
      body["android"]?["notification"]?.encoded ?? [],
      ##"{"icon":"ic_order","color":"#aabbcc","tag":"orders","notification_count":7,"visibility":"SECRET","ticker":"An order"}"##
    )
    try expectJSON(
      body["webpush"]?["notification"]?.encoded ?? [],
      #"{"icon":"https://example.com/i.png","badge":"https://example.com/b.png","tag":"order-881","requireInteraction":true,"silent":false,"actions":[{"action":"b1","title":"B1","icon":"i1"},{"action":"b2","title":"B2","icon":"i2"}]}"#
    )
    #expect(body["apns"]?["payload"]?["aps"]?["mutable-content"]?.integer == 1)
    #expect(body["apns"]?["payload"]?["aps"]?["badge"]?.integer == 3)
    #expect(body["data"]?["encrypted_body"]?.string == "b64==")
    #expect(body["fcm_options"]?["analytics_label"]?.string == "spring")
  }

  @Test("R9 a trial: FCM checks everything and delivers nothing, and the answer says so")
  func trial() throws {
    let message = Message.background { message in
      message.data = [JSONMember("k", .string("v"))]
      message.overrides.fcmValidateOnly = true
    }
    try expectJSON(
      request(message, to: fid).body,
      #"{"validate_only":true,"message":{"fid":"cT3x9QeSRk2mJb0aYw1ZpL","data":{"k":"v"}}}"#,
      extras: ["/message/android", "/message/apns", "/message/webpush"])
    let warnings = try ProviderUnderTest.fcm.account().render(message, startedAt: started).warnings
    #expect(warnings.contains { $0.pointer == "/overrides/fcm/validate_only" })
  }

  @Test("R10 web push")
  func web() throws {
    let message = Message.alert { message, notification in
      notification.title = "Hi"
      notification.body = "There"
      notification.link = "https://example.com/inbox"
      message.ttl = 300
      notification.web = WebLook()
      notification.web?.icon = "https://example.com/i.png"
      // Title and body are common to all platforms; here they stand in the block too.
      let shown = [JSONMember("title", .string("Hi")), JSONMember("body", .string("There"))]
      message.overrides.fcmWebpush = [JSONMember("notification", .object(shown))]
    }
    try expectJSON(
      request(message, to: Address(provider: .fcm, token: "eWeb…")).body,
      #"{"message":{"token":"eWeb…","webpush":{"headers":{"TTL":"300","Urgency":"high"},"notification":{"title":"Hi","body":"There","icon":"https://example.com/i.png"},"fcm_options":{"link":"https://example.com/inbox"}}}}"#,
      extras: ["/message/notification", "/message/android", "/message/apns", "/message/data"])
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

  @Test("all that FCM would refuse of a message is told at once")
  func allFaults() throws {
    let message = Message.alert { message, notification in
      notification.body = String(repeating: "x", count: 4_096)
      message.data = [JSONMember("from", .string("a")), JSONMember("gcm", .string("b"))]
      message.overrides.fcmWebpush = [JSONMember("headers", .object([JSONMember("a b", .string("c"))]))]
    }
    let account = try ProviderUnderTest.fcm.account()
    let fault = #expect(throws: RenderFault.self) { try account.render(message, startedAt: started) }
    #expect(
      fault?.all.map { "\($0.pointer) \($0.code)" } == [
        "/data/from reserved_key", "/data/gcm reserved_key", "/overrides/fcm/webpush/headers/a b header_invalid",
        " payload_too_large",
      ])
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
