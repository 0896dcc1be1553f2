import APNs
import Domain
import Testing

/// The payloads that client libraries show in their documentation, as this API says them.
@Suite("Payloads of common client documentation")
struct ClientDocumentationVectors {
  private func body(_ members: String) throws -> (headers: [String: String], body: [UInt8]) {
    let (headers, request) = try ProviderUnderTest.apns.request(#"{"to":{"devices":["d"]},\#(members)}"#)
    return (headers, request.body)
  }

  @Test("a full alert, with content-available and nested data of the app's own")
  func fullAlert() throws {
    let (headers, body) = try body(
      #"""
      "notification":{"title":"Game Request","subtitle":"Five Card Draw","body":"Bob wants to play poker","badge":9,
        "sound":"bingbong.aiff","category":"GAME_INVITATION","thread_id":"games","interruption_level":"active",
        "relevance_score":0.5,"target_content_id":"table-1"},
      "mutable_content":true,"content_available":true,"data":{"gameID":"12345678","customData":{"id":881,"tags":["a",null]}}
      """#)
    #expect(headers["apns-push-type"] == "alert")
    #expect(headers["apns-priority"] == "10")
    try expectJSON(
      body,
      #"{"aps":{"alert":{"title":"Game Request","subtitle":"Five Card Draw","body":"Bob wants to play poker"},"badge":9,"sound":"bingbong.aiff","category":"GAME_INVITATION","thread-id":"games","mutable-content":1,"content-available":1,"interruption-level":"active","relevance-score":0.5,"target-content-id":"table-1"},"gameID":"12345678","customData":{"id":881,"tags":["a",null]}}"#
    )
  }

  @Test("a silent push with data of the app's own")
  func silent() throws {
    let (headers, body) = try body(#""kind":"background","data":{"acme1":"bar","acme2":42}"#)
    #expect(headers["apns-push-type"] == "background")
    #expect(headers["apns-priority"] == "5")
    try expectJSON(body, #"{"aps":{"content-available":1},"acme1":"bar","acme2":42}"#)
  }

  @Test("an image under `image_url`, which the service extension loads")
  func image() throws {
    try expectJSON(
      body(#""notification":{"title":"T","body":"B","image":"https://cdn.example.com/p.jpg"}"#).body,
      #"{"aps":{"alert":{"title":"T","body":"B"},"mutable-content":1},"image_url":"https://cdn.example.com/p.jpg"}"#)
  }

  @Test("a body that only the service extension can read")
  func encrypted() throws {
    try expectJSON(
      body(#""notification":{"title":"New message"},"encrypted_body":"AbCd+/==""#).body,
      #"{"aps":{"alert":{"title":"New message"},"mutable-content":1},"encrypted_body":"AbCd+/=="}"#)
  }

  @Test("a Live Activity's update that speaks")
  func liveActivity() throws {
    let (headers, body) = try body(
      #"""
      "kind":"live_activity","live_activity":{"event":"update","timestamp":1685952000,"stale_date":1685959200,
        "content_state":{"currentHealthLevel":0.941,"eventDescription":"Power Panda has been knocked down!"}},
      "notification":{"title":"Power Panda is knocked down!","body":"Use a potion to heal Power Panda!","sound":"example.aiff"}
      """#)
    #expect(headers["apns-priority"] == "10")
    try expectJSON(
      body,
      #"{"aps":{"timestamp":1685952000,"event":"update","content-state":{"currentHealthLevel":0.941,"eventDescription":"Power Panda has been knocked down!"},"stale-date":1685959200,"alert":{"title":"Power Panda is knocked down!","body":"Use a potion to heal Power Panda!","sound":"example.aiff"}}}"#
    )
  }

  @Test("a file that the iOS simulator takes")
  func simulator() throws {
    let body = try body(#""notification":{"title":"Game \"Request\"","sound":"default"}"#).body
    try expectJSON(
      SimulatorFile.contents(body: body, bundleID: "com.example.app"),
      #"{"Simulator Target Bundle":"com.example.app","aps":{"alert":{"title":"Game \"Request\""},"sound":"default"}}"#)
  }
}
