/// Help pages, made from the commands themselves.
extension Program {
  var overview: String {
    let width = commands.map(\.name.count).max() ?? 0
    let lines = commands.map { "  \(padded($0.name, width))  \($0.summary)" }
    return """
      \(name) \(Self.version) — \(summary)

      Usage: \(name) COMMAND [OPTION …]

      \(lines.joined(separator: "\n"))

      Start with: \(firstStep)
      More about a command: \(name) help COMMAND
      """
  }

  /// All about one command.
  package func page(of command: Command) -> String {
    // One action's own page has the action in its name.
    let hasActions = !command.actions.isEmpty && !command.name.contains(" ")
    let forms = hasActions ? command.actions.map(command.only) : [command]
    var text = "Usage: " + forms.map(usage).joined(separator: "\n       ")
    text += "\n\n\(command.about)\n"
    if !command.options.isEmpty {
      let width = command.options.map { label(of: $0).count }.max() ?? 0
      text += "\nOptions:\n"
      for option in command.options { text += "  \(padded(label(of: option), width))  \(option.help)\n" }
    }
    if hasActions {
      text += "\nOne action alone: \(name) help \(command.name) ACTION\n"
    }
    if !command.examples.isEmpty {
      text += "\nExamples:\n" + command.examples.map { "  \($0)\n" }.joined()
    }
    return text.hasSuffix("\n") ? String(text.dropLast()) : text
  }

  private func usage(of command: Command) -> String {
    ([name, command.name] + command.positionals + (command.options.isEmpty ? [] : ["[OPTION …]"]))
      .joined(separator: " ")
  }

  private func label(of option: Command.Option) -> String {
    option.value.map { "\(option.name) \($0)" } ?? option.name
  }
}
