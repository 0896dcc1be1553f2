/// Help pages, made from the commands themselves.
enum Help {
  static var overview: String {
    let width = Tool.commands.map(\.name.count).max() ?? 0
    let lines = Tool.commands.map { "  \(padded($0.name, width))  \($0.summary)" }
    return """
      fanfare \(Tool.version) — one push API for APNs, FCM and OneSignal, durable in Redis

      Usage: fanfare COMMAND [OPTION …]

      \(lines.joined(separator: "\n"))

      Start with: fanfare dev     (runs Redis, the sandbox and the gateway on this machine)
      More about a command: fanfare help COMMAND
      """
  }

  static func page(of command: Command) -> String {
    var text = "Usage: fanfare \(command.name)"
    for name in command.positionals { text += " \(name)" }
    if !command.options.isEmpty { text += " [OPTION …]" }
    text += "\n\n\(command.about)\n"
    if !command.options.isEmpty {
      let width = command.options.map { label(of: $0).count }.max() ?? 0
      text += "\nOptions:\n"
      for option in command.options { text += "  \(padded(label(of: option), width))  \(option.help)\n" }
    }
    if !command.examples.isEmpty {
      text += "\nExamples:\n" + command.examples.map { "  \($0)\n" }.joined()
    }
    return text.hasSuffix("\n") ? String(text.dropLast()) : text
  }

  private static func label(of option: Command.Option) -> String {
    option.value.map { "\(option.name) \($0)" } ?? option.name
  }

  static func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }
}
