import Domain
import Glibc
import JSON
import Testing

@Suite("The README")
struct ReadmeTests {
  /// The shell block behind the mark.
  private func block() throws -> String {
    let text = try #require(Shell.content(of: "\(Shell.root)/README.md"))
    let mark = try #require(text.firstRange(of: "<!-- executed by Tests/Journey/ReadmeTests.swift -->\n```sh\n"))
    let rest = text[mark.upperBound...]
    let end = try #require(rest.firstRange(of: "\n```\n"))
    return String(rest[..<end.lowerBound])
  }

  @Test("its first send works against fanfare dev, as it stands there")
  func firstSend() throws {
    let dev = try #require(Shell("exec \(Shell.binary) dev --json --port 0"))
    defer { dev.end() }
    let ready = try dev.document()
    let url = try #require(ready["url"]?.string)
    let key = try #require(ready["key"]?.string)
    let script = "export FANFARE_URL=\(url) FANFARE_KEY=\(key)\nset -eu\n" + (try block())
    let told = try #require(Shell(script)?.rest())
    let report = try JSON.parse(Array(told.utf8))
    #expect(report["id"]?.string?.hasPrefix("msg_") == true, "\(told)")
    #expect(report["targets"]?.integer == 2)
    #expect(report["state"]?.string == "completed", "\(told)")
    #expect(report["outcomes"]?["accepted"]?.integer == 2, "\(told)")
  }

  @Test("a busy port is replaced, and ctrl-C leaves nothing behind")
  func busyPort() throws {
    let first = try #require(Shell("exec \(Shell.binary) dev --json --port 0"))
    defer { first.end() }
    let address = try first.document()["url"]?.string
    let port = try #require(address?.split(separator: ":").last)
    let second = try #require(Shell("exec \(Shell.binary) dev --json --port \(port)"))
    let ready = try second.document()
    #expect(ready["url"]?.string?.hasSuffix(":\(port)") == false)
    let config = try #require(ready["config"]?.string)
    #expect(Shell.content(of: config) != nil)
    second.end()
    #expect(Shell.content(of: config) == nil, "the temporary folder is still there")
  }
}

extension Shell {
  /// The next line, which is JSON.
  fileprivate func document() throws -> JSONValue {
    let line = try #require(self.line())
    return try JSON.parse(Array(line.utf8))
  }
}
