import Domain

/// One subcommand: what it is called, what it takes, what it does.
package struct Command: Sendable {
  /// What may stand behind a command's name, with its line of help.
  package struct Option: Sendable {
    /// With its dashes.
    package var name: String
    /// What stands behind it in help; nil: a switch.
    var value: String?
    package var help: String
    /// May be given several times.
    var repeats = false

    /// A switch.
    package init(_ name: String, _ help: String) {
      self.name = name
      self.help = help
    }
    /// `value`: what its value is called in help.
    package init(_ name: String, _ value: String, repeats: Bool = false, _ help: String) {
      self.name = name
      self.value = value
      self.repeats = repeats
      self.help = help
    }
  }
  package var name: String
  var summary: String
  /// A paragraph for somebody who sees it for the first time.
  package var about: String
  var positionals: [String]
  /// What stands behind each action on its page of help.
  private var words: [String: [String]]
  private var wordsOfOthers: [String]?
  package var options: [Option]
  var examples: [String]
  var run: @Sendable (Arguments) throws -> ExitCode

  /// `positionals`: names of positional arguments for help, `[x]` where optional. `words`: those of single actions,
  /// `wordsOfOthers` those of all others; nil: as `positionals` has them. `examples`: whole command lines.
  package init(
    name: String, summary: String, about: String, positionals: [String] = [], words: [String: [String]] = [:],
    wordsOfOthers: [String]? = nil, options: [Option],
    examples: [String] = [], run: @escaping @Sendable (Arguments) throws -> ExitCode
  ) {
    self.name = name
    self.summary = summary
    self.about = about
    self.positionals = positionals
    self.words = words
    self.wordsOfOthers = wordsOfOthers
    self.options = options
    self.examples = examples
    self.run = run
  }

  /// The switch of every command with machine-readable output. `Program.run` looks for it before the options are read,
  /// so that a usage problem is JSON as well.
  package static let json = Option("--json", "print JSON for programs instead of text for people")
}

/// Commands whose first argument says what to do: `messages list`, `messages show` …
extension Command {
  /// What the first argument may be; empty: the command does one thing.
  var actions: [String] {
    let words = (positionals.first ?? "").split(separator: "|").map(String.init)
    return words.count > 1 ? words : []
  }

  /// The actions that an option is for; empty: for all. Its help begins with them, as
  /// `list, tail: messages with this label; deliveries: …`; a second word of an action may follow (`prunes undo: …`).
  func actions(of option: Option) -> [String] {
    let actions = actions
    var own: [String] = []
    for part in option.help.split(separator: ";") {
      guard let mark = part.firstIndex(of: ":") else { continue }
      let words = part[..<mark].split(separator: ",").map { String($0.trimmingPrefix(" ").prefix { $0 != " " }) }
      if words.allSatisfy(actions.contains) { own += words }
    }
    return own
  }

  /// What `about` says of one action: the line that begins with it, and the indented lines below. Nil: it has no line.
  func about(of action: String) -> String? {
    let lines = about.split(separator: "\n", omittingEmptySubsequences: false)
    guard let first = lines.firstIndex(where: { $0.hasPrefix(action + "  ") }) else { return nil }
    let rest = lines[(first + 1)...].prefix { $0.hasPrefix("  ") }
    return (lines[first...first] + rest).joined(separator: "\n")
  }

  /// The command as if it had only this action, for its page of help.
  package func only(_ action: String) -> Command {
    var command = self
    command.name += " \(action)"
    command.about = about(of: action) ?? about
    command.positionals = words[action] ?? wordsOfOthers ?? Array(positionals.dropFirst())
    command.options = options.filter { option in
      let own = actions(of: option)
      return own.isEmpty || own.contains(action)
    }
    let own = examples.filter { $0.contains(" \(command.name)") }
    command.examples = own
    return command
  }
}

/// A command line that cannot be understood.
package struct UsageProblem: Error {
  package let text: String
  /// `text`: one sentence for the person at the terminal, without a full stop.
  package init(text: String) { self.text = text }
}

/// What stood on the command line, checked against the command's options.
package struct Arguments: Sendable {
  private var values: [String: [String]] = [:]
  /// What the value of each option is called.
  private var units: [String: String] = [:]
  /// The words that are no options, in order; at most as many as the command names. After `--` every word is one.
  package private(set) var positionals: [String] = []

  /// `words`: what stands behind the command's name.
  package init(_ words: [String], for command: Command) throws(UsageProblem) {
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
        let near = Self.meant(by: parts[0], among: command.options.map(\.name))
        throw UsageProblem(
          text: "\(command.name) has no option \(parts[0])" + (near.map { "; did you mean \($0)?" } ?? ""))
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
      let extra = positionals[command.positionals.count]
      // Where only one option takes a value, this may be meant.
      let taking = command.options.filter { $0.value != nil }
      let hint = command.positionals.isEmpty && taking.count == 1 ? "; did you mean \(taking[0].name) \(extra)?" : ""
      throw UsageProblem(text: "unexpected argument \"\(extra)\"\(hint)")
    }
    try checkActions(command)
    units = Dictionary(command.options.map { ($0.name, $0.value ?? "") }, uniquingKeysWith: { $1 })
  }

  /// `-t` may be any option that begins so.
  private static func meant(by word: String, among names: [String]) -> String? {
    guard word.count == 2, let letter = word.last, letter != "-" else {
      let longer = names.filter { $0.hasPrefix(word + "-") }
      return longer.count == 1 ? longer[0] : Suggestion.nearest(to: word, among: names)
    }
    let some = names.filter { $0.hasPrefix("--\(letter)") }
    guard let last = some.last else { return nil }
    return some.count == 1 ? last : some.dropLast().joined(separator: ", ") + " or \(last)"
  }

  /// Refuses an action that is probably mistyped, and options that are for other actions than the given one.
  private func checkActions(_ command: Command) throws(UsageProblem) {
    guard let action = positionals.first, !command.actions.isEmpty else { return }
    guard command.actions.contains(action) else {
      guard let near = Suggestion.nearest(to: action, among: command.actions) else { return }
      throw UsageProblem(text: "\(command.name) has no action \"\(action)\"; did you mean \"\(near)\"?")
    }
    for option in command.options where has(option.name) {
      let own = command.actions(of: option)
      guard !own.isEmpty, !own.contains(action) else { continue }
      throw UsageProblem(text: "\(option.name) is for \(own.joined(separator: ", ")), not for \(action)")
    }
  }

  /// True for a switch or an option that was given, with whatever value.
  package func has(_ name: String) -> Bool { values[name] != nil }
  /// Of an option that is given once at most; nil: it is not there.
  package func text(_ name: String) -> String? { values[name]?.first }
  /// Of an option that may be given several times, in order; empty: it is not there.
  package func texts(_ name: String) -> [String] { values[name] ?? [] }

  /// Nil: the option is not there.
  package func integer(_ name: String, in range: ClosedRange<Int>) throws(UsageProblem) -> Int? {
    guard let text = text(name) else { return nil }
    guard let number = Whole.read(text, in: range) else {
      let unit = units[name] == "SECONDS" ? " of seconds" : ""
      let example = unit.isEmpty ? "" : ", such as \(name) \(min(range.upperBound, 60))"
      throw UsageProblem(
        text: "\(name) takes a whole number\(unit) from \(range.lowerBound) to \(range.upperBound)\(example)")
    }
    return number
  }

  package var wantsJSON: Bool { has(Command.json.name) }
}
