import Domain
import Testing

@testable import HTTP2

@Suite("Small machines of HTTP/2")
struct MachineTests {
  @Test(
    "GOAWAY debug data reads leniently",
    arguments: [
      ("", nil), (#"{"reason":"Shutdown"}"#, "Shutdown"), (#" { "a": 1, "reason" : "Bad\"Key" } "#, #"Bad"Key"#),
      ("too_many_pings", "too_many_pings"), (#"{"reason":12}"#, #"{"reason":12}"#),
      (#"{"reason":"cut"#, #"{"reason":"cut"#), ("\u{1}\n", nil),
    ] as [(String, String?)])
  func goaway(debug: String, reason: String?) { #expect(GoAwayReason.read(Array(debug.utf8)) == reason) }

  @Test("a long GOAWAY text is cut at 200 bytes, not inside a letter")
  func longGoaway() {
    let text = String(repeating: "a", count: 199) + "é" + "tail"
    #expect(GoAwayReason.read(Array(text.utf8)) == String(repeating: "a", count: 199))
  }

  @Test("the stream table keeps its slots apart and their deadlines in order, whatever ends first")
  func table() {
    var table = StreamTable()
    var chance = UInt64(20_261_121)
    var expected: [(index: Int, tag: UInt64)] = []
    for tag in 0..<UInt64(2_000) {
      let index = table.take(tag: tag, deadline: Instant(nanoseconds: tag), body: [])
      expected.append((index, tag))
      if tag % 3 != 0 {
        chance = chance &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        let gone = expected.remove(at: Int(chance >> 33) % expected.count)
        #expect(table.remove(gone.index).tag == gone.tag)
      }
      #expect(table.count == expected.count)
      #expect(table.first == expected.first?.index)
    }
    if let first = expected.first {
      table.stopWaiting(first.index)
      #expect(table.first == expected[1].index)
      #expect(table[first.index].tag == first.tag)
      _ = table.remove(first.index)
      #expect(table.first == expected[1].index)
    }
    #expect(Set(table.removeAll().map(\.tag)) == Set(expected.dropFirst().map(\.tag)))
    #expect(table.count == 0 && table.first == nil)
  }
}
