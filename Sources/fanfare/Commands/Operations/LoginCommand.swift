import CommandFrame
import Domain
import GatewayClient
import HTTPClient
import JSON
import Loop

/// Keeps servers and their keys, so that commands need name neither.
enum LoginCommand {
  private static let profile = Command.Option(
    "--profile", "NAME", "name of the profile (without it: \(Profiles.usual))")

  static let login = Command(
    name: "login", summary: "save a server and its key for later commands",
    about: """
      Asks for a server and an API key, tries the key, and saves both as a profile in a file that only you can read.
      Later commands use the profile unless --url and --key-file, or FANFARE_URL and FANFARE_KEY, are given. To save several
      servers, name the profiles with --profile NAME or FANFARE_PROFILE. If standard input is not a terminal, the key is
      read from it.
      """,
    options: [
      profile, Command.Option("--url", "URL", "the server (default: ask for it)"),
      Command.Option("--key-file", "FILE", "a file with the key (default: ask for it)"),
      Command.json,
    ],
    examples: ["fanfare login", "fanfare login --profile production --url https://push.example.com"]
  ) { arguments in try run(arguments) }

  static let logout = Command(
    name: "logout", summary: "forget a server and its key", about: "Deletes a profile that fanfare login saved.",
    options: [profile, Command.json], examples: ["fanfare logout --profile production"]
  ) { arguments in
    let name = arguments.text("--profile") ?? Profiles.usual
    var profiles = try read()
    guard profiles.byName[name] != nil else {
      Terminal.complain("there is no profile \(name)", "fanfare profiles lists them")
      return .failure
    }
    profiles.set(name, nil)
    return save(profiles) {
      guard !arguments.wantsJSON else { return Terminal.print(.object([JSONMember("name", .string(name))])) }
      Terminal.note("profile \(name) is deleted; its key stays valid until it is revoked")
    }
  }

  static let list = Command(
    name: "profiles", summary: "list the servers that fanfare login saved",
    about: "Prints their names and addresses. Keys are not shown.",
    options: [Command.json]
  ) { arguments in
    let profiles = try read().byName.sorted { $0.key < $1.key }
    if arguments.wantsJSON {
      let items = profiles.map { item($0.key, $0.value.url) }
      Terminal.print(.object([JSONMember("items", .array(items))]))
    } else if profiles.isEmpty {
      Terminal.note("there are no profiles; create one with fanfare login")
    } else {
      var table = Table("name", "url")
      for (name, profile) in profiles { table.row(name, profile.url) }
      table.show()
    }
    return .success
  }

  private static func run(_ arguments: Arguments) throws -> ExitCode {
    let name = arguments.text("--profile") ?? Profiles.usual
    guard Profiles.isName(name) else {
      throw UsageProblem(text: "a profile's name has 1 to 64 letters, digits, `-`, `_` and `.`")
    }
    let before = try read().byName[name]?.url ?? ServerChoice.localURL
    var url = arguments.text("--url")
    if url == nil, Question.canBeAsked {
      url = Question.line("Server [\(before)]:").map { $0.isEmpty ? before : $0 }
    }
    let server = url ?? before
    guard server.hasPrefix("http://") || server.hasPrefix("https://") else {
      throw UsageProblem(text: "\(server.prefix(80)) is not a server address; it must begin with http:// or https://")
    }
    let key = (try KeyFile.key(of: arguments) ?? Question.secret("API key (fan_…):"))?.filter { !$0.isWhitespace } ?? ""
    guard !key.isEmpty else { throw UsageProblem(text: "a key is required; create one with fanfare keys create") }
    do {
      let answer = try Blocking.run { loop in
        let client = Client(loop: loop, base: server, key: key)
        defer { client.close() }
        return try await client.call("GET", "/v1/messages?limit=1")
      }
      // A key that may not read is a key.
      guard answer.isSuccess || answer.status == 403 else {
        Terminal.complain("the server refused the key: \(answer.problem)", "nothing was saved", code: "refused")
        return .refused
      }
    } catch let failure as HTTPClientFailure {
      Terminal.complain("cannot reach \(server): \(failure.reason)", "nothing was saved", code: "unreachable")
      return .unreachable
    }
    var profiles = try read()
    profiles.set(name, Profiles.Profile(url: server, key: key))
    return save(profiles) {
      guard !arguments.wantsJSON else { return Terminal.print(item(name, server)) }
      Terminal.note("saved as profile \(name) in \(Profiles.path ?? "")")
    }
  }

  private static func item(_ name: String, _ url: String) -> JSONValue {
    .object([JSONMember("name", .string(name)), JSONMember("url", .string(url))])
  }

  private static func read() throws -> Profiles {
    do throws(Profiles.Unreadable) {
      return try Profiles()
    } catch {
      Terminal.complain("\(error.path) is not a valid profile file", "correct it, or delete it and log in again")
      throw ExitCode.failure
    }
  }

  private static func save(_ profiles: Profiles, _ done: () -> Void) -> ExitCode {
    guard profiles.save() else {
      Terminal.complain("cannot write \(Profiles.path ?? "the profile file")", "set XDG_CONFIG_HOME or HOME")
      return .failure
    }
    done()
    return .success
  }
}
