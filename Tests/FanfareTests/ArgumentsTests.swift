import CommandFrame
import Domain
import JSON
import Testing

@testable import fanfare

@Suite("The command line")
struct ArgumentsTests {
  private func send(_ words: String...) throws -> Arguments { try Arguments(words, for: SendCommand.command) }

  @Test("options take their values behind a space or an equals sign, and repeat where they may")
  func values() throws {
    let arguments = try send("--title", "Hello", "--body=a=b", "--device", "one", "--device", "two", "--json")
    #expect(arguments.text("--title") == "Hello")
    #expect(arguments.text("--body") == "a=b")
    #expect(arguments.texts("--device") == ["one", "two"])
    #expect(arguments.wantsJSON)
  }

  @Test(
    "what cannot be understood is told with its remedy",
    arguments: [
      (["--titel", "x"], "did you mean --title?"), (["--title"], "--title needs a value"),
      (["--title", "a", "--title", "b"], "is given twice"), (["--json=yes"], "takes no value"),
      (["surprise"], "unexpected argument \"surprise\""),
    ])
  func problems(_ words: [String], told: String) throws {
    let problem = #expect(throws: UsageProblem.self) { try Arguments(words, for: SendCommand.command) }
    #expect(problem?.text.contains(told) == true)
  }

  @Test("a misspelt command ends with exit code 2, help with 0")
  func exitCodes() {
    #expect(Tool.program.run(["serv"]) == .usage)
    #expect(Tool.program.run(["help", "serve"]) == .success)
    #expect(Tool.program.run(["serve", "--help"]) == .success)
    #expect(Tool.program.run(["keys"]) == .usage)
    #expect(Tool.program.run(["serve", "--config", "/nowhere/fanfare.json5"]) == .configuration)
  }

  @Test("every command has help for a newcomer")
  func help() {
    for command in Tool.program.commands {
      let page = Tool.program.page(of: command)
      #expect(page.contains("Usage: fanfare \(command.name)") && command.about.count > 20)
      for option in command.options { #expect(page.contains(option.name) && !option.help.isEmpty) }
    }
  }

  @Test("send makes the message that its options describe")
  func message() throws {
    let arguments = try send(
      "--to-token", "apns:00fc", "--to-token", "fcm:a:b", "--environment", "sandbox", "--title", "Hello", "--data",
      "{\"order\":881}", "--ttl", "60", "--priority", "high")
    let text = String(decoding: try SendCommand.message(arguments).encoded, as: UTF8.self)
    #expect(
      text == """
        {"to":{"tokens":[{"provider":"apns","token":"00fc","environment":"sandbox"},{"provider":"fcm","token":"a:b"}]},\
        "notification":{"title":"Hello"},"data":{"order":881},"ttl":60,"priority":"high"}
        """)
  }

  @Test("send refuses two kinds of targets, none, and data that is no object")
  func refusals() throws {
    for words in [["--device", "a", "--user", "b"], ["--title", "x"], ["--device", "a", "--data", "[1]"]] {
      #expect(throws: UsageProblem.self) {
        try SendCommand.message(try Arguments(words, for: SendCommand.command))
      }
    }
  }
}
