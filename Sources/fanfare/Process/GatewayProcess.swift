import Domain
import JSON

/// `fanfare serve` as a child of its own. Start it on the main thread.
final class GatewayProcess: Sendable {
  /// Empty without an API.
  let url: String
  private let child: ChildProcess

  /// Returns when it listens. `core` >= 0 pins it.
  init(config: String, log: String, core: Int = -1, arguments: [String] = []) throws(ChildProcess.StartFailure) {
    child = try ChildProcess(
      "/proc/self/exe", ["serve", "--config", config, "--json"] + arguments, log: log, readsOutput: true,
      core: core)
    let line = child.line(timeout: 30_000) { $0.contains("\"ready\"") }
    guard let line, let document = try? JSON.parse(Array(line.utf8)) else {
      throw ChildProcess.StartFailure(reason: "the gateway did not start")
    }
    url = document["url"]?.string ?? ""
  }

  var id: Int32 { child.id }
  func stop() { child.stop() }
}
