import Domain
import Glibc
import JSON
import Processes

/// A responder as a child of its own. Start it on the main thread.
final class ResponderProcess {
  let settings: ResponderSettings
  let port: Int
  /// Of the token endpoint beside FCM.
  let tokenPort: Int
  private let process: ReadProcess

  init(_ settings: ResponderSettings, log: String, core: Int) throws {
    self.settings = settings
    process = try ReadProcess("/proc/self/exe", settings.arguments, log: log, core: core)
    guard let ready = process.line(timeout: 10_000, where: { $0.contains("\"ready\"") }),
      let told = try? JSON.parse(Array(ready.utf8)), let port = told["port"]?.integer
    else { throw BenchFailure(reason: "the responder did not start") }
    self.port = Int(port)
    tokenPort = Int(told["token_port"]?.integer ?? 0)
  }

  var id: pid_t { process.child.id }
  var caFile: String { "\(settings.directory)/ca.pem" }

  /// Ends it; what it saw.
  func stop() throws -> ResponderTally {
    kill(id, SIGTERM)
    guard let done = process.line(timeout: 10_000, where: { $0.contains("\"done\"") }),
      let told = try? JSON.parse(Array(done.utf8))
    else { throw BenchFailure(reason: "the responder did not tell what it saw") }
    process.child.stop()
    return ResponderTally(told)
  }
}

/// A measurement could not be made.
struct BenchFailure: Error { let reason: String }
