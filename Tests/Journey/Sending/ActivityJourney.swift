import Domain
import JSON
import Support
import Testing

extension Journeys {
  @Test("one Live Activity, started, updated and ended through all three providers, each by its own door")
  func activities() async throws {
    let world = try await World()
    let gateway = try await world.gateway()
    let activity = #""activity_id":"match-7","timestamp":1767220000,"content_state":{"home":0}"#
    let registrations = [
      ("phone", #"{"provider":"fcm","token":"\#(Tokens.fcm(1))","live_activity_token":"80a1f0","user":"ana"}"#),
      ("old-phone", #"{"provider":"fcm","token":"\#(Tokens.fcm(2))","user":"ana"}"#),
      ("tablet", #"{"provider":"onesignal","token":"\#(Tokens.oneSignal(1))","user":"ana"}"#),
      ("score", #"{"provider":"onesignal","token":"match-7","token_kind":"activity","user":"ana"}"#),
      ("watch", #"{"provider":"apns","token":"\#(Tokens.apns(1))","token_kind":"activity","user":"ana"}"#),
    ]
    for (name, body) in registrations {
      let answer = try await gateway.client.put("/v1/devices/\(name)", body)
      #expect(answer.status == 201, "\(answer.text)")
    }
    func states(_ event: String, _ more: String) async throws -> [String: String] {
      let id = try await gateway.send(
        #"{"to":{"users":["ana"]},"kind":"live_activity","live_activity":{"event":"\#(event)",\#(activity)\#(more)},"notification":{"title":"Reds v Blues","body":"\#(event)"}}"#
      )
      _ = try await gateway.completed(id)
      return Dictionary(
        uniqueKeysWithValues: try await gateway.deliveries(id).map {
          ($0["device"]?.string ?? "", "\($0["state"]?.string ?? "") \($0["reason"]?.string ?? "")")
        })
    }
    let start = try await states("start", #","attributes_type":"Match","attributes":{"id":7}"#)
    #expect(
      start == [
        "phone": "accepted ", "tablet": "accepted ",
      ], "tokens of other kinds are no targets, and a phone without a token for activities is none")
    for event in ["update", "end"] {
      #expect(
        try await states(event, "") == [
          "phone": "accepted ", "score": "accepted ",
          "watch": "accepted ",
        ])
    }
    let accepted = try await world.sandbox.log().filter(\.accepted)
    #expect(accepted.count == 8)
    let fcm = accepted.filter { $0.provider == "fcm" }
    #expect(fcm.count == 3 && fcm.allSatisfy { $0.body.contains(#""live_activity_token":"80a1f0""#) })

    // What APNs says of the activity's token ends that token, and not the phone.
    let gone =
      #"{\"error\":{\"code\":400,\"message\":\"APNs device token is disabled.\",\"status\":\"INVALID_ARGUMENT\",\"details\":[{\"@type\":\"type.googleapis.com/google.firebase.fcm.v1.FcmError\",\"errorCode\":\"INVALID_ARGUMENT\"},{\"@type\":\"type.googleapis.com/google.firebase.fcm.v1.ApnsError\",\"statusCode\":410,\"reason\":\"Unregistered\"}]}}"#
    try await world.sandbox.play(#"[{"provider":"fcm","times":1,"status":400,"body":"\#(gone)"}]"#)
    #expect(try await states("update", "")["phone"] == "dead Unregistered")
    let phone = try await gateway.client.get("/v1/devices/phone").json
    #expect(phone["live_activity_token"] == nil && phone["tombstone"] == nil, "\(phone)")
    #expect(try await states("update", "")["phone"] == nil)
    // Named by its id it is a target, and says why it gets nothing.
    let named = try await gateway.send(
      #"{"to":{"devices":["phone"]},"kind":"live_activity","live_activity":{"event":"update",\#(activity)}}"#)
    #expect(try await gateway.completed(named)["outcomes"]?["skipped"]?.integer == 1)
    let alert = try await gateway.send(#"{"to":{"devices":["phone"]},"notification":{"title":"Still here"}}"#)
    #expect(try await gateway.completed(alert)["outcomes"]?["accepted"]?.integer == 1)
    try await gateway.metricsAgreeWithReports()
  }
}
