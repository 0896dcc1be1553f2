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
      (["-t", "x"], "did you mean --to-token, --title, --ttl or --topic?"),
      (["surprise"], "unexpected argument \"surprise\""),
    ])
  func problems(_ words: [String], told: String) throws {
    let problem = #expect(throws: UsageProblem.self) { try Arguments(words, for: SendCommand.command) }
    #expect(problem?.text.contains(told) == true)
  }

  @Test("an option of another action, a label given twice and a number with its unit are refused with the remedy")
  func misplaced() throws {
    func told(_ words: [String], _ command: Command) -> String? {
      #expect(throws: UsageProblem.self) {
        let arguments = try Arguments(words, for: command)
        _ = try MessageEnd.seconds(arguments)
        _ = try SendCommand.message(arguments)
      }?.text
    }
    let messages = MessagesCommand.command
    #expect(told(["old"], LoginCommand.logout) == "unexpected argument \"old\"; did you mean --profile old?")
    #expect(told(["show", "msg_1", "--csv"], messages) == "--csv is for list, tail, deliveries, not for show")
    #expect(told(["watch", "msg_1", "--label", "a:b"], messages) == "--label is for list, tail, not for watch")
    #expect((try? Arguments(["list", "--csv", "--label", "a:b"], for: messages)) != nil)
    #expect((try? Arguments(["deliveries", "msg_1", "--state", "failed", "--csv"], for: messages)) != nil)
    let send = SendCommand.command
    #expect(told(["--user", "a", "--label", "a:b", "--label", "a:c"], send) == "--label a is given twice")
    #expect(
      told(["--user", "a", "--wait", "30s"], send)?.contains("of seconds from 1 to 86400, such as --wait 60") == true)
    #expect(told(["--user", "a", "--ttl", "1d"], send)?.contains("of seconds from 0") == true)
    #expect(told(["--user", "a", "--file", "/nowhere.json"], send) == "there is no file /nowhere.json")
  }

  @Test("help of one action tells that action alone, with its options and examples")
  func actions() {
    func page(_ command: Command, _ action: String) -> String { Tool.program.page(of: command.only(action)) }
    let edit = page(DraftsCommand.command, "edit")
    #expect(edit.hasPrefix("Usage: fanfare drafts edit ID [OPTION …]\n\nedit "), "\(edit)")
    for (command, action, words) in [
      (MessagesCommand.command, "list", ""), (MessagesCommand.command, "watch", " ID"),
      (MessagesCommand.command, "replay", " ID"), (DevicesCommand.command, "import", " FILE"),
      (DevicesCommand.command, "export", ""), (AudienceCommand.command, "set", " NAME EXPRESSION"),
      (KeysCommand.command, "create", ""), (TestListsCommand.command, "set", " NAME"),
    ] {
      let usage = "Usage: fanfare \(command.name) \(action)\(words) [OPTION …]\n"
      #expect(page(command, action).hasPrefix(usage) && !page(command, action).contains("ACTION"), "\(usage)")
    }
    for (word, meant) in [("cancle", "cancel"), ("replya", "replay")] {
      let problem = #expect(throws: UsageProblem.self) { try Arguments([word, "msg_1"], for: MessagesCommand.command) }
      #expect(problem?.text == "messages has no action \"\(word)\"; did you mean \"\(meant)\"?")
    }
    #expect(edit.contains("--file FILE") && edit.contains("--url"), "\(edit)")
    for other in ["duplicate", "--dry-run", "--list NAME", "fanfare drafts send"] {
      #expect(!edit.contains(other), "\(other) in \(edit)")
    }
    let imported = page(DevicesCommand.command, "import")
    #expect(imported.contains("--map COLUMN=FIELD") && imported.contains("attributes.NAME"), "\(imported)")
    #expect(!imported.contains("--status") && imported.contains("fanfare devices import customers.csv"))
    #expect(page(DevicesCommand.command, "prunes").contains("--credential"))
    let replay = page(MessagesCommand.command, "replay")
    #expect(replay.contains("exits like fanfare send --wait") && replay.contains("--outcome"), "\(replay)")
    for words in [["help", "drafts", "edit"], ["drafts", "edit", "--help"], ["help", "keys", "create"]] {
      #expect(Tool.program.run(words) == .success)
    }
    #expect(Tool.program.run(["help", "drafts", "edti"]) == .usage)
    #expect(Tool.program.run(["help", "check", "x"]) == .success)
  }

  @Test("the usage of a command has a line for each action, with the arguments of that action")
  func usage() {
    for command in Tool.program.commands where !command.name.contains(" ") {
      let page = Tool.program.page(of: command)
      let usage = page.split(separator: "\n\n").first.map(String.init) ?? ""
      #expect(!usage.contains("[ID") && !usage.contains(" or "), "\(usage)")
    }
    let devices = Tool.program.page(of: DevicesCommand.command)
    #expect(
      devices.hasPrefix("Usage: fanfare devices list [OPTION …]\n       fanfare devices show ID [OPTION …]\n"),
      "\(devices)")
    #expect(devices.contains("\n       fanfare devices import FILE [OPTION …]\n"), "\(devices)")
    #expect(Tool.program.page(of: UsersCommand.command).contains("\n       fanfare users delete ID [OPTION …]\n"))
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
