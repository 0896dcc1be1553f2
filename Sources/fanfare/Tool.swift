import Configuration
import Domain
import Glibc
import Synchronization

/// How a command ends; documented in docs/operations.md and never renumbered.
enum ExitCode: Int32, Error {
  case success = 0
  /// What was asked for did not succeed; the reason was printed.
  case failure = 1
  /// The command line was not understood.
  case usage = 2
  /// The configuration has faults.
  case configuration = 3
  /// Redis, the server or a provider cannot be reached.
  case unreachable = 4
  /// The server refused the request.
  case refused = 5
  /// Ended by ctrl-C, as shells tell it.
  case interrupted = 130
}

/// The command line: finds the command, reads its arguments, runs it.
enum Tool {
  static let version = "0.1.0"

  static let commands: [Command] = [
    DevCommand.command, DemoCommand.command, ChaosCommand.command, SoakCommand.command, OutageCommand.command,
    ServeCommand.command,
    SendCommand.command, CheckCommand.command, StatusCommand.command, KeysCommand.command, DevicesCommand.command,
    ChannelsCommand.command, AudienceCommand.command,
    UsersCommand.command, UsersCommand.tags, DraftsCommand.command, TestListsCommand.command, MessagesCommand.command,
    RenderCommand.command,
    SandboxCommand.command, BenchCommand.command,
    LoginCommand.login, LoginCommand.logout, LoginCommand.list, VersionCommand.command,
  ]

  static func run() -> Never {
    // A peer that goes away is an error of the write, not the end of the process.
    signal(SIGPIPE, SIG_IGN)
    let code = run(Array(CommandLine.arguments.dropFirst()))
    exit(code.rawValue)
  }

  static func run(_ words: [String]) -> ExitCode {
    guard let name = words.first else {
      Terminal.print(Help.overview)
      return .usage
    }
    if name == "help" || name == "--help" || name == "-h" { return help(words.dropFirst().first) }
    let wanted = name == "--version" ? "version" : name
    guard let command = commands.first(where: { $0.name == wanted }) else {
      let near = Suggestion.nearest(to: name, among: commands.map(\.name))
      Terminal.complain(
        "there is no command \"\(name)\"", near.map { "did you mean \"\($0)\"?" } ?? "see fanfare help",
        code: "usage")
      return .usage
    }
    let rest = words.dropFirst()
    if rest.contains(Command.json.name) { Terminal.speaksJSON.store(true, ordering: .relaxed) }
    if rest.contains("--help") || rest.contains("-h") { return help(command.name) }
    do {
      return try command.run(try Arguments(Array(rest), for: command))
    } catch let problem as UsageProblem {
      Terminal.complain(problem.text, "see fanfare help \(command.name)", code: "usage")
      return .usage
    } catch let code as ExitCode {
      return code
    } catch {
      Terminal.complain("\(error)", "this is a bug in Fanfare", code: "internal_error")
      return .failure
    }
  }

  private static func help(_ name: String?) -> ExitCode {
    guard let name else {
      Terminal.print(Help.overview)
      return .success
    }
    guard let command = commands.first(where: { $0.name == name }) else {
      Terminal.complain("there is no command \"\(name)\"", "see fanfare help")
      return .usage
    }
    Terminal.print(Help.page(of: command))
    return .success
  }
}
