import APNs
import Domain
import Testing

/// protocols/apns.md sections 9.1 and 9.4.
@Suite("APNs channels")
struct APNsChannelVectors {
  private let channel = "dGVzdC1jaGFu+/=="

  private func account(
    _ environment: Domain.Environment = .production, origin: String? = nil, at host: Origin? = nil
  ) throws -> any ChannelAccount {
    var credential = ProviderUnderTest.apns.credential
    credential.environment = environment
    credential.origin = host
    credential.texts["channels_origin"] = origin
    return try #require(try APNsProvider().open(credential) as? any ChannelAccount)
  }
  private func request(_ call: ChannelCall, _ bundleID: String? = nil) throws -> ProviderRequest {
    try account().request(call, bundleID: bundleID, id: someID, authorization: "bearer x")
  }
  private func reply(_ call: ChannelCall, _ status: Int, _ body: String = "", id: String? = nil) throws -> ChannelReply
  {
    let headers = id.map { [Header("apns-channel-id", $0)] } ?? []
    return try account().read(ProviderAnswer(status: status, headers: headers, body: Array(body.utf8)), to: call)
  }

  @Test("each environment has a host and port of its own; another may stand in")
  func origins() throws {
    #expect(try account().channelOrigin == Origin(host: "api-manage-broadcast.push.apple.com", port: 2196))
    #expect(
      try account(.sandbox).channelOrigin == Origin(host: "api-manage-broadcast.sandbox.push.apple.com", port: 2195))
    #expect(
      try account(at: Origin(host: "localhost", port: 8443)).channelOrigin == nil, "not Apple's beside another host")
    #expect(try account(at: Origin(host: "api.push.apple.com", port: 2197)).channelOrigin?.port == 2196)
    #expect(try account(origin: "localhost:8447").channelOrigin == Origin(host: "localhost", port: 8447))
    for wrong in ["localhost", "localhost:x", ":1", "a b:1", "https://x:1", "x:70000"] {
      let fault = #expect(throws: CredentialFault.self) { try account(origin: wrong) }
      #expect(fault?.setting == "channels_origin", "\(wrong)")
    }
  }

  @Test("create, read, delete and list go out as the vendor has them")
  func requests() throws {
    let create = try request(.create(keepsNewest: true))
    #expect(create.method == "POST" && create.path == "/1/apps/com.example.app/channels")
    try expectJSON(create.body, #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#)
    #expect(create.headers.contains(Header("apns-request-id", someID.description, indexed: false)))
    #expect(create.headers.contains(Header("authorization", "bearer x", indexed: false)))
    try expectJSON(
      try request(.create(keepsNewest: false)).body, #"{"message-storage-policy":0,"push-type":"LiveActivity"}"#)
    for (call, method) in [(ChannelCall.read(channel), "GET"), (.delete(channel), "DELETE")] {
      let request = try request(call, "com.example.other")
      #expect(request.method == method && request.path == "/1/apps/com.example.other/channels")
      #expect(request.headers.contains(Header("apns-channel-id", channel, indexed: false)) && request.body.isEmpty)
    }
    let list = try request(.list)
    #expect(list.method == "GET" && list.path == "/1/apps/com.example.app/all-channels")
  }

  @Test("answers are told apart; what is gone counts as deleted, and the limit has its own word")
  func answers() throws {
    #expect(try reply(.create(keepsNewest: true), 201, id: channel) == .created(channel))
    #expect(
      try reply(.read(channel), 200, #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#)
        == .found(keepsNewest: true))
    #expect(try reply(.list, 200, #"{"channels":["a","b"]}"#) == .listed(["a", "b"]))
    #expect(try reply(.delete(channel), 204) == .deleted)
    #expect(try reply(.delete(channel), 404, #"{"reason":"BadPath"}"#) == .deleted)
    #expect(try reply(.delete(channel), 400, #"{"reason":"ChannelNotRegistered"}"#) == .deleted)
    #expect(try reply(.read(channel), 400, #"{"reason":"ChannelNotRegistered"}"#) == .unknown)
    #expect(try reply(.read(channel), 404, #"{"reason":"BadPath"}"#) == .unknown)
    func cause(_ status: Int, _ reason: String) throws -> ChannelRefusal.Cause? {
      guard case .refused(let refusal) = try reply(.create(keepsNewest: true), status, #"{"reason":"\#(reason)"}"#)
      else { return nil }
      return refusal.cause
    }
    #expect(try cause(400, "CannotCreateChannelConfig") == .full)
    #expect(try cause(400, "FeatureNotEnabled") == .credential)
    #expect(try cause(403, "InvalidProviderToken") == .credential)
    #expect(try cause(403, "ExpiredProviderToken") == .authorizationExpired)
    #expect(try cause(429, "TooManyRequests") == .passing)
    #expect(try cause(503, "Service Unavailable") == .passing)
    #expect(try cause(400, "SomethingNew") == .request)
    #expect(try cause(404, "BadPath") == .request)
    #expect(try cause(500, "SomethingNew") == .passing)
    // A success without what it should say is none.
    for (call, status) in [(ChannelCall.create(keepsNewest: true), 201), (.read(channel), 200), (.list, 200)] {
      guard case .refused = try reply(call, status, "<html>") else {
        Issue.record("taken")
        continue
      }
    }
  }
}
