import Domain
import JSON
import Testing

@testable import fanfare

@Suite("What the command line says of lists and imports")
struct ImportTests {
  private func result(_ text: String) throws -> JSONValue { try JSON.parse(Array(text.utf8)) }

  @Test("a device counts once, however many lines have its id or its token")
  func duplicates() throws {
    var tally = ImportTally()
    let answers = [
      #"{"id":"a","registration":"created"}"#, #"{"id":"b","registration":"updated"}"#,
      #"{"id":"a","registration":"updated"}"#, #"{"id":"c","registration":"moved","moved_from":"b"}"#,
      #"{"id":"d","registration":"moved","moved_from":"elsewhere"}"#, #"{"registration":"skipped","reason":"dead"}"#,
      #"{"id":"e","registration":"updated","warnings":[{"code":"stays_disabled"}]}"#,
      #"{"id":"f","registration":"updated","warnings":[{"code":"enabled_again"},{"code":"no_credential"}]}"#,
    ]
    for (at, answer) in answers.enumerated() { tally.take(try result(answer), line: 2 + at) }
    tally.refuse()
    #expect(
      tally.lines(isTrial: false) == [
        "5 devices registered (1 created, 1 moved, 3 updated)",
        "2 lines with the id or token of an earlier line; the later one counts: lines 4 (as line 2), 5 (as line 3)",
        "1 device stays disabled: nothing is sent there until a line has `enabled` true",
        "1 device was disabled, and a line enabled it again: if the file is older than an opt-out, this undid the "
          + "opt-out",
        "1 line skipped: its device is dead", "1 line refused",
      ])
    var writer = JSONWriter()
    writer.beginObject()
    tally.write(to: &writer)
    writer.endObject()
    let report = try JSON.parse(writer.bytes)
    for (member, number) in [
      ("rows", 9), ("registered", 5), ("created", 1), ("updated", 3), ("moved", 1), ("duplicates", 2),
      ("stay_disabled", 1), ("enabled_again", 1), ("skipped_dead", 1), ("refused", 1),
    ] { #expect(report[member]?.integer == Int64(number), "\(member)") }
  }

  @Test("notes of one kind stand together, and refusals behind them")
  func notes() throws {
    var notes = ImportNotes()
    func warning(_ code: String, _ detail: String) throws -> JSONValue {
      try result(#"{"pointer":"/tz","code":"\#(code)","detail":"\#(detail)"}"#)
    }
    notes.refuse(try result(#"{"detail":"Not a device"}"#), 2)
    for line in 3...62 { notes.take([try warning("unknown", "no zone"), try warning("stays_disabled", "off")], line) }
    notes.take([try warning("moved", "from a")], 63)
    notes.take([try warning("moved", "from b")], 64)
    notes.take([try warning("once", "odd")], 65)
    for code in 1...18 { notes.take([try warning("kind-\(code)", "k")], 65 + code) }
    for line in 90...112 { notes.refuse(try result(#"{"violations":[{"pointer":"/tz","detail":"bad"}]}"#), line) }
    let lines = notes.lines
    #expect(
      lines.prefix(3) == [
        "note: 60 lines (first: 3): `tz`: no zone", "note: 2 lines, such as line 63: `tz`: from a",
        "note: line 65: `tz`: odd",
      ], "\(lines)")
    #expect(lines.dropFirst(20).first == "note: 1 line with notes of other kinds", "\(lines)")
    #expect(lines[21] == "line 2: Not a device" && lines[22] == "line 90: `tz`: bad", "\(lines)")
    #expect(lines.count == 42 && lines.last == "… and 4 more", "\(lines)")
  }

  @Test("a table ends behind so many rows, whatever pieces it comes in, and cells may hold line breaks")
  func rowCut() {
    let table = Array("id,note\r\na,\"x\ny\"\"\n\"\r\nb,1\r\nc,2\r\n".utf8)
    for rows in 1...4 {
      let whole = ["id,note\r\n", "a,\"x\ny\"\"\n\"\r\n", "b,1\r\n", "c,2\r\n"].prefix(rows + 1).joined()
      for size in 1...table.count {
        var (cut, kept, counted) = (RowCut(rows: rows), [UInt8](), 0)
        for start in stride(from: 0, to: table.count, by: size) {
          let piece = cut.take(Array(table[start..<min(table.count, start + size)]))
          kept += piece.bytes
          counted += piece.rows
        }
        #expect(String(decoding: kept, as: UTF8.self) == whole, "\(rows) rows in pieces of \(size)")
        #expect(cut.isDone == (rows < 4) && counted == min(rows, 3) + 1)
      }
    }
  }
}
