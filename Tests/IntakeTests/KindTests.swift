import Domain
import Intake
import Testing

@Suite("Every kind takes what it carries and nothing else")
struct KindTests {
  @Test("a message of each kind is read as it was meant")
  func kinds() throws {
    let start = try read(
      alert(
        #"""
        "kind":"live_activity","live_activity":{"event":"start","activity_id":"match-7","content_state":{"home":0},
         "attributes_type":"MatchAttributes","attributes":{"matchId":"m7"},"timestamp":1767219000,"stale_date":1767223600,
         "relevance_score":75,"input_push_token":true},"notification":{"title":"Kick-off","body":"Reds v Blues","sound":"a"}
        """#)
    ).message
    var activity = LiveActivity(
      event: .start, contentState: [JSONMember("home", .integer(0))], timestamp: 1_767_219_000)
    activity.activityID = "match-7"
    activity.attributesType = "MatchAttributes"
    activity.attributes = [JSONMember("matchId", .string("m7"))]
    activity.staleDate = 1_767_223_600
    activity.relevanceScore = 75
    activity.inputPushToken = true
    #expect(start.liveActivity == activity)
    #expect(start.notification?.body == "Reds v Blues")
    #expect(start.pushType == PushType(.liveActivity, .start))
    #expect(start.effectivePriority == .high)

    let files = try read(
      alert(#""kind":"file_provider","file_provider":{"container_identifier":"c","domain":"d"}"#)
    ).message
    #expect(files.fileProvider == FileProvider(containerIdentifier: "c", domain: "d"))
    #expect(try read(alert(#""kind":"mdm","mdm":{"push_magic":"M"}"#)).message.mdm == MDM(pushMagic: "M"))
    for kind in ["location", "complication", "push_to_talk", "widgets", "controls"] {
      #expect(try read(alert(#""kind":"\#(kind)""#)).message.kind.rawValue == kind)
    }
  }

  @Test("calls and transmissions are not kept unless asked, a channel's message neither")
  func ttl() throws {
    #expect(try read(alert(#""kind":"voip","data":{"call":1}"#)).message.ttl == 0)
    #expect(try read(alert(#""kind":"voip","data":{"call":1},"ttl":30"#)).message.ttl == 30)
    #expect(try read(alert(#""kind":"push_to_talk""#)).message.ttl == 0)
    #expect(try read(alert(#""kind":"location""#)).message.ttl == Message.defaultTTL)
    let update = #""kind":"live_activity","live_activity":{"event":"update","content_state":{},"timestamp":1}"#
    #expect(try read(alert(update)).message.ttl == Message.defaultTTL)
    let channel = #""to":{"channel":{"id":"dGVzdC1jaGFubmVs","bundle_id":"com.example.app","environment":"sandbox"}}"#
    let message = try read("{\(channel),\(update)}").message
    #expect(message.ttl == 0)
    #expect(
      message.to
        == .channel(
          Address(
            provider: .apns, token: "dGVzdC1jaGFubmVs", tokenKind: .channel, environment: .sandbox,
            bundleID: "com.example.app")))
    #expect(try read("{\(channel),\(update),\"ttl\":28800}").message.ttl == 28_800)
  }

  @Test("what single platforms show, and what goes with an alert of any")
  func looks() throws {
    let message = try read(
      alert(
        #"""
        "notification":{"body":"B","android_channel":"c","android_visibility":"secret","android_tag":"t",
         "android_count":4,"android_ticker":"k","web":{"icon":"https://a.example/i","badge":"https://a.example/b",
         "require_interaction":true,"silent":false,"tag":"w"}},"encrypted_body":"9f\n8e","analytics_label":"spring-26",
         "content_available":true
        """#)
    ).message
    let notification = try #require(message.notification)
    #expect(notification.androidVisibility == .secret)
    #expect(notification.androidTag == "t")
    #expect(notification.androidCount == 4)
    #expect(notification.androidTicker == "k")
    var web = WebLook()
    web.icon = "https://a.example/i"
    web.badge = "https://a.example/b"
    web.requireInteraction = true
    web.silent = false
    web.tag = "w"
    #expect(notification.web == web)
    #expect(message.encryptedBody == "9f\n8e")
    #expect(message.analyticsLabel == "spring-26")
    #expect(message.contentAvailable)
  }

  static let update = #""kind":"live_activity","live_activity":{"event":"update","content_state":{},"timestamp":1}"#
  static let start =
    #""kind":"live_activity","live_activity":{"event":"start","timestamp":1,"content_state":{},"attributes_type":"A","attributes":{}"#

  @Test(
    "what does not go together is refused where it stands",
    arguments: [
      // Kinds
      (alert(#""kind":"voip""#), ["/data required"]),
      (alert(#""kind":"voip","data":{"a":1},"ttl":3600"#), ["/ttl out_of_range"]),
      (alert(#""kind":"voip","data":{"a":1},"priority":"normal""#), ["/priority not_allowed"]),
      (alert(#""kind":"voip","data":{"a":1},"notification":{"title":"T"}"#), ["/notification not_allowed"]),
      (alert(#""kind":"voip","data":{"a":1},"content_available":true"#), ["/content_available not_allowed"]),
      (alert(#""kind":"push_to_talk","ttl":1"#), ["/ttl out_of_range"]),
      (alert(#""kind":"location","priority":"low""#), ["/priority not_allowed"]),
      (alert(#""kind":"complication","priority":"low""#), ["/priority not_allowed"]),
      (alert(#""kind":"mdm""#), ["/mdm required"]),
      (alert(#""kind":"mdm","mdm":{}"#), ["/mdm/push_magic required"]),
      (alert(#""kind":"mdm","mdm":{"push_magic":"M"},"data":{"a":1}"#), ["/data not_allowed"]),
      (alert(#""kind":"file_provider""#), ["/file_provider required"]),
      (
        alert(#""kind":"file_provider","file_provider":{"domain":7}"#),
        ["/file_provider/container_identifier required", "/file_provider/domain wrong_type"]
      ),
      (alert(#""kind":"widgets","data":{"a":1}"#), ["/data not_allowed"]),
      (alert(#""kind":"controls","mdm":{"push_magic":"M"}"#), ["/mdm not_allowed"]),
      (
        alert(#""notification":{"title":"T"},"file_provider":{"container_identifier":"c"}"#),
        ["/file_provider not_allowed"]
      ),
      // Live Activities
      (
        alert(#""kind":"live_activity","live_activity":{"content_state":{}}"#),
        ["/live_activity/event required"]
      ),
      (
        alert(
          #""kind":"live_activity","live_activity":{"event":"update","content_state":{},"timestamp":1767220000000}"#),
        ["/live_activity/timestamp out_of_range"]
      ),
      (
        alert(#""kind":"live_activity","live_activity":{"event":"update","timestamp":1}"#),
        ["/live_activity/content_state required"]
      ),
      (
        alert(#""kind":"live_activity","live_activity":{"event":"stop","timestamp":1}"#),
        ["/live_activity/event unknown_value"]
      ),
      (
        alert(
          #""kind":"live_activity","live_activity":{"event":"end","timestamp":1,"attributes":{},"input_push_token":true}"#
        ),
        ["/live_activity/attributes not_allowed", "/live_activity/input_push_token not_allowed"]
      ),
      (alert(update.dropLast() + #","dismissal_date":5}"#), ["/live_activity/dismissal_date not_allowed"]),
      (alert(update + #","priority":"low""#), ["/priority not_allowed"]),
      (alert(update + #","data":{"a":1}"#), ["/data not_allowed"]),
      (alert(start + "}"), ["/notification required"]),
      (
        alert(start + #","input_push_token":true,"input_push_channel":"YQ=="},"notification":{"title":"T"}"#),
        ["/live_activity/input_push_channel not_allowed"]
      ),
      (
        alert(start + #","input_push_channel":"a b"},"notification":{"title":"T"}"#),
        ["/live_activity/input_push_channel invalid_format"]
      ),
      (
        alert(
          update + #","notification":{"title":"T","badge":1,"relevance_score":1,"sound":{"name":"a","critical":true}}"#),
        [
          "/notification/badge not_allowed", "/notification/relevance_score not_allowed",
          "/notification/sound/critical not_allowed",
        ]
      ),
      // Channels
      (#"{"to":{"channel":"dGVzdA=="},\#(update)}"#, ["/to/channel wrong_type"]),
      (#"{"to":{"channel":{}},\#(update)}"#, ["/to/channel/id required"]),
      (#"{"to":{"channel":{"id":"a\r\nb"}},\#(update)}"#, ["/to/channel/id invalid_format"]),
      (#"{"to":{"channel":{"id":"YQ==","bundle_id":"a/b"}},\#(update)}"#, ["/to/channel/bundle_id invalid_format"]),
      (#"{"to":{"channel":{"id":"YQ=="}},"notification":{"title":"T"}}"#, ["/to not_allowed"]),
      (
        #"{"to":{"channel":{"id":"YQ=="}},\#(start)},"notification":{"title":"T"}}"#,
        ["/live_activity/event not_allowed"]
      ),
      (
        #"{"to":{"channel":{"id":"YQ=="}},\#(update),"ttl":28801,"collapse_key":"k"}"#,
        ["/collapse_key not_allowed", "/ttl out_of_range"]
      ),
      (
        #"{"to":{"tokens":[{"provider":"apns","token":"ab","token_kind":"channel"}]},\#(update)}"#,
        ["/to/tokens/0/token_kind not_allowed"]
      ),
      // Alerts
      (
        alert(#""notification":{"title":"T","interruption_level":"critical"}"#),
        ["/notification/interruption_level not_allowed"]
      ),
      (
        alert(#""notification":{"title":"T","interruption_level":"critical","sound":"a"}"#),
        ["/notification/interruption_level not_allowed"]
      ),
      (alert(#""notification":{"badge":1},"encrypted_body":"x""#), ["/encrypted_body not_allowed"]),
      (
        alert(#""notification":{"title":"T"},"encrypted_body":"x","mutable_content":false"#),
        ["/mutable_content not_allowed"]
      ),
      (
        alert(#""notification":{"title":"T"},"encrypted_body":"x","data":{"encrypted_body":1}"#),
        ["/data/encrypted_body duplicate"]
      ),
      (alert(#""notification":{"title":"T"},"encrypted_body":"""#), ["/encrypted_body empty"]),
      (alert(#""notification":{"title":"T"},"analytics_label":"a b""#), ["/analytics_label invalid_format"]),
      (
        alert(#""notification":{"title":"T","android_visibility":"hidden"}"#),
        ["/notification/android_visibility unknown_value"]
      ),
      (alert(#""notification":{"title":"T","android_count":-1}"#), ["/notification/android_count out_of_range"]),
      (alert(#""notification":{"title":"T","android_tag":7}"#), ["/notification/android_tag wrong_type"]),
      (
        alert(#""notification":{"title":"T","web":{"icon":"http://a.example"}}"#),
        ["/notification/web/icon invalid_format"]
      ),
      (alert(#""notification":{"title":"T","web":{"actions":[]}}"#), ["/notification/web/actions unknown_field"]),
      (alert(#""notification":{"title":"T","web":{"silent":"no"}}"#), ["/notification/web/silent wrong_type"]),
    ])
  func combinations(_ text: String, _ expected: [String]) throws {
    #expect(try faults(of: text) == expected)
  }

  @Test("a removal later than devices wait is told")
  func dismissal() throws {
    let end = #""kind":"live_activity","live_activity":{"event":"end","timestamp":100,"dismissal_date":"#
    #expect(try read(alert(end + "14500}")).warnings.isEmpty)
    #expect(try read(alert(end + "14501}")).warnings.map(\.pointer) == ["/live_activity/dismissal_date"])
  }
}
