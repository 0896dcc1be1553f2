import Domain
import Testing

/// protocols/apns.md section 14, for the kinds sent now.
@Suite("APNs requests")
struct APNsRequestVectors {
  private let ttl = 86_400
  private var expiration: String { String(started.seconds + Int64(ttl)) }

  private func request(_ message: Message, to address: Address = ProviderUnderTest.apns.address) throws
    -> (headers: [String: String], request: ProviderRequest)
  {
    let account = try ProviderUnderTest.apns.account()
    let rendering = try account.render(message, startedAt: started)
    let request = account.request(rendering, to: [address], id: someID, authorization: "bearer jwt")
    #expect(request.method == "POST")
    #expect(request.path == "/3/device/" + address.token)
    return (Dictionary(uniqueKeysWithValues: request.headers.map { ($0.name, $0.value) }), request)
  }

  @Test("R1 alert, full")
  func alert() throws {
    let message = Message.alert { message, notification in
      notification.subtitle = "Parcel 1 of 2"
      notification.badge = 3
      notification.sound = Sound(name: "chime.caf")
      notification.threadID = "order-881"
      notification.category = "ORDER"
      message.data = [JSONMember("orderId", .string("881"))]
      message.collapseKey = "order-881"
      message.ttl = ttl
    }
    let (headers, request) = try request(message)
    #expect(
      headers == [
        "apns-topic": "com.example.app", "apns-push-type": "alert", "apns-priority": "10",
        "apns-expiration": expiration, "apns-collapse-id": "order-881", "apns-id": someID.description,
        "authorization": "bearer jwt",
      ])
    let literal: Set = ["apns-id", "apns-expiration", "apns-collapse-id", "authorization"]
    #expect(request.headers.allSatisfy { $0.indexed == !literal.contains($0.name) })
    try expectJSON(
      request.body,
      #"{"aps":{"alert":{"title":"Order shipped","subtitle":"Parcel 1 of 2","body":"Arrives Tuesday"},"badge":3,"sound":"chime.caf","thread-id":"order-881","category":"ORDER"},"orderId":"881"}"#
    )
  }

  @Test("R2 silent data goes with priority 5, whatever is asked", arguments: [nil, Priority.high, .normal, .low])
  func background(_ priority: Priority?) throws {
    let message = Message.background { message in
      message.data = [
        JSONMember("sync", .object([JSONMember("box", .string("inbox")), JSONMember("rev", .integer(42))]))
      ]
      message.priority = priority
      message.ttl = ttl
    }
    let (headers, request) = try request(message)
    #expect(headers["apns-push-type"] == "background")
    #expect(headers["apns-priority"] == "5")
    #expect(headers["apns-expiration"] == expiration)
    try expectJSON(request.body, #"{"aps":{"content-available":1},"sync":{"box":"inbox","rev":42}}"#)
  }

  @Test("R3 image for the service extension, under the account's own key")
  func image() throws {
    var credential = ProviderUnderTest.apns.credential
    credential.texts["image_key"] = "image"
    let account = try ProviderUnderTest.apns.provider.open(credential)
    let message = Message.alert { _, notification in
      notification.title = "New photo"
      notification.body = "Ana posted"
      notification.image = "https://cdn.example.com/p/9.jpg"
      notification.sound = Sound(name: "default")
    }
    try expectJSON(
      account.render(message, startedAt: started).head,
      #"{"aps":{"alert":{"title":"New photo","body":"Ana posted"},"mutable-content":1,"sound":"default"},"image":"https://cdn.example.com/p/9.jpg"}"#
    )
    var plain = message
    plain.mutableContent = false
    try expectJSON(
      request(plain).request.body,
      #"{"aps":{"alert":{"title":"New photo","body":"Ana posted"},"sound":"default"},"image_url":"https://cdn.example.com/p/9.jpg"}"#
    )
  }

  @Test("R4 time-sensitive")
  func timeSensitive() throws {
    let message = Message.alert { message, notification in
      notification.title = "Gate change"
      notification.body = "Now B12"
      notification.interruptionLevel = .timeSensitive
      notification.relevanceScore = 1
      message.ttl = 600
    }
    let (headers, request) = try request(message)
    #expect(headers["apns-priority"] == "10")
    #expect(headers["apns-expiration"] == String(started.seconds + 600))
    try expectJSON(
      request.body,
      #"{"aps":{"alert":{"title":"Gate change","body":"Now B12"},"interruption-level":"time-sensitive","relevance-score":1}}"#
    )
  }

  @Test("R5 localized on the device")
  func localized() throws {
    let message = Message.alert { message, notification in
      notification = Notification()
      notification.titleKey = "INVITE_TITLE"
      notification.bodyKey = "INVITE_BODY"
      notification.bodyArgs = ["Mia", "7"]
      message.priority = .normal
    }
    let (headers, request) = try request(message)
    #expect(headers["apns-priority"] == "5")
    try expectJSON(
      request.body,
      #"{"aps":{"alert":{"title-loc-key":"INVITE_TITLE","loc-key":"INVITE_BODY","loc-args":["Mia","7"]}}}"#)
  }

  @Test("R6 critical sound")
  func critical() throws {
    let message = Message.alert { _, notification in
      notification.title = "Leak"
      notification.body = "Cellar sensor"
      notification.sound = Sound(name: "siren.caf", critical: true, volume: 0.9)
      notification.interruptionLevel = .critical
    }
    try expectJSON(
      request(message).request.body,
      #"{"aps":{"alert":{"title":"Leak","body":"Cellar sensor"},"sound":{"critical":1,"name":"siren.caf","volume":0.9},"interruption-level":"critical"}}"#
    )
  }

  @Test("every other field of aps that an alert can have")
  func otherFields() throws {
    let message = Message.alert { message, notification in
      notification.subtitleKey = "SUB"
      notification.subtitleArgs = ["a"]
      notification.titleArgs = ["b"]
      notification.launchImage = "launch"
      notification.targetContentID = "window"
      notification.filterCriteria = "work"
      notification.badge = 0
      message.contentAvailable = true
      message.mutableContent = true
    }
    try expectJSON(
      request(message).request.body,
      #"{"aps":{"alert":{"title":"Order shipped","body":"Arrives Tuesday","subtitle-loc-key":"SUB","subtitle-loc-args":["a"],"title-loc-args":["b"],"launch-image":"launch"},"target-content-id":"window","filter-criteria":"work","badge":0,"content-available":1,"mutable-content":1}}"#
    )
  }

  @Test("a ttl of 0 is one attempt; a device's bundle id is its topic; hosts follow the environment")
  func aim() throws {
    let now = Message.alert { message, _ in
      message.ttl = 0
      message.priority = .low
    }
    var address = ProviderUnderTest.apns.address
    address.bundleID = "com.example.other"
    let (headers, _) = try request(now, to: address)
    #expect(headers["apns-expiration"] == "0")
    #expect(headers["apns-priority"] == "1")
    #expect(headers["apns-topic"] == "com.example.other")

    var credential = ProviderUnderTest.apns.credential
    #expect(try ProviderUnderTest.apns.provider.open(credential).origin.authority == "api.push.apple.com")
    credential.environment = .sandbox
    #expect(try ProviderUnderTest.apns.provider.open(credential).origin.authority == "api.sandbox.push.apple.com")
    credential.origin = Origin(host: "localhost", port: 8443)
    #expect(try ProviderUnderTest.apns.provider.open(credential).origin.authority == "localhost:8443")
  }

  @Test("overrides come last: members of aps deeply, null removes, headers replace")
  func overrides() throws {
    let message = Message.alert { message, notification in
      notification.badge = 3
      message.overrides.aps = [
        JSONMember("alert", .object([JSONMember("action", .string("Open"))])), JSONMember("badge", .null),
        JSONMember("url-args", .array([.string("a")])),
      ]
      message.overrides.apnsHeaders = [
        JSONMember("x-trial", .string("a")), JSONMember("APNs-Priority", .integer(5)),
      ]
    }
    let (headers, request) = try request(message)
    #expect(headers["x-trial"] == "a")
    #expect(headers["apns-priority"] == "5")
    try expectJSON(
      request.body,
      #"{"aps":{"alert":{"title":"Order shipped","body":"Arrives Tuesday","action":"Open"},"url-args":["a"]}}"#)
  }

  @Test("a collapse id has at most 64 bytes, not characters")
  func collapseID() throws {
    let account = try ProviderUnderTest.apns.account()
    let fits = Message.alert { message, _ in message.collapseKey = String(repeating: "a", count: 64) }
    #expect(throws: Never.self) { try account.render(fits, startedAt: started) }
    let wide = Message.alert { message, _ in message.collapseKey = String(repeating: "é", count: 33) }
    let fault = #expect(throws: RenderFault.self) { try account.render(wide, startedAt: started) }
    #expect(fault?.code == "collapse_key_too_long")
    #expect(fault?.pointer == "/collapse_key")
  }

  @Test("an alert that shows, counts and plays nothing is refused, as APNs would; a badge alone is enough")
  func nothingToShow() throws {
    func alert(_ badge: Int?) -> Message {
      Message.alert { _, notification in
        notification = Notification()
        notification.category = "ORDER"
        notification.badge = badge
      }
    }
    let account = try ProviderUnderTest.apns.account()
    let fault = #expect(throws: RenderFault.self) { try account.render(alert(nil), startedAt: started) }
    #expect(fault?.code == "text_required")
    #expect(throws: Never.self) { try account.render(alert(0), startedAt: started) }
  }

  @Test("requests of one rendering share one body")
  func sharedBody() throws {
    let account = try ProviderUnderTest.apns.account()
    let rendering = try account.render(.alert(), startedAt: started)
    let request = account.request(
      rendering, to: [ProviderUnderTest.apns.address], id: someID, authorization: "bearer jwt")
    let shared = rendering.head.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
    let own = request.body.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
    #expect(shared == own)
  }
}
