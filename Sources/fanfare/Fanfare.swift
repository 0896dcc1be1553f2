@main
enum Fanfare {
  static func main() {}
}
