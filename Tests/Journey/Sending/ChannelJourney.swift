import Domain
import Foundation
import JSON
import Support
import Testing

extension Journeys {
  @Test("a channel is made, followed by an update and an end, and deleted; alerts go by certificate beside it")
  func channels() async throws {
    let world = try await World()
    let folder = world.directory.file("sandbox")
    let told = try JSON.parse(Array(Data(contentsOf: folder.appending(path: "sandbox.json"))))
    let channelsPort = try #require(told["channels_port"]?.integer)
    let file = world.directory.file("fanfare.json5")
    let certificate = """
      { name: "certificate", provider: "apns", origin: "localhost:\(world.sandbox.ports.apns)",
        certificate_file: "\(folder.path)/apns-certificate.p12",
        certificate_password_file: "\(folder.path)/certificate.password", token_kinds: ["device"] },
      """
    try String(contentsOf: file, encoding: .utf8)
      .replacing("credentials: [", with: "credentials: [\n\(certificate)")
      .replacing("environments: [\"production\", \"sandbox\"]", with: "channels_origin: \"localhost:\(channelsPort)\"")
      .write(to: file, atomically: true, encoding: .utf8)

    let check = try ChildProcess(World.program, ["check", "--json", "--config", file.path])
    let findings = try JSON.parse(Array(try await check.line { $0.hasPrefix("{") }.utf8))
    let own = try #require(findings["items"]?.array?.first { $0["subject"]?.string == "shop/certificate" })
    #expect(own["ok"]?.bool == true && own["kind"]?.string == "certificate", "\(own)")
    #expect(own["expires_at"]?.string != nil && own["topics"]?.array?.contains(.string("com.example.app")) == true)
    #expect(await check.waitForExit() == 0)

    let gateway = try await world.gateway()
    func channels(_ words: String...) async throws -> String {
      let process = try ChildProcess(
        World.program, ["channels"] + words + ["--json"],
        environment: ["FANFARE_URL": gateway.client.base, "FANFARE_KEY": gateway.client.key ?? ""])
      let code = await process.waitForExit()
      #expect(code == 0, "\(process.text)")
      return process.text
    }
    _ = try await channels("create", "--storage", "none")
    let list = try await gateway.client.get("/v1/channels").json["items"]?.array ?? []
    let id = try #require(list.first?["id"]?.string)
    #expect(list.count == 1)
    for (event, body) in [("update", #""content_state":{"home":1}"#), ("end", #""content_state":{"home":2}"#)] {
      let message = try await gateway.send(
        #"{"to":{"channel":{"id":"\#(id)"}},"kind":"live_activity","live_activity":{"event":"\#(event)","timestamp":1780000000,\#(body)}}"#
      )
      _ = try await gateway.completed(message)
      #expect(try await gateway.deliveries(message).first?["state"]?.string == "accepted", "\(event)")
    }
    let alert = try await gateway.send(
      #"{"to":{"tokens":[\#(Tokens.targets("apns", [Tokens.apns(1)]))]},"kind":"alert","notification":{"body":"Hi"}}"#)
    _ = try await gateway.completed(alert)
    #expect(try await gateway.deliveries(alert).first?["state"]?.string == "accepted")

    _ = try await channels("delete", id)
    _ = try await channels("delete", id)
    #expect(try await gateway.client.get("/v1/channels").json["items"]?.array?.isEmpty == true)
    let late = try await gateway.send(
      #"{"to":{"channel":{"id":"\#(id)"}},"kind":"live_activity","live_activity":{"event":"update","timestamp":1780000000,"content_state":{}}}"#
    )
    _ = try await gateway.completed(late)
    #expect(try await gateway.deliveries(late).first?["reason"]?.string == "ChannelNotRegistered")
  }
}
