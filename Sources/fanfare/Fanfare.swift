import CommandFrame

@main
enum Fanfare {
  /// Closures written here would belong to the main actor: everything is elsewhere.
  static func main() { Tool.program.run() }
}
