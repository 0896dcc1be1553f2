import CommandFrame
import Testing

@testable import Laboratory

@Suite("The laboratory's command line")
struct CommandTests {
  @Test("every command has help, and its examples are lines of this program")
  func help() {
    #expect(FanfareLab.program.run(["help"]) == .success)
    for command in FanfareLab.program.commands {
      let page = FanfareLab.program.page(of: command)
      #expect(page.contains("Usage: fanfare-lab \(command.name)") && command.about.count > 20)
      for example in page.split(separator: "\n").drop(while: { $0 != "Examples:" }).dropFirst() {
        #expect(example.hasPrefix("  fanfare-lab \(command.name)") || example.hasPrefix("  make "), "\(example)")
      }
    }
  }
}
