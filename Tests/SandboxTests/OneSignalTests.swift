import Domain
import JSON
import Testing

@testable import HTTP2
@testable import Sandbox

private let app = "8250eaf6-1a58-489e-b136-7c74a864b434"
private let id = "1dd608f2-c6a1-11e3-851d-000c2940e62c"

@Suite struct OneSignalTests {
  private let vendor = OneSignalVendor(appID: app, apiKey: "os_v2_app_x", legacyKey: "legacy", seed: 1)
  private let now = WallTime(seconds: 1_767_220_000)

  private func examine(
    _ body: String, method: String = "POST", path: String = "/notifications", key: String? = "Key os_v2_app_x",
    query: String = ""
  ) -> Examination {
    var headers = [Header("content-type", "application/json")]
    if let key { headers.append(Header("authorization", key)) }
    let request = HTTP2ServerRequest(
      stream: HTTP2ServerStream(connection: 1, stream: 1), method: method, path: path + query, authority: "localhost",
      headers: headers, body: Array(body.utf8))
    let examination = vendor.examine(request, now: now)
    if examination.valid { vendor.processed(examination, now: now) }
    return examination
  }
  private func text(_ examination: Examination) -> String {
    String(decoding: examination.answer.body, as: UTF8.self)
  }

  @Test(
    "the sheet's requests pass (R1–R6)",
    arguments: [
      #"{"app_id":"8250eaf6-1a58-489e-b136-7c74a864b434","include_aliases":{"external_id":["u-17","u-18"]},"target_channel":"push","headings":{"en":"Order shipped"},"subtitle":{"en":"Parcel 1 of 2"},"contents":{"en":"Arrives Tuesday"},"ios_badgeType":"SetTo","ios_badgeCount":3,"ios_sound":"chime.caf","ios_category":"ORDER","thread_id":"order-881","android_group":"order-881","collapse_id":"order-881","data":{"orderId":"881"},"priority":10,"ttl":86400,"idempotency_key":"0f8a1f0e-5d0a-4c8b-8a55-8f3f5f1d2c11"}"#,
      #"{"app_id":"8250eaf6-1a58-489e-b136-7c74a864b434","include_subscription_ids":["1dd608f2-c6a1-11e3-851d-000c2940e62c"],"content_available":true,"data":{"sync":"inbox"},"priority":5,"idempotency_key":"6b1de0d2-7a0f-4ac6-9e0e-1b8d6f6a7d02"}"#,
      #"{"app_id":"8250eaf6-1a58-489e-b136-7c74a864b434","included_segments":["Active Users"],"excluded_segments":["Muted"],"headings":{"en":"New photo"},"contents":{"en":"Ana posted"},"ios_attachments":{"p":"https://cdn.example.com/p/9.jpg"},"big_picture":"https://cdn.example.com/p/9.jpg","chrome_web_image":"https://cdn.example.com/p/9.jpg","priority":10,"idempotency_key":"b1f7c2a4-0c53-4d1a-8a2f-3f2d0a9b7c03"}"#,
      #"{"app_id":"8250eaf6-1a58-489e-b136-7c74a864b434","include_aliases":{"external_id":["u-17"]},"target_channel":"push","headings":{"en":"Gate change","de":"Gate geändert"},"contents":{"en":"Now B12","de":"Jetzt B12"},"ios_interruption_level":"time_sensitive","ios_relevance_score":1,"priority":10,"ttl":600,"idempotency_key":"c0c5b9de-2d0c-4b5f-9d59-2f7a5d0e1c04"}"#,
      #"{"app_id":"8250eaf6-1a58-489e-b136-7c74a864b434","filters":[{"field":"tag","key":"plan","relation":"=","value":"pro"},{"operator":"OR"},{"field":"country","relation":"=","value":"DE"}],"contents":{"en":"Hello"},"priority":10,"idempotency_key":"d3f2a1b0-6e5d-4c3b-9a19-7c8e9f0a1b05"}"#,
      #"{"app_id":"8250eaf6-1a58-489e-b136-7c74a864b434","included_segments":["All"],"contents":{"en":"x"},"send_after":"2026-01-05T00:00:00Z","delayed_option":"timezone","delivery_time_of_day":"9:00AM"}"#,
    ])
  func vectors(_ body: String) {
    let examination = examine(body)
    #expect(examination.valid)
    #expect(examination.answer.status == 200)
    #expect(UUIDBytes(examination.answer.name) != nil)
    #expect(!examination.members.isEmpty)
  }

  @Test("the legacy path and key (R11), Live Activities (R7, R8), tags (R9), cancelling (R10)")
  func others() throws {
    let legacy = examine(
      #"{"app_id":"\#(app)","include_player_ids":["\#(id)"],"contents":{"en":"Hi"}}"#, path: "/api/v1/notifications",
      key: "Basic legacy")
    #expect(legacy.valid)
    #expect(legacy.members == [id])
    #expect(text(legacy) == #"{"id":"\#(legacy.answer.name)","external_id":null}"#)
    let update = examine(
      #"{"event":"update","name":"goal","event_updates":{"home":2,"away":1},"contents":{"en":"Goal"},"headings":{"en":"2-1"},"priority":5,"stale_date":1767223600}"#,
      path: "/apps/\(app)/live_activities/match-7/notifications")
    #expect(update.answer.status == 201)
    let start = examine(
      #"{"event":"start","activity_id":"match-7","name":"kickoff","include_aliases":{"external_id":["u-17"]},"event_attributes":{"matchId":"m7"},"event_updates":{"home":0,"away":0},"contents":{"en":"Kick-off"},"headings":{"en":"Reds v Blues"},"idempotency_key":"e9d8c7b6-a5f4-4e3d-8c2b-1a0f9e8d7c06"}"#,
      path: "/apps/\(app)/activities/activity/MatchAttributes")
    #expect(start.answer.status == 201)
    let tags = examine(
      #"{"properties":{"tags":{"plan":"pro","level":"8"}}}"#, method: "PATCH",
      path: "/apps/\(app)/users/by/external_id/u-17")
    #expect(tags.answer.status == 202)
    let cancel = {
      self.examine("", method: "DELETE", path: "/notifications/\(legacy.answer.name)", query: "?app_id=\(app)")
    }
    #expect(text(cancel()) == #"{"success":true}"#)
    #expect(text(cancel()) == #"{"errors":["Notification not found"]}"#)
  }

  @Test(
    "a bad request is refused in the vendor's words",
    arguments: [
      (#""contents":{"de":"x"},"include_subscription_ids":["\#(id)"]"#, 400, "English language content"),
      (#""include_subscription_ids":["\#(id)"]"#, 400, "English language content"),
      (#""contents":{"en":"x"}"#, 400, "You must include which players"),
      (#""contents":{"en":"x"},"include_subscription_ids":[]"#, 400, "You must include which players"),
      (#""contents":{"en":"x"},"include_subscription_ids":["abc"]"#, 400, "not a valid UUID): abc"),
      (
        #""contents":{"en":"x"},"include_subscription_ids":["\#(id)"],"included_segments":["All"]"#, 400,
        "one targeting method"
      ),
      (#""contents":{"en":"x"},"filters":[{"field":"shoe"}]"#, 400, "Unknown field"),
      (#""contents":{"en":"x"},"filters":[{"field":"country","relation":"~","value":"DE"}]"#, 400, "Unknown relation"),
      (#""contents":{"en":"x"},"filters":[{"field":"tag","key":"a","relation":"="}]"#, 400, "need a value"),
      (
        #""contents":{"en":"x"},"filters":[{"field":"session_count","relation":">","value":3}]"#, 400, "must be strings"
      ),
      (
        #""contents":{"en":"x"},"filters":[{"field":"tag","key":"a","relation":"in_array","value":"1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21"}]"#,
        400, "at most 20"
      ),
      (#""contents":{"en":"x"},"include_aliases":{"external_id":["u"]}"#, 400, "target_channel"),
      (#""contents":{"en":"x"},"include_subscription_ids":["\#(id)"],"priority":7"#, 400, "priority"),
      (#""contents":{"en":"x"},"include_subscription_ids":["\#(id)"],"ttl":2419201"#, 400, "ttl"),
      (#""contents":{"en":"x"},"include_subscription_ids":["\#(id)"],"idempotency_key":"k"}"#, 400, "object"),
      (#""contents":{"en":"x"},"include_subscription_ids":["\#(id)"],"idempotency_key":"k""#, 400, "must be a UUID"),
      (
        #""contents":{"en":"x"},"include_subscription_ids":["\#(id)"],"data":{"k":"\#(String(repeating: "x", count: 2048))"}"#,
        400, "2048 bytes"
      ),
      (
        #""contents":{"en":"x"},"include_subscription_ids":["\#(id)"],"ios_interruption_level":"time-sensitive""#, 400,
        "time_sensitive"
      ),
      (
        #""contents":{"en":"x"},"filters":[{"field":"country","relation":"=","value":"DE"},{"operator":"OR"}]"#, 400,
        "operator"
      ),
      (#""contents":{"en":"x"},"include_subscription_ids":["\#(id)"],"buttons":[{},{},{},{}]"#, 400, "at most 3"),
    ])
  func faults(_ members: String, _ status: Int, _ text: String) {
    let examination = examine(#"{"app_id":"\#(app)",\#(members)}"#)
    #expect(examination.answer.status == status)
    #expect(self.text(examination).contains(text), "\(self.text(examination))")
  }

  @Test("keys, apps and paths")
  func access() {
    let body = #"{"app_id":"\#(app)","include_subscription_ids":["\#(id)"],"contents":{"en":"x"}}"#
    #expect(examine(body, key: nil).answer.status == 403)
    #expect(text(examine(body, key: "Key wrong")).contains("Access denied.  Please include"))
    #expect(examine(body, key: "Bearer os_v2_app_x").answer.status == 403)
    #expect(examine(body, key: "Key legacy").answer.status == 403)
    #expect(examine(body, key: "Basic os_v2_app_x").valid)
    let tags = #"{"properties":{"tags":{"journey":"x"}}}"#
    #expect(examine(tags, method: "PATCH", path: "/apps/\(app)/users/by/external_id/u-17").answer.status == 400)
    #expect(examine(body.replacing("8250eaf6", with: "9250eaf6")).answer.status == 404)
    #expect(examine(body, path: "/notification").answer.status == 404)
    #expect(examine(body, method: "PUT").answer.status == 405)
    #expect(examine("{").answer.status == 400)
  }

  @Test("20,000 ids and not one more; 2,000 in the old list")
  func counts() {
    func body(_ field: String, _ count: Int) -> String {
      let ids = (0..<count).map { "\"\(UUIDBytes(high: 1, low: UInt64($0)))\"" }.joined(separator: ",")
      return #"{"app_id":"\#(app)","\#(field)":[\#(ids)],"contents":{"en":"x"}}"#
    }
    #expect(examine(body("include_subscription_ids", 20_000)).valid)
    #expect(!examine(body("include_subscription_ids", 20_001)).valid)
    #expect(examine(body("include_player_ids", 2_000)).valid)
    #expect(!examine(body("include_player_ids", 2_001)).valid)
  }

  @Test("a repeated key answers the first result, whatever the body, for 30 days")
  func replay() {
    let key = "0f8a1f0e-5d0a-4c8b-8a55-8f3f5f1d2c11"
    func body(_ text: String) -> String {
      #"{"app_id":"\#(app)","include_subscription_ids":["\#(id)"],"contents":{"en":"\#(text)"},"idempotency_key":"\#(key)"}"#
    }
    let first = examine(body("a"))
    let second = examine(body("b"))
    #expect(!first.replayed)
    #expect(second.replayed)
    #expect(second.answer.body == first.answer.body)
    #expect(second.answer.headers.contains { $0.name == "idempotent-replayed" && $0.value == "true" })
    #expect(text(first).contains(#""external_id":"\#(key)""#))
    var replays = Replays()
    replays.remember("K", first.answer, now: now)
    #expect(replays.answer(for: "k", now: now + (Replays.lifetime - 1)) != nil)
    #expect(replays.answer(for: "k", now: now + Replays.lifetime) == nil)
  }

  @Test("rules answer with the sheet's bodies (A4–A6, A9–A11)")
  func answers() throws {
    let examination = examine(
      #"{"app_id":"\#(app)","include_aliases":{"external_id":["u-17","u-18"]},"target_channel":"push","contents":{"en":"x"}}"#
    )
    let name = examination.answer.name
    func body(_ answer: VendorAnswer) -> String { String(decoding: answer.body, as: UTF8.self) }
    #expect(
      body(vendor.partial("invalid_aliases", ["alias:external_id:u-18", "alias:external_id:u-18"], examination))
        == #"{"id":"\#(name)","external_id":null,"errors":{"invalid_aliases":{"external_id":["u-18","u-18"]}}}"#)
    #expect(
      body(vendor.partial("invalid_player_ids", [id], examination))
        == #"{"id":"\#(name)","external_id":null,"errors":{"invalid_player_ids":["\#(id)"]}}"#)
    #expect(
      body(vendor.answer(Rule.Reply(status: 200, reason: "not_subscribed"), to: examination))
        == #"{"id":"","errors":["All included players are not subscribed"]}"#)
    let slow = vendor.answer(Rule.Reply(status: 429, retryAfter: "12"), to: examination)
    #expect(body(slow) == #"{"errors":["API rate limit exceeded"]}"#)
    #expect(slow.headers.contains { $0.name == "retry-after" && $0.value == "12" })
    #expect(body(vendor.answer(Rule.Reply(status: 503, body: ""), to: examination)).isEmpty)
    #expect(vendor.answer(Rule.Reply(status: 403), to: examination).status == 403)
  }
}
