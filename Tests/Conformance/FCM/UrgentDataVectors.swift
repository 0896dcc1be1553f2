import Domain
import JSON
import Testing

@Suite("Urgent data")
struct UrgentDataVectors {
  private func sent(_ subject: ProviderUnderTest, _ kind: Kind, _ change: (inout Message) -> Void) throws
    -> (request: ProviderRequest, body: JSONValue, warnings: [RenderWarning])
  {
    var message = Message(to: .everyone, kind: kind)
    message.data = [JSONMember("call", .string("881"))]
    change(&message)
    let account = try subject.account()
    let rendering = try account.render(message, startedAt: started)
    let request = account.request(rendering, to: [subject.address], id: someID, authorization: "x")
    return (request, try JSON.parse(request.body), rendering.warnings)
  }

  @Test("a background push of high priority is urgent on Android, and lowered for Apple devices with a warning")
  func background() throws {
    let apns = try sent(.apns, .background) { $0.priority = .high }
    #expect(apns.request.headers.first { $0.name == "apns-priority" }?.value == "5")
    #expect(apns.warnings.map(\.pointer) == ["/priority"])
    let fcm = try sent(.fcm, .background) { $0.priority = .high }
    #expect(fcm.body["message"]?["android"]?["priority"]?.string == "HIGH")
    #expect(fcm.body["message"]?["webpush"]?["headers"]?["Urgency"]?.string == "high")
    #expect(fcm.body["message"]?["apns"]?["headers"]?["apns-priority"]?.string == "5")
    #expect(fcm.body["message"]?["notification"] == nil)
    #expect(fcm.warnings.map(\.pointer) == ["/priority"])
    let oneSignal = try sent(.oneSignal, .background) { $0.priority = .high }
    #expect(oneSignal.body["priority"]?.integer == 10)
    let plain = try sent(.fcm, .background) { _ in }
    #expect(plain.body["message"]?["android"]?["priority"]?.string == "NORMAL")
    #expect(plain.warnings.isEmpty)
  }

  @Test("a call goes through FCM as urgent data that is not kept", arguments: [0, 25])
  func call(_ ttl: Int) throws {
    for kind in [TokenKind.device, .fid] {
      let address = Address(provider: .fcm, token: "cT3x9QeSRk2mJb0aYw1ZpL", tokenKind: kind)
      #expect(ProviderUnderTest.fcm.provider.carries(PushType(.voip), to: address))
      #expect(!ProviderUnderTest.apns.provider.carries(PushType(.voip), to: address))
      #expect(!ProviderUnderTest.oneSignal.provider.carries(PushType(.voip), to: address))
    }
    let fcm = try sent(.fcm, .voip) { $0.ttl = ttl }
    try expectJSON(
      fcm.body.encoded,
      #"{"message":{"token":"dXk:APA91bExample","data":{"call":"881"},"android":{"priority":"HIGH","ttl":"\#(ttl)s"},"apns":{"headers":{"apns-push-type":"background","apns-priority":"5","apns-expiration":"\#(ttl == 0 ? 0 : started.seconds + Int64(ttl))"},"payload":{"aps":{"content-available":1}}},"webpush":{"headers":{"TTL":"\#(ttl)","Urgency":"high"}}}}"#
    )
    #expect(fcm.warnings.map(\.pointer) == ["/kind"])
  }
}
