import Domain
import Foundation
import JSON
import Support
import Testing

extension Journeys {
  @Test(
    "what was probably meant is told: tags in use, other vendors' fields, all kinds, milliseconds; all faults at once, and one alone by its field; a Live Activity needs no timestamp"
  )
  func hints() async throws {
    let world = try await World()
    let gateway = try await world.gateway()
    let client = gateway.client
    let body = #"{"provider":"apns","token":"\#(Tokens.apns(1))","tags":["plan:pro","beta"]}"#
    #expect(try await client.put("/v1/devices/d1", body).status == 201)
    let tool = Tool(gateway: gateway, world: world)
    #expect(try await tool.run("audience", "count", "plan:por AND beta").contains("did you mean `plan:pro`?"))
    #expect(try await tool.run("audience", "count", "plan:pro AND beta OR NOT beta").hasPrefix("1 device"))
    #expect(try await tool.run("audience", "count", "plan:por OR beta").contains("did you mean `plan:pro`?"))
    let nobody = try await client.post("/v1/messages", #"{"to":{"audience":"plan:por"},"notification":{"title":"T"}}"#)
    #expect(nobody.text.contains("no device has the tag `plan:por`; did you mean `plan:pro`?"), "\(nobody.text)")

    for (message, told) in [
      (#"{"to":{"devices":["d1"]},"contents":{"en":"x"}}"#, "`contents` is `notification.body`"),
      (#"{"included_segments":["All"],"notification":{"title":"T"}}"#, "`to.everyone`"),
      (
        #"{"to":{"devices":["d1"]},"kind":"push","notification":{"title":"T"}}"#,
        "the values are alert, background, live_activity"
      ),
      (
        #"{"to":{"devices":["d1"]},"kind":"live_activity","live_activity":{"event":"update","content_state":{},"timestamp":1767220000000}}"#,
        "looks like milliseconds; did you mean 1767220000?"
      ),
      (
        #"{"to":{"devices":["d1"]},"notification":{"title":7}}"#, "`notification.title`: must be a string, not a number"
      ),
    ] {
      let answer = try await client.post("/v1/messages", message)
      #expect(answer.status == 422 && answer.text.contains(told), "\(answer.text)")
    }
    let many = try await client.post(
      "/v1/messages",
      #"{"to":{"devices":["d1"]},"notification":{"title":7},"ttl":-1,"data":{"aps":1,"":2},"headings":{}}"#)
    #expect(
      Set(many.json["violations"]?.array?.compactMap { $0["pointer"]?.string } ?? [])
        == ["/notification/title", "/ttl", "/data/aps", "/data/", "/headings"], "\(many.text)")

    // The time is stored with the message: a worker that reads it later sends the same.
    let before = Int64(Date().timeIntervalSince1970)
    let id = try await gateway.send(
      #"{"to":{"tokens":[{"provider":"apns","token":"80a1b2c3d4e5f60718293a4b5c6d7e8f","token_kind":"activity"}]},"kind":"live_activity","live_activity":{"event":"update","content_state":{"n":1}}}"#
    )
    _ = try await gateway.completed(id)
    let sent = try #require(try await world.sandbox.log().first { $0.token.hasPrefix("80a1") })
    let stamp = try #require(sent.body.firstMatch(of: /"timestamp":(\d+)/).flatMap { Int64($0.1) }, "\(sent.body)")
    #expect((before...Int64(Date().timeIntervalSince1970)).contains(stamp))
  }
}
