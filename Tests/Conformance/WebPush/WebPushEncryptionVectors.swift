import Domain
import JSON
import Sandbox
import TLS
import Testing

@testable import WebPush

@Suite("Web Push messages can be read by their browser alone")
struct WebPushEncryptionVectors {
  /// RFC 8291, appendix A.
  private enum RFC {
    static let text = Array("When I grow up, I want to be a watermelon".utf8)
    static let sender = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
    static let browser = "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"
    static let browserPublic =
      "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
    static let secret = "BTBZMqHH6r4Tts7J_aSIgg"
    static let salt = "DGv6ra1nlYgDCS1FRnbzlw"
    static let body =
      "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
  }

  private func bytes(_ text: String) throws -> [UInt8] { try #require(Base64URL.decode(text)) }

  @Test("the example of RFC 8291 is sealed to the byte, and opened")
  func rfc() throws {
    let subscription = try Subscription(
      reading:
        #"{"endpoint":"https://push.example.net/p/x","keys":{"p256dh":"\#(RFC.browserPublic)","auth":"\#(RFC.secret)"}}"#
    )
    let scalar = try bytes(RFC.sender)
    let point = try #require(P256.publicPoint(of: scalar))
    let sealed = MessageEncryption.seal(RFC.text, for: subscription, salt: try bytes(RFC.salt), (scalar, point))
    #expect(Base64URL.encode(sealed) == RFC.body)
    let browser = try #require(Browser(scalar: bytes(RFC.browser), secret: bytes(RFC.secret)))
    #expect(Base64URL.encode(browser.publicKey) == RFC.browserPublic)
    #expect(browser.open(sealed) == RFC.text)
  }

  @Test("each message and subscription has keys of its own, and each attempt the same ones")
  func keys() throws {
    let subject = ProviderUnderTest.webPush
    let account = try subject.account()
    func body(_ title: String, _ id: UUIDBytes = someID, token: String? = nil) throws -> [UInt8] {
      var address = subject.address
      address.token = token ?? address.token
      let rendering = try account.render(.alert { $1.title = title }, startedAt: started)
      let request = account.request(rendering, to: [address], id: id, authorization: "vapid")
      if token == nil { #expect(ProviderUnderTest.browser.open(request.body) == request.readable) }
      return request.body
    }
    let first = try body("a")
    #expect(try body("a") == first)
    let other = subject.address.token.replacing("dXk", with: "eXk")
    let bodies = [first, try body("b"), try body("a", UUIDBytes(high: 1, low: 2)), try body("a", token: other)]
    // The salt and the sender's key.
    #expect(Set(bodies.map { Array($0.prefix(16)) }).count == 4)
    #expect(Set(bodies.map { Array($0[21..<86]) }).count == 4)
  }

  @Test("a text at its limit makes a body of 4,096 bytes; a changed byte is noticed")
  func size() throws {
    let subscription = try Subscription(reading: ProviderUnderTest.webPush.address.token)
    let text = [UInt8](repeating: 0x78, count: MessageEncryption.textLimit)
    var body = MessageEncryption.seal(text, for: subscription, seed: [UInt8](repeating: 3, count: 32))
    #expect(body.count == 4_096)
    #expect(ProviderUnderTest.browser.open(body) == text)
    for place in [0, 30, 90, 4_095] {
      body[place] ^= 1
      #expect(ProviderUnderTest.browser.open(body) == nil, "\(place)")
      body[place] ^= 1
    }
  }
}
