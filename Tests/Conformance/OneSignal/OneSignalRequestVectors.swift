import Domain
import JSON
import OneSignal
import Testing

/// protocols/onesignal.md section 11 (R3, R5 and R6 aim at segments and filters, R9 and R10 are other calls). A ttl is
/// always sent, and a browser's topic with a collapse id; where a vector leaves them out they are the named extras.
@Suite("OneSignal requests")
struct OneSignalRequestVectors {
  private func address(_ token: String) -> Address { Address(provider: .oneSignal, token: token) }

  private func request(_ message: Message, to tokens: [String], id: String) throws -> ProviderRequest {
    let account = try ProviderUnderTest.oneSignal.account()
    let rendering = try account.render(message, startedAt: started)
    return account.request(
      rendering, to: tokens.map(address), id: try #require(UUIDBytes(id)), authorization: "Key os_v2_app_x")
  }

  @Test("R1 alert by alias")
  func alias() throws {
    let message = Message.alert { message, notification in
      notification.subtitle = "Parcel 1 of 2"
      notification.badge = 3
      notification.sound = Sound(name: "chime.caf")
      notification.category = "ORDER"
      notification.threadID = "order-881"
      message.collapseKey = "order-881"
      message.data = [JSONMember("orderId", .string("881"))]
      message.ttl = 86_400
    }
    let request = try request(
      message, to: ["alias:external_id:u-17", "alias:external_id:u-18"], id: "0f8a1f0e-5d0a-4c8b-8a55-8f3f5f1d2c11")
    #expect(request.method == "POST")
    #expect(request.path == "/notifications")
    #expect(
      request.headers == [
        Header("content-type", "application/json; charset=utf-8"),
        Header("authorization", "Key os_v2_app_x", indexed: false),
      ])
    try expectJSON(
      request.body,
      #"{"app_id":"8250eaf6-1a58-489e-b136-7c74a864b434","include_aliases":{"external_id":["u-17","u-18"]},"target_channel":"push","headings":{"en":"Order shipped"},"subtitle":{"en":"Parcel 1 of 2"},"contents":{"en":"Arrives Tuesday"},"ios_badgeType":"SetTo","ios_badgeCount":3,"ios_sound":"chime.caf","ios_category":"ORDER","thread_id":"order-881","android_group":"order-881","collapse_id":"order-881","data":{"orderId":"881"},"priority":10,"ttl":86400,"idempotency_key":"0f8a1f0e-5d0a-4c8b-8a55-8f3f5f1d2c11"}"#,
      extras: ["/web_push_topic"])
  }

  @Test("R2 silent data")
  func background() throws {
    let message = Message.background { $0.data = [JSONMember("sync", .string("inbox"))] }
    let request = try request(
      message, to: ["1dd608f2-c6a1-11e3-851d-000c2940e62c"], id: "6b1de0d2-7a0f-4ac6-9e0e-1b8d6f6a7d02")
    try expectJSON(
      request.body,
      #"{"app_id":"8250eaf6-1a58-489e-b136-7c74a864b434","include_subscription_ids":["1dd608f2-c6a1-11e3-851d-000c2940e62c"],"content_available":true,"data":{"sync":"inbox"},"priority":5,"idempotency_key":"6b1de0d2-7a0f-4ac6-9e0e-1b8d6f6a7d02"}"#,
      extras: ["/ttl"])
  }

  @Test("R5 filters: OneSignal finds the subscribers, each in one request of its own; none means all")
  func filters() throws {
    let account = try ProviderUnderTest.oneSignal.account()
    let message = Message.alert { message, notification in
      notification.title = nil
      notification.body = "Hello"
      message.ttl = Message.defaultTTL
    }
    let rendering = try account.render(message, startedAt: started)
    func body(_ filters: String) throws -> [UInt8] {
      let address = Address(provider: .oneSignal, token: filters, tokenKind: .subscribers)
      #expect(OneSignalProvider().carries(PushType(.alert), to: address))
      #expect(!account.recipientClass(of: address).isEmpty)
      let id = try #require(UUIDBytes("d3f2a1b0-6e5d-4c3b-9a19-7c8e9f0a1b05"))
      return account.request(rendering, to: [address], id: id, authorization: "Key os_v2_app_x").body
    }
    try expectJSON(
      try body(
        #"[{"field":"tag","key":"plan","relation":"=","value":"pro"},{"operator":"OR"},{"field":"country","relation":"=","value":"DE"}]"#
      ),
      #"{"app_id":"8250eaf6-1a58-489e-b136-7c74a864b434","filters":[{"field":"tag","key":"plan","relation":"=","value":"pro"},{"operator":"OR"},{"field":"country","relation":"=","value":"DE"}],"contents":{"en":"Hello"},"priority":10,"idempotency_key":"d3f2a1b0-6e5d-4c3b-9a19-7c8e9f0a1b05"}"#,
      extras: ["/ttl"])
    #expect(String(decoding: try body("[]"), as: UTF8.self).contains(#""included_segments":["All"]"#))
  }

  @Test("R3 image, to ids instead of segments; its attachment is called image")
  func image() throws {
    let message = Message.alert { _, notification in
      notification.title = "New photo"
      notification.body = "Ana posted"
      notification.image = "https://cdn.example.com/p/9.jpg"
    }
    let request = try request(
      message, to: ["1dd608f2-c6a1-11e3-851d-000c2940e62c"], id: "b1f7c2a4-0c53-4d1a-8a2f-3f2d0a9b7c03")
    try expectJSON(
      request.body,
      #"{"app_id":"8250eaf6-1a58-489e-b136-7c74a864b434","include_subscription_ids":["1dd608f2-c6a1-11e3-851d-000c2940e62c"],"headings":{"en":"New photo"},"contents":{"en":"Ana posted"},"ios_attachments":{"image":"https://cdn.example.com/p/9.jpg"},"big_picture":"https://cdn.example.com/p/9.jpg","chrome_web_image":"https://cdn.example.com/p/9.jpg","priority":10,"idempotency_key":"b1f7c2a4-0c53-4d1a-8a2f-3f2d0a9b7c03"}"#,
      extras: ["/ttl"])
  }

  @Test("R4 time-sensitive, localized texts")
  func localized() throws {
    let message = Message.alert { message, notification in
      notification.title = "Gate change"
      notification.body = "Now B12"
      notification.localized = [LocalizedText(language: "de", title: "Gate geändert", body: "Jetzt B12")]
      notification.interruptionLevel = .timeSensitive
      notification.relevanceScore = 1
      message.ttl = 600
    }
    let request = try request(
      message, to: ["alias:external_id:u-17"], id: "c0c5b9de-2d0c-4b5f-9d59-2f7a5d0e1c04")
    try expectJSON(
      request.body,
      #"{"app_id":"8250eaf6-1a58-489e-b136-7c74a864b434","include_aliases":{"external_id":["u-17"]},"target_channel":"push","headings":{"en":"Gate change","de":"Gate geändert"},"contents":{"en":"Now B12","de":"Jetzt B12"},"ios_interruption_level":"time_sensitive","ios_relevance_score":1,"priority":10,"ttl":600,"idempotency_key":"c0c5b9de-2d0c-4b5f-9d59-2f7a5d0e1c04"}"#
    )
  }

  private static let app = "8250eaf6-1a58-489e-b136-7c74a864b434"

  @Test("R7 Live Activity update: to the activity that the path names, without targets and key")
  func activityUpdate() throws {
    let message = Message.activity(.update) { message, activity in
      activity.contentState = [JSONMember("home", .integer(2)), JSONMember("away", .integer(1))]
      activity.staleDate = 1_767_223_600
      message.analyticsLabel = "goal"
      message.priority = .normal
      message.notification = Notification()
      message.notification?.title = "2-1"
      message.notification?.body = "Goal"
    }
    let account = try ProviderUnderTest.oneSignal.account()
    let rendering = try account.render(message, startedAt: started)
    #expect(rendering.warnings.isEmpty)
    var address = address("match-7")
    address.tokenKind = .activity
    let request = account.request(rendering, to: [address], id: someID, authorization: "Key os_v2_app_x")
    #expect(request.path == "/apps/\(Self.app)/live_activities/match-7/notifications")
    try expectJSON(
      request.body,
      #"{"event":"update","name":"goal","event_updates":{"home":2,"away":1},"contents":{"en":"Goal"},"headings":{"en":"2-1"},"priority":5,"stale_date":1767223600}"#
    )
    // Each activity has requests of its own, and its name stays one step of the path.
    #expect(account.recipientClass(of: address) == "activity:match-7")
    for (name, step) in [("..", "%2E%2E"), ("a/b?c#d%", "a%2Fb%3Fc%23d%25"), ("é.x", "%C3%A9.x")] {
      address.token = name
      let path = account.request(rendering, to: [address], id: someID, authorization: "x").path
      #expect(path == "/apps/\(Self.app)/live_activities/\(step)/notifications")
    }
  }

  @Test("R8 Live Activity start, to aliases as to subscriptions")
  func activityStart() throws {
    let message = Message.activity(.start) { message, activity in
      activity.activityID = "match-7"
      activity.attributesType = "MatchAttributes"
      activity.attributes = [JSONMember("matchId", .string("m7"))]
      activity.contentState = [JSONMember("home", .integer(0)), JSONMember("away", .integer(0))]
      message.analyticsLabel = "kickoff"
      message.notification = Notification()
      message.notification?.title = "Reds v Blues"
      message.notification?.body = "Kick-off"
    }
    let request = try request(message, to: ["alias:external_id:u-17"], id: "e9d8c7b6-a5f4-4e3d-8c2b-1a0f9e8d7c06")
    #expect(request.path == "/apps/\(Self.app)/activities/activity/MatchAttributes")
    try expectJSON(
      request.body,
      #"{"event":"start","activity_id":"match-7","name":"kickoff","include_aliases":{"external_id":["u-17"]},"event_attributes":{"matchId":"m7"},"event_updates":{"home":0,"away":0},"contents":{"en":"Kick-off"},"headings":{"en":"Reds v Blues"},"idempotency_key":"e9d8c7b6-a5f4-4e3d-8c2b-1a0f9e8d7c06"}"#,
      extras: ["/priority"])
    let ids = try JSON.parse(self.request(message, to: [ProviderUnderTest.subscription], id: someID.description).body)
    #expect(ids["include_subscription_ids"]?.array == [.string(ProviderUnderTest.subscription)])
  }

  @Test("an activity's end says when it goes; what has no field in an activity is said")
  func activityEnd() throws {
    let account = try ProviderUnderTest.oneSignal.account()
    let end = Message.activity(.end) { message, activity in
      activity.contentState = [JSONMember("final", .bool(true))]
      activity.dismissalDate = 1_767_230_000
      activity.relevanceScore = 0.5
      message.priority = .high
      message.overrides.oneSignal = [JSONMember("name", .string("done"))]
    }
    let rendering = try account.render(end, startedAt: started)
    try expectJSON(
      rendering.head,
      #"{"event":"end","name":"done","event_updates":{"final":true},"dismissal_date":1767230000,"priority":10,"ios_relevance_score":0.5}"#
    )
    let loud = Message.activity(.update) { message, activity in
      activity.activityID = "match-7"
      activity.relevanceScore = 75
      message.collapseKey = "k"
      message.ttl = 60
      message.data = [JSONMember("k", .string("v"))]
      message.notification = Notification()
      message.notification?.titleKey = "GOAL"
      message.notification?.sound = Sound(name: "goal.caf")
    }
    #expect(
      Set(try account.render(loud, startedAt: started).warnings.map(\.pointer)) == [
        "/live_activity/activity_id", "/live_activity/relevance_score", "/collapse_key", "/ttl", "/data",
        "/notification/title_key", "/notification/sound",
      ])
    var nameless = Message.activity(.start)
    let fault = #expect(throws: RenderFault.self) { try account.render(nameless, startedAt: started) }
    #expect(fault?.pointer == "/live_activity/activity_id")
    nameless.liveActivity?.activityID = "match-7"
    nameless.overrides.oneSignal = [JSONMember("activity_id", .string("match-8"))]
    let reserved = #expect(throws: RenderFault.self) { try account.render(nameless, startedAt: started) }
    #expect(reserved?.code == "override_reserved")
  }

  @Test("a call is a data push of its own type, to tokens for calls alone")
  func call() throws {
    let provider = ProviderUnderTest.oneSignal.provider
    var address = address(ProviderUnderTest.subscription)
    #expect(!provider.carries(PushType(.voip), to: address))
    address.tokenKind = .voip
    #expect(provider.carries(PushType(.voip), to: address))
    #expect(!provider.carries(PushType(.alert), to: address))
    var message = Message(to: .everyone, kind: .voip)
    message.ttl = 0
    message.data = [JSONMember("call", .string("c-1"))]
    try expectJSON(
      request(message, to: [ProviderUnderTest.subscription], id: someID.description).body,
      #"{"app_id":"\#(Self.app)","include_subscription_ids":["\#(ProviderUnderTest.subscription)"],"apns_push_type_override":"voip","content_available":true,"data":{"call":"c-1"},"priority":10,"ttl":0,"idempotency_key":"\#(someID)"}"#
    )
  }

  @Test("R11 an old key goes as Basic, raw; its form tells it from a current one")
  func legacyKey() throws {
    var credential = ProviderUnderTest.oneSignal.credential
    for (key, flag, form) in [
      ("oldverysecretvalue", nil, "Basic"), ("oldverysecretvalue", "true", "Basic"),
      ("oldverysecretvalue", "false", "Key"), ("os_v2_app_verysecretvalue", nil, "Key"),
    ] {
      credential.files["api_key_file"] = Array(key.utf8)
      credential.texts["legacy_key"] = flag
      var authorization = try ProviderUnderTest.oneSignal.provider.open(credential).makeAuthorization()
      guard case .use("\(form) \(key)", nil) = authorization.need(now: started) else {
        Issue.record("another form than \(form)")
        continue
      }
    }
    for (key, flag, setting) in [
      ("os_v2_app_verysecretvalue", "true", "legacy_key"), ("os_v2_org_verysecretvalue", nil, "api_key_file"),
    ] {
      credential.files["api_key_file"] = Array(key.utf8)
      credential.texts["legacy_key"] = flag
      let fault = #expect(throws: CredentialFault.self) { try ProviderUnderTest.oneSignal.provider.open(credential) }
      #expect(fault?.setting == setting)
    }
  }

  private func texts(_ change: (inout Notification) -> Void) throws -> JSONValue {
    let message = Message.alert { _, notification in
      notification = Notification()
      change(&notification)
    }
    let request = try request(message, to: ["alias:external_id:u-17"], id: someID.description)
    return try JSON.parse(request.body)
  }

  @Test("English is always there: a title alone is the text, one language speaks for all, gaps are filled")
  func english() throws {
    let title = try texts { $0.title = "Hi" }
    #expect(title["contents"]?["en"]?.string == "Hi")
    #expect(title["headings"] == nil)

    let german = try texts { $0.localized = [LocalizedText(language: "de-AT", title: "Servus", body: "Welt")] }
    #expect(german["contents"]?["en"]?.string == "Welt")
    #expect(german["contents"]?["de"]?.string == "Welt")

    let gaps = try texts {
      $0.title = "Hi"
      $0.body = "World"
      $0.localized = [
        LocalizedText(language: "de", body: "Welt"), LocalizedText(language: "zh-TW", title: "你好"),
        LocalizedText(language: "en", body: "Earth"),
      ]
    }
    #expect(gaps["contents"]?["en"]?.string == "Earth")
    #expect(gaps["headings"]?["de"]?.string == "Hi")
    #expect(gaps["contents"]?["zh-Hant"]?.string == "Earth")
    #expect(gaps["headings"]?["zh-Hant"]?.string == "你好")

    let keys = Message.alert { _, notification in
      notification = Notification()
      notification.bodyKey = "INVITE"
    }
    let account = try ProviderUnderTest.oneSignal.account()
    let fault = #expect(throws: RenderFault.self) { try account.render(keys, startedAt: started) }
    #expect(fault?.code == "text_required")
  }

  @Test("three buttons and no more; a web button needs its url; colours gain their alpha")
  func look() throws {
    let message = Message.alert { message, notification in
      notification.buttons = (1...4).map { Button(id: "\($0)", text: "B\($0)", url: $0 == 2 ? "https://e.com" : nil) }
      notification.color = "#aabbcc"
      notification.androidChannel = "orders"
      notification.androidVisibility = .secret
      notification.androidTag = "t"
      notification.androidCount = 3
      notification.androidTicker = "t"
      notification.web = WebLook()
      notification.web?.icon = "https://e.com/i.png"
      notification.web?.badge = "https://e.com/b.png"
      notification.web?.tag = "web"
      notification.web?.requireInteraction = true
      notification.web?.silent = true
      message.encryptedBody = "b64=="
      message.analyticsLabel = "spring"
      message.collapseKey = "orders"
      notification.link = "https://example.com"
      notification.bodyKey = "B"
    }
    let account = try ProviderUnderTest.oneSignal.account()
    let rendering = try account.render(message, startedAt: started)
    #expect(
      rendering.warnings.map(\.pointer) == [
        "/notification/buttons", "/notification/android_tag", "/notification/android_count",
        "/notification/android_ticker", "/notification/web/require_interaction", "/notification/web/silent",
      ])
    let body = try JSON.parse(request(message, to: ["alias:l:1"], id: someID.description).body)
    #expect(body["buttons"]?.array?.count == 3)
    #expect(body["web_buttons"]?.array?.count == 1)
    #expect(body["android_accent_color"]?.string == "FFAABBCC")
    #expect(body["existing_android_channel_id"]?.string == "orders")
    #expect(body["url"]?.string == "https://example.com")
    #expect(body["android_visibility"]?.integer == -1)
    #expect(body["chrome_web_icon"]?.string == "https://e.com/i.png")
    #expect(body["firefox_icon"]?.string == "https://e.com/i.png")
    #expect(body["chrome_web_badge"]?.string == "https://e.com/b.png")
    #expect(body["web_push_topic"]?.string == "web")
    #expect(body["collapse_id"]?.string == "orders")
    #expect(body["name"]?.string == "spring")
    #expect(body["data"]?["encrypted_body"]?.string == "b64==")
    #expect(body["apns_alert"]?["loc-key"]?.string == "B")
  }

  @Test("recipients of one request are of one class; the slice limit is a setting")
  func classes() throws {
    let account = try ProviderUnderTest.oneSignal.account()
    #expect(account.recipientLimit == 2_000)
    #expect(account.recipientClass(of: address(ProviderUnderTest.subscription)).isEmpty)
    #expect(account.recipientClass(of: address("alias:external_id:a:b")) == "external_id")
    #expect(account.recipientClass(of: address("alias:crm:1")) == "crm")
    let body = try JSON.parse(request(.alert(), to: ["alias:external_id:a:b"], id: someID.description).body)
    #expect(body["include_aliases"]?["external_id"]?.array == [.string("a:b")])

    var credential = ProviderUnderTest.oneSignal.credential
    credential.texts["slice_limit"] = "20000"
    #expect(try ProviderUnderTest.oneSignal.provider.open(credential).recipientLimit == 20_000)
    for wrong in ["0", "20001", "many", "-1"] {
      credential.texts["slice_limit"] = wrong
      #expect(throws: CredentialFault.self) { try ProviderUnderTest.oneSignal.provider.open(credential) }
    }
  }
}
