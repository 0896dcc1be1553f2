import Domain
import Testing

/// protocols/apns.md section 14, R7 to R12, and the kinds of its section 3 that have no vector there: from the API's
/// words to the wire.
@Suite("APNs requests of every kind")
struct APNsKindVectors {
  private func request(_ kind: String, _ members: String = "") throws
    -> (headers: [String: String], request: ProviderRequest)
  {
    try ProviderUnderTest.apns.request(
      #"{"to":{"devices":["d"]},"kind":"\#(kind)"\#(members.isEmpty ? "" : ","+members)}"#)
  }
  private var kept: String { String(started.seconds + 259_200) }

  @Test("R7 Live Activity update")
  func update() throws {
    let (headers, request) = try request(
      "live_activity",
      #""priority":"normal","live_activity":{"event":"update","timestamp":1767220000,"content_state":{"home":2,"away":1},"stale_date":1767223600,"relevance_score":75}"#
    )
    #expect(request.path == "/3/device/" + ProviderUnderTest.apnsToken)
    #expect(headers["apns-topic"] == "com.example.app.push-type.liveactivity")
    #expect(headers["apns-push-type"] == "liveactivity")
    #expect(headers["apns-priority"] == "5")
    try expectJSON(
      request.body,
      #"{"aps":{"timestamp":1767220000,"event":"update","content-state":{"home":2,"away":1},"stale-date":1767223600,"relevance-score":75}}"#
    )
  }

  @Test("R8 Live Activity start; a sound stands inside the alert, keys of texts inside title and body")
  func start() throws {
    let activity =
      #""live_activity":{"event":"start","timestamp":1767219000,"content_state":{"home":0,"away":0},"attributes_type":"MatchAttributes","attributes":{"matchId":"m7"},"input_push_token":true}"#
    let (headers, request) = try request(
      "live_activity", activity + #","notification":{"title":"Kick-off","body":"Reds v Blues"}"#)
    #expect(headers["apns-priority"] == "10")
    try expectJSON(
      request.body,
      #"{"aps":{"timestamp":1767219000,"event":"start","content-state":{"home":0,"away":0},"attributes-type":"MatchAttributes","attributes":{"matchId":"m7"},"input-push-token":1,"alert":{"title":"Kick-off","body":"Reds v Blues"}}}"#
    )
    let (_, listening) = try self.request(
      "live_activity",
      activity.replacing(#""input_push_token":true"#, with: #""input_push_channel":"dGVzdC1jaGFubmVs""#)
        + #","notification":{"title_key":"KICK","title_args":["Reds"],"body_key":"TEAMS","sound":"whistle.caf"}"#)
    try expectJSON(
      listening.body,
      #"{"aps":{"timestamp":1767219000,"event":"start","content-state":{"home":0,"away":0},"attributes-type":"MatchAttributes","attributes":{"matchId":"m7"},"input-push-channel":"dGVzdC1jaGFubmVs","alert":{"title":{"loc-key":"KICK","loc-args":["Reds"]},"body":{"loc-key":"TEAMS","loc-args":[]},"sound":"whistle.caf"}}}"#
    )
  }

  @Test("R9 Live Activity end, removed at once")
  func end() throws {
    let (headers, request) = try request(
      "live_activity",
      #""priority":"high","live_activity":{"event":"end","timestamp":1767226000,"dismissal_date":1767225999,"content_state":{"home":3,"away":1}}"#
    )
    #expect(headers["apns-priority"] == "10")
    try expectJSON(
      request.body,
      #"{"aps":{"timestamp":1767226000,"event":"end","dismissal-date":1767225999,"content-state":{"home":3,"away":1}}}"#
    )
  }

  @Test("R10 broadcast update: the bundle id in the path, no topic, the channel in a header")
  func broadcast() throws {
    let text =
      #"{"to":{"channel":{"id":"dGVzdC1jaGFubmVs","bundle_id":"com.example.app"}},"kind":"live_activity","priority":"high","live_activity":{"event":"update","timestamp":1767220100,"content_state":{"home":2,"away":2}}}"#
    guard case .channel(let address) = try apiMessage(text).to else {
      Issue.record("the channel was not read")
      return
    }
    let (headers, request) = try ProviderUnderTest.apns.request(text, to: address)
    #expect(request.path == "/4/broadcasts/apps/com.example.app")
    #expect(
      headers == [
        "apns-channel-id": "dGVzdC1jaGFubmVs", "apns-push-type": "liveactivity", "apns-priority": "10",
        "apns-expiration": "0", "apns-request-id": someID.description, "authorization": "bearer jwt",
      ])
    try expectJSON(
      request.body,
      #"{"aps":{"timestamp":1767220100,"event":"update","content-state":{"home":2,"away":2}}}"#)

    var plain = address
    plain.bundleID = nil
    #expect(try ProviderUnderTest.apns.request(text, to: plain).request.path.hasSuffix("/com.example.app"))
  }

  @Test("R11 VoIP: keys at the root, tried once")
  func voip() throws {
    let (headers, request) = try request("voip", #""data":{"callId":"c-551","from":"Ana"}"#)
    #expect(
      headers == [
        "apns-topic": "com.example.app.voip", "apns-push-type": "voip", "apns-priority": "10", "apns-expiration": "0",
        "apns-id": someID.description, "authorization": "bearer jwt",
      ])
    try expectJSON(request.body, #"{"callId":"c-551","from":"Ana"}"#)
  }

  @Test("R12 widget reload: no priority unless asked for")
  func widgets() throws {
    let (headers, request) = try request("widgets")
    #expect(
      headers == [
        "apns-topic": "com.example.app.push-type.widgets", "apns-push-type": "widgets", "apns-expiration": kept,
        "apns-id": someID.description, "authorization": "bearer jwt",
      ])
    try expectJSON(request.body, #"{"aps":{"content-changed":true}}"#)
    #expect(try self.request("widgets", #""priority":"high""#).headers["apns-priority"] == "10")
  }

  @Test(
    "the other kinds: topic, push type, priority and payload",
    arguments: [
      ("location", "", ".location-query", "location", "10", #"{"aps":{}}"#),
      ("location", #""data":{"ask":1},"priority":"normal""#, ".location-query", "location", "5", #"{"ask":1}"#),
      ("complication", #""data":{"score":[2,1]}"#, ".complication", "complication", "10", #"{"score":[2,1]}"#),
      (
        "file_provider",
        #""file_provider":{"container_identifier":"NSFileProviderWorkingSetContainerItemIdentifier","domain":"d1"}"#,
        ".pushkit.fileprovider", "fileprovider", "5",
        #"{"container-identifier":"NSFileProviderWorkingSetContainerItemIdentifier","domain":"d1"}"#
      ),
      ("push_to_talk", #""data":{"speaker":"Ana"}"#, ".voip-ptt", "pushtotalk", "10", #"{"speaker":"Ana"}"#),
      ("controls", "", ".push-type.controls", "controls", "10", #"{"aps":{"content-changed":true}}"#),
    ])
  func others(_ kind: String, _ members: String, _ suffix: String, _ type: String, _ priority: String, _ body: String)
    throws
  {
    let (headers, request) = try request(kind, members)
    #expect(headers["apns-topic"] == "com.example.app" + suffix)
    #expect(headers["apns-push-type"] == type)
    #expect(headers["apns-priority"] == priority)
    #expect(headers["apns-expiration"] == (kind == "push_to_talk" ? "0" : kept))
    try expectJSON(request.body, body)
  }

  @Test("device management goes to its own topic, which is no bundle id")
  func mdm() throws {
    var address = ProviderUnderTest.apns.address
    address.tokenKind = .mdm
    address.bundleID = "com.apple.mgmt.External.9a2e7f0e-1c8a-4f5e-8d5c-1a2b3c4d5e6f"
    let (headers, request) = try ProviderUnderTest.apns.request(
      #"{"to":{"devices":["d"]},"kind":"mdm","mdm":{"push_magic":"ABC-1"}}"#, to: address)
    #expect(headers["apns-topic"] == address.bundleID)
    #expect(headers["apns-push-type"] == "mdm")
    #expect(headers["apns-priority"] == "10")
    try expectJSON(request.body, #"{"mdm":"ABC-1"}"#)
  }

  @Test("a bundle id that was registered with its suffix gets no second one")
  func suffixedBundle() throws {
    var address = ProviderUnderTest.apns.address
    address.bundleID = "com.example.app.voip"
    let text = #"{"to":{"devices":["d"]},"kind":"voip","data":{"a":1}}"#
    #expect(try ProviderUnderTest.apns.request(text, to: address).headers["apns-topic"] == "com.example.app.voip")
  }

  @Test(
    "calls and broadcasts may have 5,120 bytes, everything else 4,096",
    arguments: [
      (#"{"to":{"devices":["d"]},"kind":"voip","data":{"k":""}}"#, 5_120),
      (#"{"to":{"devices":["d"]},"kind":"push_to_talk","data":{"k":""}}"#, 4_096),
      (
        #"{"to":{"channel":{"id":"YQ=="}},"kind":"live_activity","live_activity":{"event":"update","timestamp":1,"content_state":{"k":""}}}"#,
        5_120
      ),
      (
        #"{"to":{"devices":["d"]},"kind":"live_activity","live_activity":{"event":"update","timestamp":1,"content_state":{"k":""}}}"#,
        4_096
      ),
    ])
  func limits(_ text: String, _ limit: Int) throws {
    let account = try ProviderUnderTest.apns.account()
    func sized(_ count: Int) throws -> Message {
      var message = try apiMessage(text)
      let members = [JSONMember("k", .string(String(repeating: "x", count: count)))]
      if message.kind == .liveActivity { message.liveActivity?.contentState = members } else { message.data = members }
      return message
    }
    let bare = try account.render(sized(0), startedAt: started).head.count
    #expect(try account.render(sized(limit - bare), startedAt: started).head.count == limit)
    let fault = #expect(throws: RenderFault.self) { try account.render(sized(limit - bare + 1), startedAt: started) }
    #expect(fault?.code == "payload_too_large")
  }

  @Test(
    "what stands under a kind's own field is needed to send it", arguments: [Kind.liveActivity, .fileProvider, .mdm])
  func incomplete(_ kind: Kind) throws {
    let account = try ProviderUnderTest.apns.account()
    let fault = #expect(throws: RenderFault.self) {
      try account.render(Message(to: .everyone, kind: kind), startedAt: started)
    }
    #expect(fault?.code == "required")
  }

  @Test("each kind of message reaches one kind of token, Live Activities one for each event")
  func tokens() {
    var address = ProviderUnderTest.apns.address
    var reached: [PushType: [TokenKind]] = [:]
    for pushType in PushType.all {
      reached[pushType] = TokenKind.allCases.filter {
        address.tokenKind = $0
        return ProviderUnderTest.apns.provider.carries(pushType, to: address)
      }
    }
    #expect(
      reached == [
        PushType(.alert): [.device], PushType(.background): [.device], PushType(.liveActivity, .start): [.pushToStart],
        PushType(.liveActivity, .update): [.activity, .channel], PushType(.liveActivity, .end): [.activity, .channel],
        PushType(.voip): [.voip], PushType(.location): [.location], PushType(.complication): [.complication],
        PushType(.fileProvider): [.fileProvider], PushType(.mdm): [.mdm], PushType(.pushToTalk): [.pushToTalk],
        PushType(.widgets): [.widgets], PushType(.controls): [.controls],
      ])
  }
}
