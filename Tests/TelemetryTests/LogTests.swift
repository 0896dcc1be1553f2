import Domain
import Glibc
import Support
import Telemetry
import Testing

@Suite("The log")
struct LogTests {
  /// What `body` logs, as it lands on a descriptor.
  private func written(minimum: Log.Level = .info, _ body: (Log) -> Void) -> String {
    var ends: [Int32] = [0, 0]
    precondition(pipe(&ends) == 0)
    body(Log(minimum: minimum, descriptor: ends[1]))
    close(ends[1])
    defer { close(ends[0]) }
    var all: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = read(ends[0], &piece, piece.count)
      guard count > 0 else { return String(decoding: all, as: UTF8.self) }
      all += piece[..<count]
    }
  }

  @Test("a line is time, level, event and fields")
  func form() throws {
    let text = written { $0(.warning, "connection lost", ["host": "api.push.apple.com:443", "reason": "no route"]) }
    let line = try #require(text.wholeMatch(of: /time=(\S+) (.*)\n/))
    #expect(line.1.wholeMatch(of: /20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d\d\dZ/) != nil)
    #expect(line.2 == #"level=warning event="connection lost" host=api.push.apple.com:443 reason="no route""#)
  }

  @Test("what lies below the minimum is neither written nor built")
  func levels() {
    var built = 0
    func costly() -> String {
      built += 1
      return ""
    }
    let text = written(minimum: .warning) { log in
      for level in Log.Level.allCases { log(level, level.name, ["x": costly()]) }
    }
    #expect(text.split(separator: "\n").count == 2)
    #expect(built == 2)
    #expect(Log.Level(named: "error") == .error)
    #expect(Log.Level(named: "Error") == nil)
  }

  @Test("no value can end its line, start a field or steer a terminal")
  func forging() {
    let text = written { log in
      log(.info, "x\nlevel=error", ["a b=\nc": "v\" k=w\\", "e": "\u{1B}[2J\0\u{85}\u{202E}\u{2028}\t", "empty": ""])
    }
    #expect(text.count { $0.isNewline } == 1)
    #expect(
      text.hasSuffix(
        #" level=info event="x\nlevel=error" a_b__c="v\" k=w\\" e="\u{1b}[2J\u{0}\u{85}\u{202e}\u{2028}\t" empty="""#
          + "\n"))
  }

  @Test("a long value is cut, and a line never exceeds what is written in one piece")
  func length() {
    let long = String(repeating: "ä\n", count: 5000)
    let text = written { log in
      log(.info, "e", ["a": long, "b": long, "c": long, "d": long, "e": long, "f": "short"])
      log(.info, "next")
    }
    let lines = text.split(separator: "\n")
    #expect(lines.count == 2)
    #expect(lines[0].utf8.count < 4096)
    #expect(lines[0].contains("…\" b="))
    #expect(lines[1].hasSuffix("event=next"))
  }

  @Test("lines of many threads never mix")
  func threads() async {
    var ends: [Int32] = [0, 0]
    precondition(pipe(&ends) == 0)
    let log = Log(descriptor: ends[1])
    let reader = onOwnThread { [end = ends[0]] in
      var all: [UInt8] = []
      var piece = [UInt8](repeating: 0, count: 65_536)
      while true {
        let count = read(end, &piece, piece.count)
        guard count > 0 else { return String(decoding: all, as: UTF8.self) }
        all += piece[..<count]
      }
    }
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<4 {
        group.addTask { for _ in 0..<200 { log(.info, "e\(task)", ["v": String(repeating: "\(task)", count: 500)]) } }
      }
    }
    close(ends[1])
    let lines = await reader.value.split(separator: "\n")
    close(ends[0])
    #expect(lines.count == 800)
    #expect(lines.allSatisfy { $0.wholeMatch(of: /time=\S+ level=info event=e(\d) v=\1{500}/) != nil })
  }
}
