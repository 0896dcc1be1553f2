import CommandFrame

@main
enum FanfareLab {
  static let program = Program(
    name: "fanfare-lab", summary: "measures Fanfare, and breaks it on purpose",
    commands: [
      DemoCommand.command, ChaosCommand.command, SoakCommand.command, OutageCommand.command, SiegeCommand.command,
      BenchCommand.command,
    ],
    firstStep: "fanfare-lab demo     (sends to 10,000 devices while faults play; needs nothing but this machine)")

  /// Closures written here would belong to the main actor: everything is elsewhere.
  static func main() { program.run() }
}
