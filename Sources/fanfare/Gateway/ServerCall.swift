import Domain
import Glibc
import HTTPClient
import JSON
import Loop

/// A command that asks a running server: which one, with which key, and what its refusals mean.
enum ServerCall {
  /// `scopes`: what the key must be allowed, in words.
  static func options(scopes: String) -> [Command.Option] {
    [
      Command.Option("--url", "URL", "the server (else FANFARE_URL, else http://127.0.0.1:8080)"),
      Command.Option("--key", "KEY", "an API key with scope \(scopes) (else FANFARE_KEY)"),
    ]
  }

  /// Runs `work` with a client of the server that the arguments name.
  static func run(
    _ arguments: Arguments, _ work: @escaping @Sendable (Client, EventLoop) async throws -> ExitCode
  ) throws -> ExitCode {
    let url = arguments.text("--url") ?? environment("FANFARE_URL") ?? "http://127.0.0.1:8080"
    guard let key = arguments.text("--key") ?? environment("FANFARE_KEY") else {
      throw UsageProblem(text: "an API key is needed: --key, or FANFARE_KEY (fanfare keys create makes one)")
    }
    do {
      return try Blocking.run { loop in
        let client = Client(loop: loop, base: url, key: key)
        defer { client.close() }
        return try await work(client, loop)
      }
    } catch let failure as HTTPClientFailure {
      Terminal.complain("\(url) cannot be reached: \(failure.reason)", "does fanfare serve run there?")
      return .unreachable
    }
  }

  /// Says why the server did not do it.
  static func refused(_ answer: Client.Answer, json: Bool) -> ExitCode {
    json ? Terminal.print(answer.body) : Terminal.complain("the server refused it: \(answer.problem)")
    return answer.status == 503 ? .unreachable : .refused
  }

  private static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
