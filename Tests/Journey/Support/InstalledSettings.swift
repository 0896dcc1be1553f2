import Domain
import Foundation
import JSON
import Support

extension World {
  /// Settings as a user has them who set nothing but where things are.
  func installAsShipped(more: String = "") throws {
    let folder = directory.file("sandbox").path
    try """
    {
      redis: { url: "unix:\(redis.socketPath)" },
      listen: { address: "127.0.0.1", port: 0 },
      ca_file: "\(folder)/ca.pem",
      \(more)
      apps: [{ id: "shop", credentials: [ \(Self.usualCredentials(sandbox, folder)) ] }],
    }
    """.write(to: directory.file("fanfare.json5"), atomically: true, encoding: .utf8)
  }

  /// A command that asks the running gateway, or its store.
  func run(_ words: [String], against gateway: Gateway) async throws -> (code: Int32, text: String) {
    let process = try ChildProcess(
      Self.program, words,
      environment: [
        "FANFARE_URL": gateway.client.base, "FANFARE_KEY": gateway.client.key ?? "",
        "FANFARE_CONFIG": directory.file("fanfare.json5").path,
      ])
    return (await process.waitForExit(), process.text)
  }
}

extension Gateway {
  /// What `/readyz` says of credentials: details by code.
  func conditions() async throws -> [String: String] {
    let reasons = try await client.get("/readyz").json["reasons"]?.array ?? []
    return Dictionary(
      reasons.map { ($0["code"]?.string ?? "", $0["detail"]?.string ?? "") }, uniquingKeysWith: { $0 + "\n" + $1 })
  }
}
