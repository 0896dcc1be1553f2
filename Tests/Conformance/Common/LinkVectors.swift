import Domain
import JSON
import Testing

@Suite("Links and buttons reach the app")
struct LinkVectors {
  private func message(_ change: (inout Message, inout Notification) -> Void = { _, _ in }) -> Message {
    .alert { message, notification in
      notification.link = "myapp://order/881"
      notification.buttons = [
        Button(id: "yes", text: "Yes", url: "myapp://accept"),
        Button(id: "no", text: "No", icon: "ic_no"),
      ]
      change(&message, &notification)
    }
  }

  private func render(_ subject: ProviderUnderTest, _ message: Message, _ texts: [String: String] = [:]) throws
    -> (body: JSONValue, warnings: [RenderWarning])
  {
    var credential = subject.credential
    credential.texts.merge(texts) { $1 }
    let account = try subject.provider.open(credential)
    let rendering = try account.render(message, startedAt: started)
    let request = account.request(rendering, to: [subject.address], id: someID, authorization: "x")
    return (try JSON.parse(request.content), rendering.warnings)
  }

  private static let list =
    #"[{"id":"yes","text":"Yes","url":"myapp://accept"},{"id":"no","text":"No","icon":"ic_no"}]"#

  @Test("APNs: root keys, and a category of the buttons' ids")
  func apns() throws {
    let (body, warnings) = try render(.apns, message())
    try expectJSON(
      body.encoded,
      #"{"aps":{"alert":{"title":"Order shipped","body":"Arrives Tuesday"},"category":"yes+no","mutable-content":1},"link":"myapp://order/881","buttons":\#(Self.list)}"#
    )
    #expect(warnings.isEmpty)
    let named = try render(.apns, message { $1.category = "ORDER" }, ["link_key": "url", "buttons_key": "actions"]).body
    #expect(named["aps"]?["category"]?.string == "ORDER")
    #expect(named["url"]?.string == "myapp://order/881")
    #expect(named["actions"]?.array?.count == 2)
    #expect(named["link"] == nil && named["buttons"] == nil)
  }

  @Test("FCM: data for every app, a category for Apple's, and https links for browsers")
  func fcm() throws {
    let (body, warnings) = try render(.fcm, message())
    let sent = try #require(body["message"])
    try expectJSON(
      sent["data"]?.encoded ?? [],
      #"{"link":"myapp://order/881","buttons":"\#(Self.list.replacing("\"", with: "\\\""))"}"#)
    #expect(sent["apns"]?["payload"]?["aps"]?["category"]?.string == "yes+no")
    #expect(sent["apns"]?["payload"]?["aps"]?["mutable-content"]?.integer == 1)
    #expect(sent["webpush"]?["fcm_options"] == nil)
    #expect(sent["android"]?["data"] == nil, "it would stand in place of the common data")
    #expect(warnings.map(\.pointer) == ["/notification/buttons", "/notification/link"])
    let web = try render(.fcm, message { $1.link = "HTTPS://a.example/1" }, ["link_key": "url"])
    #expect(web.body["message"]?["webpush"]?["fcm_options"]?["link"]?.string == "HTTPS://a.example/1")
    #expect(web.body["message"]?["data"]?["url"]?.string == "HTTPS://a.example/1")
    #expect(web.warnings.map(\.pointer) == ["/notification/buttons"])
  }

  @Test("Web Push: what no browser can open is told, link and button each by itself")
  func webPush() throws {
    let (body, warnings) = try render(.webPush, message())
    #expect(body["notification"]?["navigate"]?.string == "myapp://order/881")
    #expect(warnings.map(\.pointer) == ["/notification/link", "/notification/buttons/0/url"])
    #expect(try render(.webPush, message { $1.link = "HTTPS://a.example" }).warnings.count == 1)
  }

  @Test("OneSignal: what only an app opens is no url")
  func oneSignal() throws {
    let (body, warnings) = try render(.oneSignal, message())
    #expect(body["app_url"]?.string == "myapp://order/881")
    #expect(body["url"] == nil && body["web_url"] == nil)
    #expect(body["buttons"]?.array?.count == 2)
    #expect(body["web_buttons"] == nil)
    #expect(warnings.map(\.pointer) == ["/notification/buttons/0/url"])
    let web = try render(.oneSignal, message { $1.link = "http://a.example" }).body
    #expect(web["url"]?.string == "http://a.example")
    #expect(web["app_url"] == nil)
  }

  @Test("the app's own data keeps its names", arguments: [ProviderUnderTest.apns, .fcm])
  func collision(_ subject: ProviderUnderTest) throws {
    let message = message { message, _ in
      message.data = [JSONMember("link", .string("mine")), JSONMember("buttons", .string("mine too"))]
    }
    let (body, warnings) = try render(subject, message)
    let data = body["message"]?["data"] ?? body
    #expect(data["link"]?.string == "mine")
    #expect(data["buttons"]?.string == "mine too")
    let pointers = warnings.filter { $0.note.contains("already") }.map(\.pointer)
    #expect(pointers == ["/notification/link", "/notification/buttons"])
  }

  @Test("names that mean something else are refused when the credential is opened")
  func names() throws {
    let taken: [(ProviderUnderTest, [String: String])] = [
      (.apns, ["link_key": "aps"]), (.apns, ["link_key": "image_url"]), (.apns, ["buttons_key": "encrypted_body"]),
      (.apns, ["buttons_key": "link"]), (.apns, ["link_key": ""]), (.fcm, ["link_key": "google.link"]),
      (.fcm, ["link_key": "from"]), (.fcm, ["buttons_key": "collapse_key"]), (.fcm, ["buttons_key": "encrypted_body"]),
      (.fcm, ["link_key": String(repeating: "k", count: 65)]),
    ]
    for (subject, texts) in taken {
      #expect(throws: CredentialFault.self, "\(texts)") { try render(subject, message(), texts) }
    }
  }

  @Test("buttons count towards the size of what is sent")
  func size() throws {
    let long = message {
      $1.buttons = [Button(id: "a", text: "A", url: "myapp://" + String(repeating: "x", count: 4_000))]
    }
    for subject in [ProviderUnderTest.apns, .fcm] {
      let fault = #expect(throws: RenderFault.self) { try render(subject, long) }
      #expect(fault?.code == "payload_too_large")
    }
  }
}
