import CommandFrame
import Domain
import GatewayClient
import HTTPClient
import JSON
import Loop

/// A command that asks a running server: which one, with which key, and what its refusals mean.
enum ServerCall {
  /// `scopes`: what the key must be allowed, in words.
  static func options(scopes: String) -> [Command.Option] {
    [
      Command.Option("--url", "URL", "the server (default: FANFARE_URL, the profile, http://127.0.0.1:8080)"),
      Command.Option(
        "--key-file", "FILE", "a file with an API key with scope \(scopes) (default: FANFARE_KEY, the profile)"),
      Command.Option("--profile", "NAME", "a profile that fanfare login saved (default: FANFARE_PROFILE)"),
    ]
  }

  /// Runs `work` with a client of the server that the arguments name.
  static func run(
    _ arguments: Arguments, _ work: @escaping @Sendable (Client, EventLoop) async throws -> ExitCode
  ) throws -> ExitCode {
    let choice = try ServerChoice(arguments)
    let url = choice.url
    guard let key = choice.key else {
      throw UsageProblem(
        text:
          "\(url) needs an API key: use --key-file, FANFARE_KEY or fanfare login (fanfare keys create creates a key)"
      )
    }
    do {
      return try Blocking.run { loop in
        let client = Client(loop: loop, base: url, key: key)
        defer { client.close() }
        return try await work(client, loop)
      }
    } catch let failure as HTTPClientFailure {
      Terminal.complain(
        "cannot reach \(url): \(failure.reason)", "check that fanfare serve runs there", code: "unreachable")
      return .unreachable
    }
  }

  /// One call; `show` writes its answer for people, `--json` prints it as it came. `repeated`: says that an earlier
  /// request has done it. `words`: what a refusal says, in the words of the command.
  static func one(
    _ method: String, _ path: String, _ arguments: Arguments, body: [UInt8] = [], headers: [Header] = [],
    repeated: @escaping @Sendable (JSONValue) -> Void = AcceptedAnswer.tellRepeat,
    words: @escaping @Sendable (String) -> String = CommandWords.of,
    _ show: @escaping @Sendable (JSONValue) -> Void
  ) throws -> ExitCode {
    let json = arguments.wantsJSON
    return try run(arguments) { client, _ in
      let answer = try await client.call(method, path, body, headers: headers)
      guard answer.isSuccess else { return refused(answer, json: json, words: words) }
      if answer.isRepeated { repeated(answer.document ?? .null) }
      if !json { show(answer.document ?? .null) } else if !answer.body.isEmpty { Terminal.print(json: answer.body) }
      return .success
    }
  }

  /// As one step of a path or one value of a query.
  static func escaped(_ text: String) -> String {
    text.utf8.map { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
        return String(UnicodeScalar(byte))
      default:
        let digits = String(byte, radix: 16, uppercase: true)
        return "%" + (digits.count == 1 ? "0" : "") + digits
      }
    }.joined()
  }

  /// With its question mark; without those that have no value.
  static func query(_ parts: [(name: String, value: String?)]) -> String {
    let words = parts.compactMap { name, value in value.map { "\(name)=\(escaped($0))" } }
    return words.isEmpty ? "" : "?" + words.joined(separator: "&")
  }

  /// Says why the server did not do it.
  static func refused(
    _ answer: Client.Answer, json: Bool, words: (String) -> String = CommandWords.of
  ) -> ExitCode {
    json
      ? Terminal.print(json: answer.body)
      : Terminal.complain("the server refused it: \(words(answer.problem))")
    return answer.status == 503 ? .unreachable : .refused
  }
}
