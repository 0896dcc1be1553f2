import Domain
import Foundation
import JSON
import Loop
import Support
import Testing

extension Journeys {
  /// The watch sees what it is there for: otherwise the tests below could not fail.
  @Test("a program that asks for a foreign name is seen by the watch")
  func watchSees() async throws {
    let folder = try TemporaryDirectory()
    let watch = try NetworkWatch(
      URL(fileURLWithPath: "/usr/bin/getent"), ["ahosts", "fanfare.invalid"], record: folder.file("trace"))
    _ = await watch.process.waitForExit()
    #expect(try !watch.strangers().isEmpty)
  }

  /// What reaches for a vendor: a push of each provider and environment, every call about channels, and `check`.
  @Test(
    "fanfare dev reaches for nothing but this machine, whatever it is asked for, and starts and ends with few words")
  func localDev() async throws {
    let folder = try TemporaryDirectory()
    let loop = EventLoop(name: "local")
    let thread = loop.start()
    defer {
      loop.stop()
      thread.join()
    }
    let watch = try NetworkWatch(World.program, ["dev", "--json", "--port", "0"], record: folder.file("dev"))
    let ready = try JSON.parse(Array(try await watch.process.line { $0.hasPrefix("{") }.utf8))
    let gateway = Gateway(
      process: watch.process,
      client: try await Client(base: try #require(ready["url"]?.string), key: ready["key"]?.string, loop: loop))
    #expect(watch.process.text.split(separator: "\n").count == 1, "\(watch.process.text)")

    for environment in ["production", "sandbox"] {
      let made = try await gateway.client.post("/v1/channels", #"{"environment":"\#(environment)"}"#)
      #expect(made.status == 201, "\(made.text)")
      let id = try #require(made.json["id"]?.string)
      let path = "/v1/channels/\(id.replacing("/", with: "%2F").replacing("+", with: "%2B"))?environment=\(environment)"
      #expect(try await gateway.client.get(path).status == 200)
      #expect(try await gateway.client.get("/v1/channels?environment=\(environment)").status == 200)
      #expect(try await gateway.client.call("DELETE", path).status == 204)
    }
    let targets = [
      Tokens.targets("apns", [Tokens.apns(1)]),
      #"{"provider":"apns","token":"\#(Tokens.apns(2))","environment":"sandbox"}"#,
      Tokens.targets("fcm", [Tokens.fcm(1)]), Tokens.targets("onesignal", [Tokens.oneSignal(1)]),
    ]
    let id = try await gateway.send(
      #"{"to":{"tokens":[\#(targets.joined(separator: ","))]},"notification":{"title":"Hi","body":"Here"}}"#)
    #expect(try await gateway.completed(id)["outcomes"]?["accepted"]?.integer == 4)

    let check = try NetworkWatch(
      World.program, ["check", "--config", try #require(ready["config"]?.string)], record: folder.file("check"))
    #expect(await check.process.waitForExit() == 0, "\(check.process.text)")
    #expect(try check.strangers().isEmpty)

    watch.process.signal(SIGINT)
    #expect(await watch.process.waitForExit() == 0)
    #expect(try watch.strangers().isEmpty)
    #expect(watch.process.text.contains(#""event":"ended""#), "\(watch.process.text)")
  }

  @Test("fanfare sandbox and the demo reach for nothing but this machine")
  func localSandbox() async throws {
    let folder = try TemporaryDirectory()
    let sandbox = try NetworkWatch(
      World.program, ["sandbox", "--free-ports", "--dir", folder.file("vendors").path], record: folder.file("sandbox"))
    _ = try await sandbox.process.line { $0.contains("listening") }
    sandbox.process.signal(SIGTERM)
    #expect(await sandbox.process.waitForExit() == 0)
    #expect(sandbox.process.text.contains("ended: "), "\(sandbox.process.text)")
    #expect(try sandbox.strangers().isEmpty)

    let demo = try NetworkWatch(World.laboratory, ["demo", "--devices", "5000"], record: folder.file("demo"))
    #expect(await demo.process.waitForExit() == 0, "\(demo.process.text)")
    #expect(try demo.strangers().isEmpty)
  }
}
