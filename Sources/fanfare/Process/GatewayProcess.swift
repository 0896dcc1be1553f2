import Domain
import Glibc
import JSON

/// `fanfare serve` as a child of its own. Start it on the main thread.
final class GatewayProcess: Sendable {
  /// Empty without an API.
  let url: String
  let child: ChildProcess

  /// Returns when it is ready. `core` >= 0 pins it. `environment`: more variables, as `NAME=value`. A library that is loaded
  /// by one of them and adds variables of its own does so in the second `env`: Swift finds no arguments behind an
  /// environment that has moved.
  init(
    config: String, log: String, core: Int = -1, arguments: [String] = [], environment: [String] = []
  ) throws(ChildProcess.StartFailure) {
    let words = ["serve", "--config", config, "--json"] + arguments
    child =
      environment.isEmpty
      ? try ChildProcess("/proc/self/exe", words, log: log, readsOutput: true, core: core)
      : try ChildProcess("env", environment + ["env", Self.program] + words, log: log, readsOutput: true, core: core)
    let line = child.line(timeout: Self.patience) { $0.contains("\"ready\"") }
    guard let line, let document = try? JSON.parse(Array(line.utf8)) else {
      throw ChildProcess.StartFailure(reason: "the gateway did not start")
    }
    url = document["url"]?.string ?? ""
  }

  /// Milliseconds; it waits for a Redis that loads its data.
  private static let patience = 180_000

  /// For another program that starts it.
  static var program: String {
    var path = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &path, path.count - 1)
    return String(decoding: path.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// The folder of this program, where a shell does not look for it yet.
  static var missingSearchFolder: String? {
    guard let end = program.lastIndex(of: "/") else { return nil }
    let folder = String(program[..<end])
    let known = getenv("PATH").map { String(cString: $0).split(separator: ":").map(String.init) } ?? []
    return known.contains(folder) ? nil : folder
  }

  var id: Int32 { child.id }
  func stop() { child.stop() }
}
