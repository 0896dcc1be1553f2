import Domain
import Foundation
import JSON
import Sandbox
import Support
import Testing

/// The vendors' clients must be able to use the sandbox: here one that shares no line with Fanfare.
@Suite(.timeLimit(.minutes(10 * Sanitizer.slowness))) struct ForeignClientTests {
  @Test("aioapns from PyPI pushes, hears refusals in its own words, and the log agrees with what it was told")
  func aioapns() async throws {
    let python = try await PythonEnvironment.ready()
    try await SandboxRig.run { rig in
      try await rig.rules(
        #"[{"provider":"apns","token":"dead*","status":410,"reason":"Unregistered","timestamp":1767200000000}]"#)
      let run = try await PythonEnvironment.run(
        python, [PythonEnvironment.root + "/Tests/SandboxTests/aioapns/drive.py", rig.directory])
      try #require(run.status == 0, "\(run.errors)")
      let told = try JSON.parse(run.output)

      #expect(told["first"]?["status"]?.integer == 200)
      let burst = try #require(told["burst"]?.array)
      #expect(burst.count == 200)
      #expect(burst.allSatisfy { $0["status"]?.integer == 200 })
      let expected: [(String, Int64, String?)] = [
        ("silent", 200, nil), ("collapsed", 200, nil), ("malformed", 400, "BadDeviceToken"),
        ("dead", 410, "Unregistered"), ("large", 413, "PayloadTooLarge"), ("urgent_silent", 400, "BadPriority"),
        ("other_topic", 400, "TopicDisallowed"),
      ]
      for (name, status, reason) in expected {
        #expect(told["single"]?[name]?["status"]?.integer == status, "\(name)")
        #expect(told["single"]?[name]?["reason"]?.string == reason, "\(name)")
      }
      #expect(told["single"]?["dead"]?["timestamp"]?.integer == 1_767_200_000_000)

      // One line for each answer that the client was given, with the same id and status.
      var answers: [String: Int] = [:]
      for answer in burst + [told["first"] ?? .null] + (told["single"]?.object ?? []).map(\.value) {
        answers[try #require(answer["id"]?.string)] = answer["status"]?.integer.map(Int.init)
      }
      let log = rig.sandbox.stage.log.entries()
      #expect(log.count == answers.count)
      #expect(log.allSatisfy { answers[$0.id] == $0.status && $0.accepted == ($0.status == 200) && !$0.duplicate })
      #expect(rig.sandbox.stage.statistics[.apns].connectionsOpened == 1)
    }
  }
}

/// A virtual environment with the packages of `Config/python-packages`, kept under `.build/python`.
enum PythonEnvironment {
  static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().path(percentEncoded: false).trimmingSuffix("/")
  struct Unusable: Error, CustomStringConvertible { var description: String }

  /// The path of its interpreter; made at first, which needs PyPI.
  static func ready() async throws -> String {
    let folder = root + "/.build/python"
    let python = folder + "/bin/python3"
    if FileManager.default.isExecutableFile(atPath: python),
      try await run(python, ["-c", "import aioapns"]).status == 0
    {
      return python
    }
    let made = try await run("/usr/bin/env", ["python3", "-m", "venv", "--clear", folder])
    guard made.status == 0 else {
      throw Unusable(description: "python3 -m venv failed; install the packages of Config/packages: \(made.errors)")
    }
    let installed = try await run(
      python,
      ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", root + "/Config/python-packages"])
    guard installed.status == 0 else {
      throw Unusable(
        description: "pip could not install Config/python-packages. This test needs PyPI once: \(installed.errors)")
    }
    return python
  }

  struct Run: Sendable {
    var status: Int32
    var output: [UInt8]
    var errors: String
  }

  /// Runs a program to its end without blocking the caller's thread.
  static func run(_ program: String, _ arguments: [String]) async throws -> Run {
    let folder = try SandboxRig.makeFolder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    // Files, not pipes: nobody has to read while it runs.
    for name in ["out", "err"] { try Data().write(to: URL(filePath: "\(folder)/\(name)")) }
    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle(forWritingAtPath: "\(folder)/out")
    process.standardError = FileHandle(forWritingAtPath: "\(folder)/err")
    try await withCheckedThrowingContinuation { (waiter: CheckedContinuation<Void, any Error>) in
      process.terminationHandler = { _ in waiter.resume() }
      do { try process.run() } catch {
        process.terminationHandler = nil
        waiter.resume(throwing: error)
      }
    }
    return Run(
      status: process.terminationStatus, output: Array(try Data(contentsOf: URL(filePath: "\(folder)/out"))),
      errors: String(decoding: try Data(contentsOf: URL(filePath: "\(folder)/err")).suffix(2000), as: UTF8.self))
  }
}

extension String {
  fileprivate func trimmingSuffix(_ suffix: String) -> String {
    hasSuffix(suffix) ? String(dropLast(suffix.count)) : self
  }
}
