import Domain
import JSON
import Support
import Testing

extension Journeys {
  private func registered(_ devices: [(name: String, fields: String)], _ gateway: Gateway) async throws {
    for (name, fields) in devices {
      let answer = try await gateway.client.put("/v1/devices/\(name)", "{\(fields),\"user\":\"ana\"}")
      #expect(answer.status == 201 || answer.status == 200, "\(answer.text)")
    }
  }

  @Test("a link of the app's own and buttons reach the app on every provider")
  func linksAndButtons() async throws {
    let world = try await World()
    let gateway = try await world.gateway()
    try await registered(
      [
        ("phone", #""provider":"apns","token":"\#(Tokens.apns(1))""#),
        ("tablet", #""provider":"fcm","token":"\#(Tokens.fcm(1))""#),
        ("browser", #""provider":"onesignal","token":"\#(Tokens.oneSignal(1))""#),
      ], gateway)
    let id = try await gateway.send(
      """
      {"to":{"users":["ana"]},"notification":{"title":"Order shipped","link":"myapp://order/881",
       "buttons":[{"id":"track","text":"Track","url":"myapp://track/881"},{"id":"mute","text":"Mute"}]}}
      """)
    _ = try await gateway.completed(id)
    let bodies = try await Dictionary(
      uniqueKeysWithValues: world.sandbox.log().filter(\.accepted).map {
        ($0.provider, try JSON.parse(Array($0.body.utf8)))
      })
    #expect(bodies["apns"]?["link"]?.string == "myapp://order/881")
    #expect(bodies["apns"]?["aps"]?["category"]?.string == "track+mute")
    #expect(bodies["apns"]?["buttons"]?.array?.first?["url"]?.string == "myapp://track/881")
    let data = bodies["fcm"]?["message"]?["data"]
    #expect(data?["link"]?.string == "myapp://order/881")
    let buttons = try JSON.parse(Array((data?["buttons"]?.string ?? "").utf8))
    #expect(buttons.array?.compactMap { $0["id"]?.string } == ["track", "mute"])
    #expect(bodies["onesignal"]?["app_url"]?.string == "myapp://order/881")
    #expect(bodies["onesignal"]?["buttons"]?.array?.count == 2)
    let code = try await gateway.client.post(
      "/v1/messages", #"{"to":{"users":["ana"]},"notification":{"title":"T","link":"javascript:alert(1)"}}"#)
    #expect(code.status == 422 || code.status == 400, "\(code.text)")
    #expect(code.text.contains("/notification/link"))
  }

  @Test("urgent data wakes Android, and Apple devices get what APNs allows; a call reaches both")
  func urgentData() async throws {
    let world = try await World()
    let gateway = try await world.gateway()
    try await registered(
      [
        ("phone", #""provider":"apns","token":"\#(Tokens.apns(1))""#),
        ("calls", #""provider":"apns","token":"\#(Tokens.apns(2))","token_kind":"voip""#),
        ("tablet", #""provider":"fcm","token":"\#(Tokens.fcm(1))""#),
      ], gateway)
    let answer = try await gateway.client.post(
      "/v1/messages", #"{"to":{"users":["ana"]},"kind":"background","priority":"high","data":{"sync":"inbox"}}"#)
    #expect(answer.status == 202, "\(answer.text)")
    let pointers = answer.json["warnings"]?.array?.compactMap { $0["pointer"]?.string } ?? []
    #expect(pointers.contains("/priority"), "\(answer.text)")
    _ = try await gateway.completed(answer.json["id"]?.string ?? "")
    let urgent = try await world.sandbox.log().filter(\.accepted)
    #expect(Set(urgent.map(\.token)) == [Tokens.apns(1), Tokens.fcm(1)], "the token for calls takes no data")
    #expect(urgent.contains { $0.provider == "fcm" && $0.body.contains(#""priority":"HIGH""#) })

    try await world.sandbox.forget()
    let call = try await gateway.send(#"{"to":{"users":["ana"]},"kind":"voip","data":{"call":"881"}}"#)
    _ = try await gateway.completed(call)
    let rung = try await world.sandbox.log().filter(\.accepted)
    #expect(Set(rung.map(\.token)) == [Tokens.apns(2), Tokens.fcm(1)])
    let body = try #require(rung.first { $0.provider == "fcm" }).body
    let android = try JSON.parse(Array(body.utf8))["message"]?["android"]
    #expect(android?["priority"]?.string == "HIGH")
    #expect(android?["ttl"]?.string == "0s")
  }
}
