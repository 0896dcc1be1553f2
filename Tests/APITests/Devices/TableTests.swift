import Support
import Testing

@testable import API

@Suite("Tables")
struct TableTests {
  @Test(
    "a cell that a spreadsheet would run as a formula is marked as text",
    arguments: [
      "=1+1", "=HYPERLINK(\"http://example.com\")", "+cmd|' /C calc'!A0", "-1+1", "@SUM(1)", "\t=1", "\r=1", "'=1",
      "''@x", "-", "+49 170 1", "=\"a,b\"",
    ])
  func formulas(_ text: String) throws {
    let cell = try #require(Self.cells(CSV.line(["id", text, "end"]))).raw[1]
    #expect(cell.first == "'" || cell.hasPrefix("\"'"))
  }

  @Test("numbers and plain texts stay as they are", arguments: ["-5", "+4917012345", "-0.5", "'quoted'", "a=b", ""])
  func plain(_ text: String) { #expect(CSV.line([text]) == Array("\(text)\r\n".utf8)) }

  @Test("what a table was made of is read back, whatever it begins with")
  func roundTrip() throws {
    var random = Seeded()
    let alphabet = ["'", "=", "+", "-", "@", "\t", "\r", "\n", "1", ".", "\"", ",", "x", "é"]
    for _ in 0..<2_000 {
      let fields = (0..<3).map { _ in
        (0..<Int.random(in: 0...5, using: &random)).map { _ in alphabet.randomElement(using: &random)! }.joined()
      }
      // A comma in each record, so that the reader takes commas for separators.
      var reader = CSVReader(CSV.line(["a", "b", "c"]) + CSV.line(fields))
      _ = try reader.next(upTo: 3)
      let read = try reader.next(upTo: 3)
      #expect(read?.cells == fields, "seed \(random.seed)")
    }
  }

  @Test("lines before the head that hold nothing are passed, whatever the separator", arguments: [",", ";", "\t"])
  func emptyLinesBeforeHead(_ separator: String) throws {
    let rows = ["id,token,tags", "d1,t-1,a"].map { $0.replacing(",", with: separator) }
    var reader = CSVReader(Array(("\r\n \t\n\n" + rows.joined(separator: "\r\n")).utf8))
    var records: [CSVReader.Record] = []
    while let record = try reader.next(upTo: 3) { records.append(record) }
    #expect(records.map(\.line) == [1, 2, 3, 4, 5])
    #expect(records.map(\.cells) == [[], [], [], ["id", "token", "tags"], ["d1", "t-1", "a"]])
    for empty in ["\n", "\r\n\r\n", " \n\t"] {
      var reader = CSVReader(Array(empty.utf8))
      while let record = try reader.next(upTo: 3) { #expect(record.cells.isEmpty) }
    }
  }

  /// The cells of one record as they stand in the bytes; no cell may hold a comma outside of quotes.
  private static func cells(_ line: [UInt8]) -> (raw: [String], count: Int)? {
    guard let text = String(validating: line, as: UTF8.self) else { return nil }
    var raw = [""]
    var isQuoted = false
    for character in text.dropLast() {
      if character == "\"" { isQuoted.toggle() }
      if character == ",", !isQuoted { raw.append("") } else { raw[raw.count - 1].append(character) }
    }
    return (raw, raw.count)
  }
}
