import Domain
import Glibc
import Synchronization

/// A program of several commands: finds the command that the first word names, reads its arguments, runs it.
package struct Program: Sendable {
  /// Of the gateway and of everything that is built beside it.
  package static let version = Release.version

  /// As it is typed.
  let name: String
  /// Behind the name, in the overview.
  let summary: String
  package let commands: [Command]
  /// The line of the overview for somebody who sees it for the first time.
  let firstStep: String

  /// `summary` stands behind the name in the overview; `firstStep` is the command line that it recommends to beginners.
  package init(name: String, summary: String, commands: [Command], firstStep: String) {
    self.name = name
    self.summary = summary
    self.commands = commands
    self.firstStep = firstStep
  }

  /// Runs the words of the command line, and ends the process.
  package func run() -> Never {
    // A peer that goes away is an error of the write, not the end of the process.
    signal(SIGPIPE, SIG_IGN)
    let code = run(Array(CommandLine.arguments.dropFirst()))
    exit(code.rawValue)
  }

  /// `words`: without the program's own name. What goes wrong was printed when it returns.
  package func run(_ words: [String]) -> ExitCode {
    Terminal.program.withLock { $0 = name }
    // Also where the command is no command: a program reads the fault then.
    if words.contains(Command.json.name) { Terminal.speaksJSON.store(true, ordering: .relaxed) }
    guard let first = words.first else {
      Terminal.print(overview)
      return .usage
    }
    if first == "help" || first == "--help" || first == "-h" { return help(words.dropFirst()) }
    let wanted = first == "--version" ? "version" : first
    guard let command = commands.first(where: { $0.name == wanted }) else {
      let near = Suggestion.nearest(to: first, among: commands.map(\.name))
      Terminal.complain(
        "there is no command \"\(first)\"", near.map { "did you mean \"\($0)\"?" } ?? "see \(name) help",
        code: "usage")
      return .usage
    }
    let rest = words.dropFirst()
    if rest.contains("--help") || rest.contains("-h") {
      return help([command.name] + rest.filter(command.actions.contains).prefix(1))
    }
    do {
      return try command.run(try Arguments(Array(rest), for: command))
    } catch let problem as UsageProblem {
      Terminal.complain(problem.text, "see \(name) help \(command.name)", code: "usage")
      return .usage
    } catch let code as ExitCode {
      return code
    } catch {
      Terminal.complain("\(error)", "this is a bug in Fanfare", code: "internal_error")
      return .failure
    }
  }

  /// `words`: a command and, where it has several, its action; empty: the overview.
  private func help(_ words: some Collection<String>) -> ExitCode {
    guard let wanted = words.first else {
      Terminal.print(overview)
      return .success
    }
    guard let command = commands.first(where: { $0.name == wanted }) else {
      let near = Suggestion.nearest(to: wanted, among: commands.map(\.name))
      Terminal.complain(
        "there is no command \"\(wanted)\"", near.map { "did you mean \"\($0)\"?" } ?? "see \(name) help",
        code: "usage")
      return .usage
    }
    guard let action = words.dropFirst().first, !command.actions.isEmpty else {
      Terminal.print(page(of: command))
      return .success
    }
    guard command.actions.contains(action) else {
      let near = Suggestion.nearest(to: action, among: command.actions)
      Terminal.complain(
        "\(command.name) has no action \"\(action)\"",
        near.map { "did you mean \"\($0)\"?" } ?? "see \(name) help \(command.name)", code: "usage")
      return .usage
    }
    Terminal.print(page(of: command.only(action)))
    return .success
  }
}
