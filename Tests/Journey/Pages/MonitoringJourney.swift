import Domain
import Foundation
import Support
import TLS
import Testing

extension Journeys {
  @Test(
    "alerts and the dashboard ask for what /metrics tells, promtool finds its names good, and each alert fires in its test"
  )
  func monitoring() async throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..").standardized
    let world = try await World(
      more: #"limits: { keys: { requests: "4/1h" } }, monitor: { port: 0 },"#, credentials: Self.monitored)
    let targets = [
      Tokens.targets("apns", [Tokens.apns(1)]), Tokens.targets("fcm", [Tokens.fcm(1)]),
      Tokens.targets("onesignal", [Tokens.oneSignal(1)]),
    ]

    // One process without TLS, in which all that comes with traffic stands; one that has what comes with certificates.
    let gateway = try await world.gateway()
    let id = try await gateway.send(
      #"{"to":{"tokens":[\#(targets.joined(separator: ","))]},"kind":"alert","notification":{"body":"Count"}}"#)
    try await gateway.until("ended deliveries in the metrics") {
      try await $0.metric("fanfare_deliveries_total") == 3
    }
    // The key has four requests in an hour.
    var last = 200
    for _ in 0..<8 where last != 429 { last = try await gateway.client.get("/v1/messages/\(id)").status }
    #expect(last == 429)
    let pages = [
      world.directory.file("plain.prom"), world.directory.file("tls.prom"),
    ]
    try await gateway.client.get("/metrics").text.write(to: pages[0], atomically: true, encoding: .utf8)
    gateway.process.signal(SIGTERM)
    #expect(await gateway.process.waitForExit() == 0)

    let authority = CertificateAuthority(name: "monitoring")
    let leaf = authority.issue(hosts: ["localhost"])
    for (name, bytes) in [("api.pem", leaf.certificate), ("api.key", leaf.key)] {
      try Data(bytes).write(to: world.directory.file(name))
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: world.directory.file(name).path)
    }
    try world.edit {
      $0.replacing(
        #"listen: { address: "127.0.0.1", port: 0 }"#,
        with: #"""
          listen: { address: "127.0.0.1", port: 0, operations: "monitor", certificate_file: "api.pem",
            key_file: "api.key" }
          """#)
    }
    let encrypted = try world.serve()
    let line = try await encrypted.line { $0.contains("monitor on http://") }
    let base = try #require(line.firstMatch(of: /http:\/\/127\.0\.0\.\d:\d+/)?.0)
    let monitor = try await Client(base: String(base), loop: world.loop)
    try await monitor.get("/metrics").text.write(to: pages[1], atomically: true, encoding: .utf8)

    for page in pages {
      // It reads from its standard input alone.
      let names = try ChildProcess(
        URL(filePath: "/bin/sh"), ["-c", #"exec promtool check metrics <"$0""#, page.path])
      #expect(await names.waitForExit() == 0 && names.text.isEmpty, "\(names.text)")
    }
    let check = try ChildProcess(root.appending(path: "Config/check-monitoring"), pages.map(\.path))
    #expect(await check.waitForExit() == 0, "\(check.text)")
    let test = try ChildProcess(
      URL(filePath: "/usr/bin/promtool"),
      ["test", "rules", root.appending(path: "Config/prometheus/fanfare.rules.test.yml").path])
    #expect(await test.waitForExit() == 0, "\(test.text)")
    await encrypted.destroy()
  }

  /// As usual, but APNs by a certificate, which ends.
  @Sendable private static func monitored(_ sandbox: Sandbox, _ folder: String) -> String {
    """
    { name: "ios", provider: "apns", environments: ["production", "sandbox"],
      origin: "localhost:\(sandbox.ports.apns)", certificate_file: "\(folder)/apns-certificate.p12",
      certificate_password_file: "\(folder)/certificate.password" },
    { name: "android", provider: "fcm", origin: "localhost:\(sandbox.ports.fcm)",
      service_account_file: "\(folder)/service-account.json" },
    { name: "web", provider: "onesignal", origin: "localhost:\(sandbox.ports.oneSignal)",
      app_id: "\(sandbox.facts.appID)", api_key_file: "\(folder)/onesignal.key" },
    """
  }
}
