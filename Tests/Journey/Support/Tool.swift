import Domain
import Foundation
import JSON
import Support
import Testing

/// The built program as a user runs it beside a gateway.
struct Tool {
  let gateway: Gateway
  let world: World

  /// A run, and the file that all of its output goes to: that is whole when the process has ended.
  struct Run {
    let process: ChildProcess
    let output: URL

    /// All that it wrote.
    func end(_ exit: Int32) async throws -> String {
      let code = await process.waitForExit()
      let text = try String(contentsOf: output, encoding: .utf8)
      #expect(code == exit, "\(text.suffix(4_000))")
      return text
    }
  }

  /// A command of a shell, in which `$0` is the program and `$@` are `words`.
  func start(_ command: String, _ words: [String] = [], _ more: [String: String] = [:]) throws -> Run {
    let output = world.directory.file("output-\(UUID().uuidString)")
    var environment = more
    environment["OUTPUT"] = output.path
    environment["FANFARE_URL"] = gateway.client.base
    environment["FANFARE_KEY"] = more["FANFARE_KEY"] ?? gateway.client.key
    environment["FANFARE_CONFIG"] = world.directory.file("fanfare.json5").path
    let script = #"exec > "$OUTPUT" 2>&1; "# + command
    let process = try ChildProcess(
      URL(filePath: "/bin/sh"), ["-c", script, World.program.path] + words, environment: environment)
    return Run(process: process, output: output)
  }

  /// The program takes the place of the shell.
  func start(_ words: [String], key: String? = nil) throws -> Run {
    try start(#"exec "$0" "$@""#, words, key.map { ["FANFARE_KEY": $0] } ?? [:])
  }

  @discardableResult
  func run(_ words: String..., exit: Int32 = 0, key: String? = nil) async throws -> String {
    try await start(words, key: key).end(exit)
  }

  @discardableResult
  func shell(_ command: String, exit: Int32 = 0, _ more: [String: String] = [:]) async throws -> String {
    try await start(command, [], more).end(exit)
  }

  /// What `--json` wrote, a document a line.
  static func documents(_ text: String) -> [JSONValue] {
    text.split(separator: "\n").compactMap { try? JSON.parse(Array($0.utf8)) }.filter { $0.object != nil }
  }

  func count(_ expression: String = "everyone") async throws -> Int {
    let answer = try await gateway.client.post("/v1/audiences/count", #"{"audience":"\#(expression)"}"#)
    guard let total = answer.json["total"]?.integer else { throw ChildFailure(reason: answer.text) }
    return Int(total)
  }
}

extension World {
  /// A file of these lines; the last one without an end.
  func write(_ lines: [String], to name: String) throws -> String {
    let file = directory.file(name)
    try lines.joined(separator: "\n").write(to: file, atomically: true, encoding: .utf8)
    return file.path
  }
}
