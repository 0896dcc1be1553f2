import Domain
import Foundation
import JSON
import Support
import Testing

extension Journeys {
  @Test("each kind of credential that the sandbox gives out opens its vendor")
  func credentialKinds() async throws {
    func credentials(_ fcm: @escaping (Sandbox, String) -> String) -> (Sandbox, String) -> String {
      { sandbox, folder in
        """
        { name: "ios", provider: "apns", environments: ["production", "sandbox"],
          origin: "localhost:\(sandbox.ports.apns)", certificate_file: "\(folder)/apns-certificate.p12",
          certificate_password_file: "\(folder)/certificate.password" },
        { name: "android", provider: "fcm", origin: "localhost:\(sandbox.ports.fcm)", \(fcm(sandbox, folder)) },
        { name: "web", provider: "onesignal", origin: "localhost:\(sandbox.ports.oneSignal)",
          app_id: "\(sandbox.facts.appID)", api_key_file: "\(folder)/onesignal-legacy.key" },
        """
      }
    }
    let workload = credentials { _, folder in
      #"external_account_file: "\#(folder)/workload-identity.json", project_id: "demo-app""#
    }
    let metadata = credentials { sandbox, _ in
      #"metadata_server: "default", metadata_host: "127.0.0.1:\#(sandbox.ports.metadata)", project_id: "demo-app""#
    }
    let world = try await World(credentials: workload)
    for (number, kind) in [workload, metadata].enumerated() {
      try world.configure(kind)
      let gateway = try await world.gateway()
      let targets = [
        Tokens.targets("apns", [Tokens.apns(number)]), Tokens.targets("fcm", [Tokens.fcm(number)]),
        Tokens.targets("onesignal", [Tokens.oneSignal(number)]),
      ]
      let id = try await gateway.send(
        #"{"to":{"tokens":[\#(targets.joined(separator: ","))]},"kind":"alert","notification":{"body":"Open"}}"#)
      _ = try await gateway.completed(id)
      let deliveries = try await gateway.deliveries(id)
      #expect(deliveries.count == 3)
      #expect(deliveries.allSatisfy { $0["state"]?.string == "accepted" }, "\(deliveries)")
      gateway.process.signal(SIGTERM)
      #expect(await gateway.process.waitForExit() == 0)
    }
  }
}
