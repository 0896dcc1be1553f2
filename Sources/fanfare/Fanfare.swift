import CommandFrame
import Processes

@main
enum Fanfare {
  /// Closures written here would belong to the main actor: everything is elsewhere.
  static func main() {
    CoreDumps.forbid()
    Tool.program.run()
  }
}
