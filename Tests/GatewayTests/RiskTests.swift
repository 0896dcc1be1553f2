import Configuration
import Foundation
import Gateway
import Glibc
import Support
import Testing

@Suite("What is not safe on the open internet")
struct RiskTests {
  private func risks(_ settings: String, change: (URL) throws -> Void = { _ in }) throws -> [String] {
    let folder = try TemporaryDirectory()
    let password = folder.file("password")
    #expect(
      FileManager.default.createFile(
        atPath: password.path, contents: Data("secret\n".utf8), attributes: [.posixPermissions: 0o600]))
    try change(password)
    let file = folder.file("fanfare.json5")
    try #"{ \#(settings) apps: [] }"#.write(to: file, atomically: true, encoding: .utf8)
    return try Setup(file: file.path).risks.map(\.code)
  }

  @Test("the defaults, which reach this machine only, have none")
  func none() throws { #expect(try risks("").isEmpty) }

  @Test("a Redis on another machine needs TLS and a password; one on this machine needs neither")
  func redis() throws {
    #expect(
      try risks(#"redis: { url: "redis://10.0.0.1:6379" },"#) == ["plaintext_redis", "redis_without_password"])
    #expect(
      try risks(#"redis: { url: "redis://store.example.com", password_file: "password" },"#) == ["plaintext_redis"])
    #expect(try risks(#"redis: { url: "rediss://store.example.com", password_file: "password" },"#).isEmpty)
    for local in ["redis://localhost", "redis://127.0.0.2:1", "redis://[::1]:6379", "unix:/run/redis.sock"] {
      #expect(try risks(#"redis: { url: "\#(local)" },"#).isEmpty, "\(local)")
    }
  }

  @Test("a listener beyond this machine needs TLS, and closed operations", arguments: ["0.0.0.0", "::", "10.0.0.1"])
  func listener(_ address: String) throws {
    #expect(try risks(#"listen: { address: "\#(address)" },"#) == ["plaintext_api", "open_operations"])
    #expect(try risks(#"listen: { address: "\#(address)", operations: "key" },"#) == ["plaintext_api"])
  }

  @Test("keys inside apps have a limit of registrations")
  func registerKeys() throws {
    #expect(try risks(#"limits: { register_keys: { registrations: "off" } },"#) == ["register_without_limit"])
    #expect(try risks(#"limits: { register_keys: { requests: "off", registrations: "9/1s" } },"#).isEmpty)
  }

  @Test(
    "a key file that belongs to another user is told", .enabled(if: geteuid() == 0, "only root can give files away"))
  func others() throws {
    let found = try risks(#"redis: { password_file: "password" },"#) { chown($0.path, 65_534, 65_534) }
    #expect(found == ["file_of_another_user"])
  }
}
