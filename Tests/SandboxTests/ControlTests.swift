import Domain
import Glibc
import JSON
import Loop
import Sandbox
import Support
import Testing

@Suite(.timeLimit(.minutes(6 * Sanitizer.slowness))) struct ControlTests {
  private func text(_ answer: ProviderAnswer) -> String { String(decoding: answer.body, as: UTF8.self) }

  @Test("rules come back as given, with their counts; bad ones change nothing")
  func rules() async throws {
    try await SandboxRig.run { rig in
      try await rig.rules(#"[{"name":"dead","provider":"apns","token":"dead*","status":410,"reason":"Unregistered"}]"#)
      let given =
        #"[{"name":"dead","provider":"apns","token":"dead*","status":410,"reason":"Unregistered","matched":0,"played":0}]"#
      #expect(text(try await rig.control("GET", "/rules")) == given)
      let bad = try await rig.control("PUT", "/rules", #"[{"status":500},{"share":7}]"#)
      #expect(bad.status == 400)
      #expect(text(bad).contains(#"{"rule":1,"field":"share","problem":"must be a number 0…1"}"#))
      #expect(text(try await rig.control("GET", "/rules")) == given)
      #expect(try await rig.control("PUT", "/rules", "[]").status == 200)
      #expect(text(try await rig.control("GET", "/rules")) == "[]")
    }
  }

  @Test("the log reads on from a number, and empties; statistics count")
  func log() async throws {
    try await SandboxRig.run { rig in
      let client = try rig.connect(port: rig.sandbox.ports.apns)
      for number in 1...3 {
        _ = await client.send(try rig.apnsRequest([Header("apns-collapse-id", "c\(number)")]))
      }
      let lines = text(try await rig.control("GET", "/log?after=1&limit=1")).split(separator: "\n")
      #expect(lines.count == 1)
      let line = try JSON.parse(Array(lines[0].utf8))
      #expect(line["number"]?.integer == 2)
      #expect(line["token"]?.string == deviceToken)
      #expect(line["topic"]?.string == "com.example.app")
      #expect(line["body"]?.string == #"{"aps":{"alert":"hi"}}"#)
      #expect(line["body_sha256"]?.string?.count == 64)
      #expect(line["status"]?.integer == 200)
      #expect(line["accepted"]?.bool == true)
      let stats = try JSON.parse(try await rig.control("GET", "/stats").body)
      #expect(stats["apns"]?["requests"]?.integer == 3)
      #expect(stats["apns"]?["connections_open"]?.integer == 1)
      #expect(stats["apns"]?["answers"]?.array?.first?["count"]?.integer == 3)
      #expect(try await rig.control("DELETE", "/log").status == 204)
      #expect(try await rig.control("GET", "/log").body.isEmpty)
      #expect(try await rig.control("GET", "/log?limit=x").status == 400)
      #expect(try await rig.control("POST", "/log").status == 405)
      #expect(try await rig.control("GET", "/nothing").status == 404)
      client.close()
    }
  }

  @Test("the folder is kept: same authority, keys and account; secrets are the owner's alone")
  func folder() async throws {
    try await SandboxRig.run { rig in
      let names = ["ca.pem", "ca.key", "apns-key.p8", "onesignal.key"]
      let before = try names.map { try rig.content(of: $0) }
      for name in names + ["service-account.json", "sandbox.json"] {
        var status = stat()
        #expect(stat("\(rig.directory)/\(name)", &status) == 0)
        #expect(status.st_mode & 0o777 == (name == "ca.pem" ? 0o644 : 0o600), "\(name)")
      }
      let account = try JSON.parse(rig.content(of: "service-account.json"))
      var settings = rig.sandbox.settings
      settings.apnsPort = rig.sandbox.ports.apns
      // Busy: refused, or replaced where that is allowed.
      do throws(SandboxFailure) {
        _ = try Sandbox(loop: rig.loop, settings: settings)
        Issue.record("a busy port was listened on")
      } catch { #expect(error.reason.contains("\(rig.sandbox.ports.apns)")) }
      settings.replaceBusyPorts = true
      let second = try Sandbox(loop: rig.loop, settings: settings)
      #expect(second.ports.apns != rig.sandbox.ports.apns)
      #expect(try names.map { try rig.content(of: $0) } == before)
      let again = try JSON.parse(rig.content(of: "service-account.json"))
      #expect(again["private_key"] == account["private_key"])
      #expect(again["token_uri"]?.string == "https://localhost:\(second.ports.oneSignal)/token")
      let about = try JSON.parse(rig.content(of: "sandbox.json"))
      #expect(about["apns_port"]?.integer == Int64(second.ports.apns))
      await second.stop()
    }
  }
}
