import Configuration
import Domain

/// One subcommand: what it is called, what it takes, what it does.
struct Command: Sendable {
  struct Option: Sendable {
    /// With its dashes.
    var name: String
    /// What stands behind it in help; nil: a switch.
    var value: String?
    var help: String
    /// May be given several times.
    var repeats = false

    /// A switch.
    init(_ name: String, _ help: String) {
      self.name = name
      self.help = help
    }
    init(_ name: String, _ value: String, repeats: Bool = false, _ help: String) {
      self.name = name
      self.value = value
      self.repeats = repeats
      self.help = help
    }
  }
  var name: String
  var summary: String
  /// A paragraph for somebody who sees it for the first time.
  var about: String
  /// Names of positional arguments for help, `[x]` where optional.
  var positionals: [String] = []
  var options: [Option]
  var examples: [String] = []
  var run: @Sendable (Arguments) throws -> ExitCode

  static let json = Option("--json", "print JSON for programs instead of text for people")
  static let configuration = Option(
    "--config", "FILE", "the configuration (default: FANFARE_CONFIG, then fanfare.json5)")
}

/// A command line that cannot be understood.
struct UsageProblem: Error { let text: String }

/// What stood on the command line, checked against the command's options.
struct Arguments: Sendable {
  private var values: [String: [String]] = [:]
  private(set) var positionals: [String] = []

  init(_ words: [String], for command: Command) throws(UsageProblem) {
    var rest = words[...]
    var onlyPositionals = false
    while let word = rest.popFirst() {
      guard word.hasPrefix("-"), word != "-", !onlyPositionals else {
        positionals.append(word)
        continue
      }
      if word == "--" {
        onlyPositionals = true
        continue
      }
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      guard let option = command.options.first(where: { $0.name == parts[0] }) else {
        let near = Suggestion.nearest(to: parts[0], among: command.options.map(\.name))
        throw UsageProblem(
          text: "fanfare \(command.name) has no option \(parts[0])" + (near.map { "; did you mean \($0)?" } ?? ""))
      }
      if option.value == nil {
        guard parts.count == 1 else { throw UsageProblem(text: "\(option.name) takes no value") }
        values[option.name] = []
        continue
      }
      guard let value = parts.count == 2 ? parts[1] : rest.popFirst() else {
        throw UsageProblem(text: "\(option.name) needs a value: \(option.name) \(option.value ?? "")")
      }
      guard option.repeats || values[option.name] == nil else {
        throw UsageProblem(text: "\(option.name) is given twice")
      }
      values[option.name, default: []].append(value)
    }
    guard positionals.count <= command.positionals.count else {
      throw UsageProblem(text: "unexpected argument \"\(positionals[command.positionals.count])\"")
    }
  }

  func has(_ name: String) -> Bool { values[name] != nil }
  func text(_ name: String) -> String? { values[name]?.first }
  func texts(_ name: String) -> [String] { values[name] ?? [] }

  func integer(_ name: String, in range: ClosedRange<Int>) throws(UsageProblem) -> Int? {
    guard let text = text(name) else { return nil }
    guard let number = Whole.read(text, in: range) else {
      throw UsageProblem(text: "\(name) takes a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  var wantsJSON: Bool { has(Command.json.name) }
}
