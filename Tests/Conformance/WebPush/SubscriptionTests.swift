import Domain
import Sandbox
import TLS
import Testing
import WebPush

@Suite("A subscription is read as browsers give it")
struct SubscriptionTests {
  private let key = Base64URL.encode(ProviderUnderTest.browser.publicKey)
  private let secret = Base64URL.encode(ProviderUnderTest.browser.secret)
  private var kept: String { ProviderUnderTest.webPush.address.token }

  private func read(_ text: String) throws(TokenRules.Fault) -> TokenRules.Token {
    try WebPushProvider().tokens.read(text, .device)
  }
  private func json(_ endpoint: String = ProviderUnderTest.endpoint, key: String? = nil, secret: String? = nil)
    -> String
  {
    #"{"endpoint":"\#(endpoint)","expirationTime":null,"keys":{"p256dh":"\#(key ?? self.key)","auth":"\#(secret ?? self.secret)"}}"#
  }

  @Test("as JSON, with padding or without, or as it is kept: it is one token")
  func forms() throws {
    let forms = [
      json(), " \n" + json(), kept, json(key: key + "="), json(secret: secret + "=="),
      json("https://FCM.googleapis.com:443/fcm/send/dXk:APA91bExample"),
      json(key: key.replacing("-", with: "+").replacing("_", with: "/")),
    ]
    for form in forms { #expect(try read(form) == TokenRules.Token(kept, bundleID: "fcm.googleapis.com"), "\(form)") }
  }

  @Test("each service is known by its host, and Edge's by the domain of all of its hosts")
  func services() throws {
    let services = [
      "https://updates.push.services.mozilla.com/wpush/v2/gAAAA": "updates.push.services.mozilla.com",
      "https://web.push.apple.com/QGuQyavXutnMH": "web.push.apple.com",
      "https://wns2-by3p.notify.windows.com/w/?token=a": "notify.windows.com",
      "https://push.example.com:8443/x": "push.example.com:8443",
      "https://evil-notify.windows.com/x": "evil-notify.windows.com",
      "https://a.b.notify.windows.com/x": "a.b.notify.windows.com",
    ]
    for (endpoint, service) in services { #expect(try read(json(endpoint)).bundleID == service) }
  }

  @Test(
    "an endpoint that is no push service's is refused",
    arguments: [
      "http://fcm.googleapis.com/x", "https://10.0.0.1/x", "https://127.0.0.1:6379/x", "https://[::1]/x",
      "https://0x7f.1/x", "https://0x7f000001/x", "https://127.0.0.0x1/x", "https://a.0x/x",
      "https://2130706433/x", "https://user@fcm.googleapis.com/x", "https://fcm.googleapis.com", "https:///x",
      "https://a b/x",
      "https://fcm.googleapis.com/x#y", "https://fcm.googleapis.com/ü", "https://fcm.googleapis.com:0/x",
      "https://fcm.googleapis.com:99999/x", "https://-a.example/x", "", "https://é.example/x",
    ])
  func endpoints(_ endpoint: String) {
    #expect(throws: TokenRules.Fault.self) { try read(json(endpoint)) }
  }

  @Test("keys that are none are refused, and no fault tells a part of them")
  func keys() throws {
    var point = ProviderUnderTest.browser.publicKey
    point[64] ^= 1
    let off = Base64URL.encode(point)
    for text in [
      json(key: off), json(key: ""), json(key: String(key.dropLast(4))), json(secret: ""),
      json(secret: secret + "AAAA"),
      json(secret: "!"), "{}", "{", "[]", kept + "x", String(kept.split(separator: "#")[0]), "{\"endpoint\":7}",
      json(key: String(repeating: "A", count: 100_000)),
    ] {
      let fault = #expect(throws: TokenRules.Fault.self) { try read(text) }
      #expect(fault?.detail.contains(off) == false && fault?.detail.contains(secret) == false)
    }
  }
}
