import Domain
import Intake
import Support
import Testing

@Suite("A message with faults is refused with all of them")
struct BadMessageTests {
  @Test(
    "each fault has its pointer and its code",
    arguments: [
      // The whole
      ("[]", ["/ wrong_type"]),
      ("null", ["/ wrong_type"]),
      ("7", ["/ wrong_type"]),
      (#"{"notification":{"title":"T"}}"#, ["/to required"]),
      // Recipients
      (#"{"to":[],"notification":{"title":"T"}}"#, ["/to wrong_type"]),
      (#"{"to":{},"notification":{"title":"T"}}"#, ["/to required"]),
      (#"{"to":{"devices":["d"],"users":["u"]},"notification":{"title":"T"}}"#, ["/to not_allowed"]),
      (#"{"to":{"devices":[]},"notification":{"title":"T"}}"#, ["/to/devices empty"]),
      (#"{"to":{"devices":"d1"},"notification":{"title":"T"}}"#, ["/to/devices wrong_type"]),
      (
        #"{"to":{"devices":["ok",7,"a b","a/b","","é"]},"notification":{"title":"T"}}"#,
        [
          "/to/devices/1 wrong_type", "/to/devices/2 invalid_format", "/to/devices/3 invalid_format",
          "/to/devices/4 empty", "/to/devices/5 invalid_format",
        ]
      ),
      (#"{"to":{"users":["a\nb"]},"notification":{"title":"T"}}"#, ["/to/users/0 invalid_format"]),
      (#"{"to":{"everyone":false},"notification":{"title":"T"}}"#, ["/to/everyone not_allowed"]),
      (#"{"to":{"everyone":"yes"},"notification":{"title":"T"}}"#, ["/to/everyone wrong_type"]),
      // Top level
      (alert(#""notification":{"title":"T"},"kind":"alarm""#), ["/kind unknown_value"]),
      (alert(#""notification":{"title":"T"},"ttl":-1"#), ["/ttl out_of_range"]),
      (alert(#""notification":{"title":"T"},"ttl":2419201"#), ["/ttl out_of_range"]),
      (alert(#""notification":{"title":"T"},"ttl":18446744073709551615"#), ["/ttl out_of_range"]),
      (alert(#""notification":{"title":"T"},"ttl":1.5"#), ["/ttl wrong_type"]),
      (alert(#""notification":{"title":"T"},"ttl":"60""#), ["/ttl wrong_type"]),
      (alert(#""notification":{"title":"T"},"priority":"urgent""#), ["/priority unknown_value"]),
      (alert(#""notification":{"title":"T"},"priority":10"#), ["/priority wrong_type"]),
      (alert(#""notification":{"title":"T"},"ordered":"no""#), ["/ordered wrong_type"]),
      (alert(#""notification":{"title":"T"},"collapse_key":"""#), ["/collapse_key empty"]),
      (alert(#""notification":{"title":"T"},"collapse_key":"a\r\nb""#), ["/collapse_key invalid_format"]),
      (
        alert(#""notification":{"title":"T"},"collapse_key":"\#(String(repeating: "é", count: 33))""#),
        ["/collapse_key too_long"]
      ),
      (alert(#""notification":{"title":"T"},"providers":[]"#), ["/providers empty"]),
      (alert(#""notification":{"title":"T"},"providers":["apn"]"#), ["/providers/0 unknown_value"]),
      (alert(#""notification":{"title":"T"},"providers":["fcm",1]"#), ["/providers/1 wrong_type"]),
      (
        alert(#""notification":{"title":"T"},"labels":{"a":[],"b":null}"#),
        ["/labels/a wrong_type", "/labels/b wrong_type"]
      ),
      (alert(#""notification":{"title":"T"},"data":[]"#), ["/data wrong_type"]),
      (alert(#""notification":{"title":"T"},"data":{"aps":{}}"#), ["/data/aps not_allowed"]),
      (
        alert(#""notification":{"title":"T"},"data":{"big":"\#(String(repeating: "x", count: 5_200))"}"#),
        ["/data too_long"]
      ),
      // Notification
      (alert(#""notification":null"#), ["/notification wrong_type"]),
      (alert(#""notification":{}"#), ["/notification required"]),
      (alert(#""notification":{"title":"","image":"https://a.example/b"}"#), ["/notification required"]),
      (alert(#""data":{"a":1}"#), ["/notification required"]),
      (
        alert(#""notification":{"title":5,"body":null}"#),
        ["/notification/title wrong_type", "/notification/body wrong_type"]
      ),
      (alert(#""notification":{"title":"T","badge":-1}"#), ["/notification/badge out_of_range"]),
      (alert(#""notification":{"title":"T","badge":"3"}"#), ["/notification/badge wrong_type"]),
      (alert(#""notification":{"title":"T","badge":4294967296}"#), ["/notification/badge out_of_range"]),
      (alert(#""notification":{"title":"T","image":"http://a.example/b"}"#), ["/notification/image invalid_format"]),
      (alert(#""notification":{"title":"T","image":"https://"}"#), ["/notification/image invalid_format"]),
      (alert(#""notification":{"title":"T","image":"https://a b"}"#), ["/notification/image invalid_format"]),
      (alert(#""notification":{"title":"T","relevance_score":1.01}"#), ["/notification/relevance_score out_of_range"]),
      (
        alert(#""notification":{"title":"T","interruption_level":"loud"}"#),
        ["/notification/interruption_level unknown_value"]
      ),
      (
        alert(#""notification":{"sound":{"name":"a","volume":2,"critical":true}}"#),
        ["/notification/sound/volume out_of_range"]
      ),
      (alert(#""notification":{"sound":["a"]}"#), ["/notification/sound wrong_type"]),
      (alert(#""notification":{"title":"T","title_args":["a"]}"#), ["/notification/title_args required"]),
      (alert(#""notification":{"title_key":"K","title_args":[1]}"#), ["/notification/title_args/0 wrong_type"]),
      (alert(#""notification":{"title":"T","color":"red"}"#), ["/notification/color invalid_format"]),
      (alert(##""notification":{"title":"T","color":"#12345g"}"##), ["/notification/color invalid_format"]),
      (
        alert(#""notification":{"title":"T","buttons":[{},{},{},{}]}"#),
        [
          "/notification/buttons too_many", "/notification/buttons/0/id required",
          "/notification/buttons/0/text required", "/notification/buttons/1/id required",
          "/notification/buttons/1/text required", "/notification/buttons/2/id required",
          "/notification/buttons/2/text required", "/notification/buttons/3/id required",
          "/notification/buttons/3/text required",
        ]
      ),
      (
        alert(#""notification":{"title":"T","buttons":[{"id":"a","text":"A"},{"id":"a","text":"B"},{"id":"c"}]}"#),
        ["/notification/buttons/1/id duplicate", "/notification/buttons/2/text required"]
      ),
      (
        alert(#""notification":{"title":"T","localized":{"de_DE":{"titel":"x"}}},"providers":["onesignal"]"#),
        ["/notification/localized/de_DE invalid_format", "/notification/localized/de_DE/titel unknown_field"]
      ),
      // What vendors refuse together
      (alert(#""kind":"background","notification":{"title":"T"}"#), ["/notification not_allowed"]),
      (alert(#""kind":"background","content_available":false"#), ["/content_available not_allowed"]),
      (alert(#""kind":"background","mutable_content":true"#), ["/mutable_content not_allowed"]),
      (alert(#""notification":{"badge":1},"mutable_content":true"#), ["/mutable_content not_allowed"]),
      (
        alert(#""notification":{"title":"T"},"live_activity":{"event":"end","timestamp":1}"#),
        ["/live_activity not_allowed"]
      ),
      (alert(#""kind":"live_activity""#), ["/live_activity required"]),
      (
        alert(#""kind":"live_activity","live_activity":{"event":"start"}"#),
        [
          "/live_activity/content_state required",
          "/live_activity/attributes_type required", "/live_activity/attributes required", "/notification required",
        ]
      ),
      // Shapes of what comes later
      (alert(#""notification":{"title":"T"},"send_at":"tomorrow""#), ["/send_at invalid_format"]),
      (alert(#""notification":{"title":"T"},"send_at":"2026-02-30T09:00:00Z""#), ["/send_at invalid_format"]),
      (
        alert(#""notification":{"title":"T"},"send_at_local":"2026-12-01T09:00:00Z""#),
        ["/send_at_local invalid_format"]
      ),
      (alert(#""notification":{"title":"T"},"rate_per_second":0"#), ["/rate_per_second out_of_range"]),
      (alert(#""notification":{"title":"T"},"durability":{"replica":1}"#), ["/durability/replica unknown_field"]),
    ])
  func oneFault(_ text: String, _ expected: [String]) throws {
    #expect(try faults(of: text) == expected.map { $0.hasPrefix("/ ") ? String($0.dropFirst()) : $0 })
  }

  @Test("all faults are told at once")
  func allAtOnce() throws {
    let text = #"""
      {"to":{"tokens":[{"provider":"apns","token":"xyz"},{"provider":"fcm","token":"a/b","environment":"sandbox"}]},
       "kind":"alert","notification":{"titel":"T","badge":-1},"ttl":"x","prority":"high","data":{"aps":1}}
      """#
    #expect(
      Set(try faults(of: text)) == [
        "/to/tokens/0/token invalid_format", "/to/tokens/1/token invalid_format", "/notification/titel unknown_field",
        "/notification/badge out_of_range", "/ttl wrong_type", "/prority unknown_field", "/data/aps not_allowed",
      ])
  }

  @Test(
    "an unknown field is refused with what was probably meant",
    arguments: [
      (alert(#""notification":{"titel":"T"}"#), "did you mean `title`?"),
      (alert(#""notification":{"title":"T"},"collapseKey":"a""#), "did you mean `collapse_key`?"),
      (alert(#""notification":{"title":"T"},"pritority":"high""#), "did you mean `priority`?"),
      (alert(#""notification":{"title":"T"},"title":"T""#), "did you mean `notification.title`?"),
      (alert(#""notification":{"title":"T"},"devices":["a"]"#), "did you mean `to.devices`?"),
      (alert(#""notification":{"title":"T","threadId":"a"}"#), "did you mean `thread_id`?"),
      (alert(#""notification":{"title":"T","sound":{"nmae":"a"}}"#), "did you mean `name`?"),
      (alert(#""notification":{"title":"T"},"overrides":{"apsn":{}}"#), "did you mean `apns`?"),
      (alert(#""notification":{"title":"T"},"overrides":{"apns":{"header":{}}}"#), "did you mean `headers`?"),
      (alert(#""notification":{"title":"T"},"overrides":{"fcm":{"andriod":{}}}"#), "did you mean `android`?"),
      (alert(#""notification":{"title":"T"},"priority":"hihg""#), "did you mean `high`?"),
    ])
  func suggestions(_ text: String, _ hint: String) throws {
    let candidate = try document(text)
    do throws(Refusal) {
      _ = try MessageReader.read(candidate, providers: knownProviders)
      Issue.record("was accepted")
    } catch {
      #expect(error.violations.count >= 1)
      #expect(error.violations.contains { $0.detail.contains(hint) }, "\(error.violations)")
    }
  }

  @Test(
    "tokens that could leave their place in a request are refused",
    arguments: [
      (#"{"provider":"apns","token":"abc"}"#, "/to/tokens/0/token invalid_format"),
      (#"{"provider":"apns","token":"ab/cd"}"#, "/to/tokens/0/token invalid_format"),
      (#"{"provider":"apns","token":"ab\r\ncd"}"#, "/to/tokens/0/token invalid_format"),
      (#"{"provider":"apns","token":"\#(String(repeating: "a", count: 514))"}"#, "/to/tokens/0/token too_long"),
      (#"{"provider":"apns","token":""}"#, "/to/tokens/0/token empty"),
      (#"{"provider":"apns","token":"ab","token_kind":"fid"}"#, "/to/tokens/0/token_kind not_allowed"),
      (#"{"provider":"apns","token":"ab","bundle_id":"a\nb"}"#, "/to/tokens/0/bundle_id invalid_format"),
      (#"{"provider":"apns","token":"ab","bundle_id":"a:b"}"#, "/to/tokens/0/bundle_id invalid_format"),
      (#"{"provider":"apns","token":"ab","environment":"development"}"#, "/to/tokens/0/environment unknown_value"),
      (#"{"provider":"fcm","token":"a b"}"#, "/to/tokens/0/token invalid_format"),
      (#"{"provider":"fcm","token":"a/../b"}"#, "/to/tokens/0/token invalid_format"),
      (#"{"provider":"fcm","token":"a\r\nhost: x"}"#, "/to/tokens/0/token invalid_format"),
      (#"{"provider":"fcm","token":"\#(String(repeating: "a", count: 4_097))"}"#, "/to/tokens/0/token too_long"),
      (#"{"provider":"fcm","token":"ab","environment":"sandbox"}"#, "/to/tokens/0/environment not_allowed"),
      (#"{"provider":"fcm","token":"ab","bundle_id":"com.a"}"#, "/to/tokens/0/bundle_id not_allowed"),
      (#"{"provider":"fcm","token":"ab","token_kind":"voip"}"#, "/to/tokens/0/token_kind not_allowed"),
      (#"{"provider":"onesignal","token":"abc"}"#, "/to/tokens/0/token invalid_format"),
      (#"{"provider":"onesignal","token":"alias:x"}"#, "/to/tokens/0/token invalid_format"),
      (#"{"provider":"onesignal","token":"alias:a-b:c"}"#, "/to/tokens/0/token invalid_format"),
      (#"{"provider":"onesignal","token":"alias::c"}"#, "/to/tokens/0/token invalid_format"),
      (#"{"provider":"smoke","token":"ab"}"#, "/to/tokens/0/provider unknown_value"),
      (#"{"token":"ab"}"#, "/to/tokens/0/provider required"),
      (#"{"provider":"fcm"}"#, "/to/tokens/0/token required"),
      (#""abcd""#, "/to/tokens/0 wrong_type"),
    ])
  func tokens(_ token: String, _ expected: String) throws {
    let text = #"{"to":{"tokens":[\#(token)]},"notification":{"title":"T"}}"#
    #expect(try faults(of: text) == [expected])
  }

  @Test(
    "an override cannot smuggle a header or aim anew",
    arguments: [
      (#"{"apns":{"headers":{"x-a":"b\r\nhost: evil"}}}"#, "/overrides/apns/headers/x-a invalid_format"),
      (#"{"apns":{"headers":{"x-a":"b\u0000"}}}"#, "/overrides/apns/headers/x-a invalid_format"),
      (#"{"apns":{"headers":{"x a":"b"}}}"#, "/overrides/apns/headers/x a invalid_format"),
      (#"{"apns":{"headers":{":path":"/3/device/x"}}}"#, "/overrides/apns/headers/:path invalid_format"),
      (#"{"apns":{"headers":{"a\r\nb":"c"}}}"#, "/overrides/apns/headers/a\r\nb invalid_format"),
      (#"{"apns":{"headers":{"":"c"}}}"#, "/overrides/apns/headers/ invalid_format"),
      (#"{"apns":{"headers":{"authorization":"bearer x"}}}"#, "/overrides/apns/headers/authorization not_allowed"),
      (#"{"apns":{"headers":{"Host":"x"}}}"#, "/overrides/apns/headers/Host not_allowed"),
      (#"{"apns":{"headers":{"content-length":"1"}}}"#, "/overrides/apns/headers/content-length not_allowed"),
      (#"{"apns":{"headers":{"connection":"close"}}}"#, "/overrides/apns/headers/connection not_allowed"),
      (#"{"apns":{"headers":{"transfer-encoding":"x"}}}"#, "/overrides/apns/headers/transfer-encoding not_allowed"),
      (#"{"apns":{"headers":{"apns-topic":"com.x"}}}"#, "/overrides/apns/headers/apns-topic not_allowed"),
      (
        #"{"fcm":{"apns":{"headers":{"apns-push-type":"voip"}}}}"#,
        "/overrides/fcm/apns/headers/apns-push-type not_allowed"
      ),
      (#"{"apns":{"headers":{"apns-id":"x"}}}"#, "/overrides/apns/headers/apns-id not_allowed"),
      (#"{"apns":{"headers":{"Apns-Priority":"5"}}}"#, "/overrides/apns/headers/Apns-Priority invalid_format"),
      (#"{"apns":{"headers":{"apns-priority":5}}}"#, "/overrides/apns/headers/apns-priority wrong_type"),
      (#"{"apns":{"headers":[]}}"#, "/overrides/apns/headers wrong_type"),
      (#"{"fcm":{"apns":{"headers":{"authorization":"x"}}}}"#, "/overrides/fcm/apns/headers/authorization not_allowed"),
      (#"{"fcm":{"webpush":{"headers":{"Topic":"a\nb"}}}}"#, "/overrides/fcm/webpush/headers/Topic invalid_format"),
      (#"{"fcm":{"webpush":{"headers":{"TTL":"1","ttl":"2"}}}}"#, "/overrides/fcm/webpush/headers/ttl duplicate"),
      (#"{"onesignal":{"included_segments":["All"]}}"#, "/overrides/onesignal/included_segments not_allowed"),
      (#"{"onesignal":{"include_aliases":{}}}"#, "/overrides/onesignal/include_aliases not_allowed"),
      (#"{"onesignal":{"app_id":"x"}}"#, "/overrides/onesignal/app_id not_allowed"),
      (#"{"onesignal":{"idempotency_key":"x"}}"#, "/overrides/onesignal/idempotency_key not_allowed"),
      (#"{"onesignal":[]}"#, "/overrides/onesignal wrong_type"),
    ])
  func overrides(_ overrides: String, _ expected: String) throws {
    let text = alert(#""notification":{"title":"T"},"overrides":\#(overrides)"#)
    #expect(try faults(of: text) == [expected])
  }

  @Test(
    "a rate is a whole number of deliveries a second, a brake has a share and a minimum",
    arguments: [
      (#""rate_per_second":0"#, "/rate_per_second out_of_range"),
      (#""rate_per_second":-5"#, "/rate_per_second out_of_range"),
      (#""rate_per_second":1000001"#, "/rate_per_second out_of_range"),
      (#""rate_per_second":0.5"#, "/rate_per_second wrong_type"),
      (#""rate_per_second":"fast""#, "/rate_per_second wrong_type"),
      (#""error_brake":{"share":1.5}"#, "/error_brake/share out_of_range"),
      (#""error_brake":{"minimum":0}"#, "/error_brake/minimum out_of_range"),
      (#""error_brake":{"limit":1}"#, "/error_brake/limit unknown_field"),
    ])
  func pace(_ member: String, _ expected: String) throws {
    #expect(try faults(of: alert(#""notification":{"title":"T"},"# + member)) == [expected])
  }

  @Test("a hundred thousand targets are one clear fault")
  func tooManyTargets() throws {
    let list = [String](repeating: #""d""#, count: 100_000).joined(separator: ",")
    let text = #"{"to":{"devices":[\#(list)]},"notification":{"title":"T"}}"#
    #expect(try faults(of: text) == ["/to/devices too_many"])
  }

  @Test("the list of faults is bounded, and says how many it leaves out")
  func boundedFaults() throws {
    let list = [String](repeating: "7", count: 5_000).joined(separator: ",")
    let found = try faults(of: #"{"to":{"devices":[\#(list)]},"notification":{"title":"T"}}"#)
    #expect(found.count == RequestBounds.violations + 1)
    #expect(found.last == " more_violations")
  }

  @Test("a hostile name does not blow up the answer")
  func longName() throws {
    let name = String(repeating: "x", count: 500_000)
    let candidate = try document(alert(#""notification":{"title":"T"},"\#(name)":1"#))
    do throws(Refusal) {
      _ = try MessageReader.read(candidate, providers: knownProviders)
      Issue.record("was accepted")
    } catch {
      #expect(error.violations.count == 1)
      #expect(error.violations.allSatisfy { $0.pointer.utf8.count < 200 && $0.detail.utf8.count < 1_000 })
    }
  }
}
