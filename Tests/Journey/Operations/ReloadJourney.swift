import Domain
import Foundation
import JSON
import Support
import TLS
import Testing

extension Journeys {
  @Test("SIGHUP: a broken key is refused while sends go on and `status` shows it, and the right one is taken")
  func reload() async throws {
    let world = try await World()
    let keyFile = world.directory.file("sandbox/apns-key.p8")
    let file = world.directory.file("fanfare.json5")
    let right = try Data(contentsOf: keyFile)
    func put(_ content: Data) throws {
      try content.write(to: keyFile)
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: keyFile.path)
    }
    // A key, but not of this team.
    try put(Data(SigningKey.generate(.es256).pem))
    let gateway = try await world.gateway()
    let waiting = try await gateway.send(
      #"{"to":{"tokens":[\#(Tokens.targets("apns", [Tokens.apns(1)]))]},"kind":"alert","notification":{"body":"Wait"}}"#
    )
    _ = try await gateway.process.line { $0.contains("credential_blocked") && $0.contains("InvalidProviderToken") }

    try put(Data("no key".utf8))
    gateway.process.signal(SIGHUP)
    let refusal = try await gateway.process.line { $0.contains("configuration_refused") }
    #expect(refusal.contains("key_file"))
    try await gateway.until("the refusal in /readyz") {
      let ready = try await $0.client.get("/readyz")
      return ready.status == 200 && ready.text.contains("configuration_refused")
    }
    #expect(try await gateway.client.get("/metrics").text.contains("fanfare_config_last_reload_successful 0"))
    let status = try await Tool(gateway: gateway, world: world).run("status", "--config", file.path, exit: 3)
    #expect(status.contains("key_file: ") && status.contains("a running server keeps its previous"), "\(status)")
    #expect(status.contains("shop/android") && status.contains("partitions"), "\(status)")
    let others = try await gateway.send(
      #"{"to":{"tokens":[\#(Tokens.targets("fcm", [Tokens.fcm(1)]))]},"kind":"alert","notification":{"body":"Go on"}}"#)
    #expect(try await gateway.completed(others)["state"]?.string == "completed")

    try put(right)
    // Beside it a setting that waits for the next start.
    let text = try String(contentsOf: file, encoding: .utf8)
    try text.replacing("listen: {", with: "lanes: { concurrency: 2 }, listen: {")
      .write(to: file, atomically: true, encoding: .utf8)
    gateway.process.signal(SIGHUP)
    let taken = try await gateway.process.line { $0.contains("configuration_reloaded") }
    #expect(taken.contains("shop/ios:production") && !taken.contains("shop/android"), "\(taken)")
    let restart = try await gateway.process.line { $0.contains("restart_needed") }
    #expect(restart.contains("/lanes"))
    // Well within the 30 seconds after which a blocked credential is tried by itself.
    #expect(try await gateway.completed(waiting, within: 20)["state"]?.string == "completed")
    #expect(try await gateway.deliveries(waiting).first?["state"]?.string == "accepted")
    #expect(try await !gateway.client.get("/readyz").text.contains("configuration_refused"))
    gateway.process.signal(SIGTERM)
    #expect(await gateway.process.waitForExit() == 0)
  }
}
