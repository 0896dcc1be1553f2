package import Domain
import Foundation
import JSON

/// A virtual environment with the packages of `Config/python-packages`, kept under `.build/python`.
package enum PythonEnvironment {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().path(percentEncoded: false).trimmingSuffix("/")
  package struct Unusable: Error, CustomStringConvertible { package var description: String }

  /// The path of its interpreter; made at first and when the list of packages changed, which needs PyPI.
  private static func ready() async throws -> String {
    let folder = root + "/.build/python"
    let python = folder + "/bin/python3"
    let wanted = try Data(contentsOf: URL(filePath: root + "/Config/python-packages"))
    if FileManager.default.isExecutableFile(atPath: python),
      let installed = try? Data(contentsOf: URL(filePath: folder + "/installed")), installed == wanted
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
    try wanted.write(to: URL(filePath: folder + "/installed"))
    return python
  }

  /// One environment for all tests of the process, however many come at once.
  private static let environment = Task { try await ready() }

  /// Runs a script of the repository and reads the JSON that it prints. Throws what it wrote to its errors if it failed.
  package static func run(script: String, _ arguments: [String]) async throws -> JSONValue {
    let ended = try await run(environment.value, ["\(root)/\(script)"] + arguments)
    guard ended.status == 0 else { throw Unusable(description: "\(script): \(ended.errors)") }
    return try JSON.parse(ended.output)
  }

  private struct Run: Sendable {
    var status: Int32
    var output: [UInt8]
    var errors: String
  }

  /// Runs a program to its end without blocking the caller's thread.
  private static func run(_ program: String, _ arguments: [String]) async throws -> Run {
    let directory = try TemporaryDirectory()
    let folder = directory.file("").path(percentEncoded: false)
    // Files, not pipes: nobody has to read while it runs.
    for name in ["out", "err"] { try Data().write(to: URL(filePath: "\(folder)\(name)")) }
    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle(forWritingAtPath: "\(folder)out")
    process.standardError = FileHandle(forWritingAtPath: "\(folder)err")
    try await withCheckedThrowingContinuation { (waiter: CheckedContinuation<Void, any Error>) in
      process.terminationHandler = { _ in waiter.resume() }
      do { try process.run() } catch {
        process.terminationHandler = nil
        waiter.resume(throwing: error)
      }
    }
    return Run(
      status: process.terminationStatus, output: Array(try Data(contentsOf: URL(filePath: "\(folder)out"))),
      errors: String(decoding: try Data(contentsOf: URL(filePath: "\(folder)err")).suffix(2000), as: UTF8.self))
  }
}

extension String {
  fileprivate func trimmingSuffix(_ suffix: String) -> String {
    hasSuffix(suffix) ? String(dropLast(suffix.count)) : self
  }
}
