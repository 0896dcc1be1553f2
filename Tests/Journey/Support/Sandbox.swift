import Domain
import Foundation
import JSON
import Loop
import Support
import TLS

/// A running `fanfare sandbox`: rules in, log out.
final class Sandbox: Sendable {
  struct Ports: Sendable {
    var apns: Int
    /// APNs' other environment.
    var development: Int
    var fcm: Int
    var oneSignal: Int
    var control: Int
    var metadata: Int
    var webPush: Int
  }
  struct Facts: Sendable {
    var keyID: String
    var teamID: String
    var topic: String
    var appID: String
  }
  /// What the sandbox took for delivery, or refused.
  struct Entry: Sendable {
    /// Milliseconds since 1970.
    var time: Int64
    var provider: String
    var token: String
    var id: String
    var status: Int
    var reason: String
    var accepted: Bool
    var fault: String?
    var body: String
    /// Accepted before.
    var duplicate: Bool
  }

  let process: ChildProcess
  let ports: Ports
  let facts: Facts
  private let control: Client
  private let folder: String

  /// The key of FCM's service account, for all sandboxes of the process: an RSA key takes long to make. A sandbox keeps
  /// the one that it finds in its folder.
  private static let account = JSONValue.object([
    JSONMember("private_key", .string(String(decoding: SigningKey.generate(.rs256).pem, as: UTF8.self)))
  ]).encoded

  init(directory: URL, loop: EventLoop, clock: FastClock? = nil) async throws {
    folder = directory.path
    try FileManager.default.createDirectory(
      at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let file = directory.appending(path: "service-account.json").path
    if !FileManager.default.fileExists(atPath: file) {
      guard
        FileManager.default.createFile(
          atPath: file, contents: Data(Self.account), attributes: [.posixPermissions: 0o600])
      else { throw ChildFailure(reason: "\(file) cannot be written") }
    }
    let arguments = ["sandbox", "--free-ports", "--dir", directory.path]
    process = try clock?.start(World.program, arguments) ?? ChildProcess(World.program, arguments)
    _ = try await process.line { $0.contains("listen") }
    clock?.tidy(process.id)
    let told = try JSON.parse(Array(Data(contentsOf: directory.appending(path: "sandbox.json"))))
    func port(_ name: String) -> Int { told["\(name)_port"]?.integer.map(Int.init) ?? 0 }
    func text(_ name: String) -> String { told[name]?.string ?? "" }
    ports = Ports(
      apns: port("apns"), development: port("development"), fcm: port("fcm"), oneSignal: port("onesignal"),
      control: port("control"),
      metadata: port("metadata"), webPush: port("webpush"))
    facts = Facts(keyID: text("key_id"), teamID: text("team_id"), topic: text("topic"), appID: text("app_id"))
    control = try await Client(base: "http://127.0.0.1:\(ports.control)", loop: loop)
  }

  func play(_ rules: String) async throws {
    let answer = try await control.put("/rules", rules)
    guard (200..<300).contains(answer.status) else { throw ChildFailure(reason: answer.text) }
  }

  func log() async throws -> [Entry] {
    var entries: [Entry] = []
    var after: Int64 = 0
    while true {
      let answer = try await control.get("/log?after=\(after)&limit=10000")
      let lines = answer.text.split(separator: "\n")
      if lines.isEmpty { return entries }
      for line in lines {
        let entry = try JSON.parse(Array(line.utf8))
        after = entry["number"]?.integer ?? after
        guard entry["provider"]?.string != "oauth" else { continue }
        entries.append(
          Entry(
            time: entry["time"]?.integer ?? 0, provider: entry["provider"]?.string ?? "",
            token: entry["token"]?.string ?? "",
            id: entry["id"]?.string ?? "", status: Int(entry["status"]?.integer ?? 0),
            reason: entry["reason"]?.string ?? "", accepted: entry["accepted"]?.bool ?? false,
            fault: entry["fault"]?.string, body: entry["body"]?.string ?? "",
            duplicate: entry["duplicate"]?.bool ?? false))
      }
    }
  }

  /// What a browser of that name gives its site: JSON. `key`: it takes pushes signed with that key alone.
  func subscription(_ name: String, key: String? = nil) async throws -> String {
    let query = key.map { "?key=\($0)" } ?? ""
    let run = try ChildProcess(
      URL(filePath: "/usr/bin/curl"),
      [
        "--silent", "--show-error", "--fail", "--cacert", "\(folder)/ca.pem",
        "https://localhost:\(ports.webPush)/subscriptions/\(name)\(query)",
      ])
    guard await run.waitForExit() == 0 else { throw ChildFailure(reason: run.text) }
    return run.text
  }

  /// Starts the log anew.
  func forget() async throws { _ = try await control.call("DELETE", "/log") }

  /// How often each fault was really played on a provider.
  func faults(_ provider: String) async throws -> [String: Int] {
    let counts = try await control.get("/stats").json[provider]?["faults"]?.object ?? []
    return Dictionary(uniqueKeysWithValues: counts.map { ($0.key, Int($0.value.integer ?? 0)) })
  }

  func statistic(_ provider: String, _ name: String) async throws -> Int {
    Int(try await control.get("/stats").json[provider]?[name]?.integer ?? -1)
  }

  /// Waits until the log holds at least so many accepted entries.
  func accepted(atLeast count: Int, within seconds: Double = Gateway.patience) async throws -> [Entry] {
    let deadline = ContinuousClock.now + .seconds(seconds)
    while true {
      let entries = try await log().filter(\.accepted)
      if entries.count >= count { return entries }
      guard ContinuousClock.now < deadline else { throw ChildFailure(reason: "only \(entries.count) of \(count)") }
      try await Task.sleep(for: .milliseconds(50))
    }
  }
}
