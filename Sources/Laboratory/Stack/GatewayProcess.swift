import Configuration
import Domain
import Glibc
import JSON
import Processes

/// `fanfare serve` as a child of its own: the program that was built beside this one. Start it on the main thread.
final class GatewayProcess: Sendable {
  /// Empty without an API.
  let url: String
  private let process: ReadProcess
  var child: ChildProcess { process.child }

  /// Returns when it is ready. `core` >= 0 pins it. `environment`: more variables, as `NAME=value`. A library that is loaded
  /// by one of them and adds variables of its own does so in the second `env`: Swift finds no arguments behind an
  /// environment that has moved. `under`: a program that runs
  /// it, with its arguments; `program`: another copy of it.
  init(
    config: String, log: String, core: Int = -1, arguments: [String] = [], environment: [String] = [],
    under: [String] = [], program: String? = nil
  ) throws(ChildProcess.StartFailure) {
    let path = if let program { program } else { try Self.program() }
    var words = under + [path, "serve", "--config", config, "--json"] + arguments
    if !environment.isEmpty { words = ["env"] + environment + ["env"] + words }
    process = try ReadProcess(words[0], Array(words.dropFirst()), log: log, core: core)
    let line = process.line(timeout: Self.patience) { $0.contains("\"ready\"") }
    guard let line, let document = try? JSON.parse(Array(line.utf8)) else {
      throw ChildProcess.StartFailure(reason: "the gateway did not start")
    }
    url = document["url"]?.string ?? ""
  }

  /// Milliseconds; it waits for a Redis that loads its data.
  private static let patience = 180_000

  static func program() throws(ChildProcess.StartFailure) -> String {
    let path = ThisProgram.folder + "/fanfare"
    guard access(path, X_OK) == 0 else {
      throw ChildProcess.StartFailure(reason: "there is no \(path): build it (swift build --product fanfare)")
    }
    return path
  }

  /// A key for sending, reading and registering, by `fanfare keys create`. `config` has one app.
  static func makeKey(config: String, log: String) throws(ChildProcess.StartFailure) -> String {
    let words = [
      "keys", "create", "--config", config, "--scopes", "send,devices,read", "--name", "laboratory", "--json",
    ]
    let process = try ReadProcess(try program(), words, log: log)
    let line = process.line(timeout: patience) { $0.contains("\"secret\"") }
    guard let line, let secret = (try? JSON.parse(Array(line.utf8)))?["secret"]?.string else {
      let said = FileContent.read(log).map { String(decoding: $0.suffix(2_000), as: UTF8.self) } ?? ""
      throw ChildProcess.StartFailure(reason: "the gateway made no key: \(said)")
    }
    return secret
  }

  var id: Int32 { child.id }
  func stop(grace: Int = 10_000) { child.stop(grace: grace) }
}
