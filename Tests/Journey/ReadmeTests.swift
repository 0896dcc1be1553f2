import Domain
import Foundation
import JSON
import Loop
import Support
import Testing

extension Journeys {
  /// The README's shell block behind the mark.
  private func firstSend() throws -> String {
    let root = URL(fileURLWithPath: #filePath).appending(path: "../../..").standardized
    let text = try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
    let mark = try #require(text.firstRange(of: "<!-- executed by Tests/Journey/ReadmeTests.swift -->\n```sh\n"))
    let rest = text[mark.upperBound...]
    let end = try #require(rest.firstRange(of: "\n```\n"))
    return String(rest[..<end.lowerBound])
  }

  private func dev(port: String) async throws -> (process: ChildProcess, ready: JSONValue) {
    let process = try ChildProcess(World.program, ["dev", "--json", "--port", port])
    let line = try await process.line { $0.hasPrefix("{") }
    return (process, try JSON.parse(Array(line.utf8)))
  }

  @Test("the README's first send works against fanfare dev, as it stands there")
  func readme() async throws {
    let loop = EventLoop(name: "readme")
    let thread = loop.start()
    defer {
      loop.stop()
      thread.join()
    }
    let (dev, ready) = try await dev(port: "0")
    let url = try #require(ready["url"]?.string)
    let key = try #require(ready["key"]?.string)
    let script = try ChildProcess(
      URL(fileURLWithPath: "/bin/sh"), ["-euc", try firstSend()],
      environment: ["FANFARE_URL": url, "FANFARE_KEY": key])
    #expect(await script.waitForExit() == 0, "\(script.text)")
    let told = try JSON.parse(Array(script.text.utf8))
    let id = try #require(told["id"]?.string, "\(script.text)")
    #expect(told["targets"]?.integer == 2)

    let gateway = Gateway(process: dev, client: try await Client(base: url, key: key, loop: loop))
    let report = try await gateway.completed(id)
    #expect(report["state"]?.string == "completed")
    #expect(report["outcomes"]?["accepted"]?.integer == 2, "\(report)")
    dev.signal(SIGINT)
    #expect(await dev.waitForExit() == 0)
  }

  @Test("a busy port is replaced, and ctrl-C leaves nothing behind")
  func busyPort() async throws {
    let (first, ready) = try await dev(port: "0")
    let port = try #require(ready["url"]?.string?.split(separator: ":").last)
    let (second, other) = try await dev(port: String(port))
    #expect(other["url"]?.string?.hasSuffix(":\(port)") == false)
    let config = try #require(other["config"]?.string)
    #expect(FileManager.default.fileExists(atPath: config))
    second.signal(SIGINT)
    #expect(await second.waitForExit() == 0)
    #expect(!FileManager.default.fileExists(atPath: config), "the temporary folder is still there")
    first.signal(SIGINT)
    #expect(await first.waitForExit() == 0)
  }
}
