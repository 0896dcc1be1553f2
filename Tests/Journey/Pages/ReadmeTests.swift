import Domain
import Foundation
import JSON
import Support
import Testing

extension Journeys {
  /// `fanfare dev`, and the line of its output that begins with `ready`.
  private func dev(_ words: [String], ready: String) async throws -> (process: ChildProcess, line: String) {
    let process = try ChildProcess(World.program, ["dev"] + words)
    let line = try await process.line { $0.drop { $0 == " " }.hasPrefix(ready) }
    return (process, line)
  }

  @Test(
    "the README's first send and all tasks work against fanfare dev, as they stand there",
    arguments: ["README.md", "docs/tasks.md"])
  func page(_ name: String) async throws {
    let root = URL(fileURLWithPath: #filePath).appending(path: "../../../..").standardized
    let page = PageScript(try String(contentsOf: root.appending(path: name), encoding: .utf8))
    #expect(!page.steps.isEmpty)
    let (dev, export) = try await dev(["--port", "0"], ready: "export FANFARE_URL=")
    for fault in try await page.run(after: export) { Issue.record("\(name), \(fault)") }
    dev.signal(SIGINT)
    #expect(await dev.waitForExit() == 0, "\(dev.text)")
  }

  @Test("a page whose commands end or answer otherwise than it says is found out")
  func falsePage() async throws {
    /// One block, how it is to end, and its answer.
    func faults(_ script: String, exits: Int = 0, _ answer: String) async throws -> [String] {
      let page = "<!-- exits \(exits) -->\n```sh\n\(script)\n```\n\n```text\n\(answer)\n```\n"
      return try await PageScript(page).run()
    }
    let script = "A=one\nprintf '%s\\t two\\nthree\\nfour\\n' $A"
    for answer in ["one two\nthree\nfour", "o… two\n…", "…\nfour", "one…wo\n…\nthree\nfour"] {
      #expect(try await faults(script, answer).isEmpty, "\(answer)")
    }
    for answer in ["one two\nthree\nfive", "one two\nfour", "two\n…", "one two\nthree", "…\nthree", "one two…four", ""]
    {
      #expect(try await faults(script, answer).count == 1, "\(answer)")
    }
    // A command that fails before the last one, in a pipeline, or not at all.
    #expect(try await faults("false\necho x", exits: 1, "x").isEmpty)
    #expect(try await faults("false\necho x", "x").count == 1)
    #expect(try await faults("false\nfalse\necho x", exits: 1, "x").count == 1)
    #expect(try await faults("(exit 5) | cat", "").count == 1)
    #expect(try await faults("ID=$(exit 5)", exits: 5, "").isEmpty)
    #expect(try await faults("true", exits: 5, "").count == 1)
    // Blocks share a shell, and the first that ends otherwise is the last one.
    let shared = "```sh\nA=1\n```\n\n```sh\necho $A\n```\n\n```text\n1\n```\n"
    #expect(try await PageScript(shared).run().isEmpty)
    #expect(try await PageScript("```sh\nexit 3\n```\n" + shared).run().count == 1)
  }

  @Test("a busy port is replaced, and ctrl-C leaves nothing behind")
  func busyPort() async throws {
    func ready(_ port: String) async throws -> (process: ChildProcess, told: JSONValue) {
      let (process, line) = try await dev(["--json", "--port", port], ready: "{")
      return (process, try JSON.parse(Array(line.utf8)))
    }
    let (first, told) = try await ready("0")
    let port = try #require(told["url"]?.string?.split(separator: ":").last)
    let (second, other) = try await ready(String(port))
    #expect(other["url"]?.string?.hasSuffix(":\(port)") == false)
    let config = try #require(other["config"]?.string)
    #expect(FileManager.default.fileExists(atPath: config))
    // What was made for it is read anew as any configuration.
    #expect(other["pid"]?.integer != told["pid"]?.integer && other["pid"] != nil, "\(other)")
    let text = try String(contentsOf: URL(filePath: config), encoding: .utf8)
    for (content, event) in [
      (text.replacing("log_level", with: "log_levle"), "configuration_refused"),
      (text.replacing("\"warning\"", with: "\"info\""), "restart_needed"),
    ] {
      try content.write(toFile: config, atomically: true, encoding: .utf8)
      second.signal(SIGHUP)
      _ = try await second.line { $0.contains(event) }
    }
    second.signal(SIGINT)
    #expect(await second.waitForExit() == 0)
    #expect(!FileManager.default.fileExists(atPath: config), "the temporary folder is still there")
    first.signal(SIGINT)
    #expect(await first.waitForExit() == 0)
  }
  @Test("a terminal that is closed ends fanfare dev in good order, though its signal is an order to reload as well")
  func closedTerminal() async throws {
    let terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    var (lock, number): (CInt, CInt) = (0, 0)
    // TIOCSPTLCK and TIOCGPTN: unlocks it, and tells its number.
    try #require(ioctl(terminal, 0x4004_5431, &lock) == 0 && ioctl(terminal, 0x8004_5430, &number) == 0)
    let dev = try ChildProcess(
      URL(filePath: "/bin/sh"),
      [
        "-c", #"exec setsid --ctty --wait "$0" dev --json --port 0 < "$1""#, World.program.path,
        "/dev/pts/\(number)",
      ])
    let told = try JSON.parse(Array(try await dev.line { $0.hasPrefix("{") }.utf8))
    let (config, pid) = (try #require(told["config"]?.string), Int32(try #require(told["pid"]?.integer)))
    // While the terminal is there, it is an order to read.
    try String(contentsOf: URL(filePath: config), encoding: .utf8).replacing("\"warning\"", with: "\"info\"")
      .write(toFile: config, atomically: true, encoding: .utf8)
    kill(pid, SIGHUP)
    _ = try await dev.line { $0.contains("restart_needed") }
    close(terminal)
    #expect(await dev.waitForExit() == 0, "\(dev.text)")
    #expect(!FileManager.default.fileExists(atPath: config), "the temporary folder is still there")
  }
}
