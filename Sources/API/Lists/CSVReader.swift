/// Reads a table as RFC 4180 has it, and as spreadsheets write it: parted by commas, semicolons or tabs, with LF or CRLF.
package struct CSVReader {
  package struct Fault: Error {
    /// From 1.
    package var line: Int
    package var detail: String
  }
  package struct Record: Equatable {
    /// Where it begins, from 1; a cell in quotes may hold line breaks.
    package var line: Int
    package var cells: [String]
  }

  private let bytes: [UInt8]
  private let separator: UInt8
  private var place = 0
  private var line = 1

  private static let quote = UInt8(ascii: "\"")
  private static let newline = UInt8(ascii: "\n")

  /// All records but empty lines, the head among them.
  package static func records(_ bytes: some Sequence<UInt8>) throws(Fault) -> [Record] {
    var reader = CSVReader(Array(bytes))
    var records: [Record] = []
    while reader.place < reader.bytes.count {
      let line = reader.line
      let cells = try reader.record()
      if cells != [""] { records.append(Record(line: line, cells: cells)) }
    }
    return records
  }

  private init(_ bytes: [UInt8]) {
    self.bytes = bytes
    separator = Self.separator(in: bytes)
  }

  /// The one that stands most often in the head.
  private static func separator(in bytes: [UInt8]) -> UInt8 {
    var counts: [UInt8: Int] = [:]
    var isQuoted = false
    for byte in bytes {
      if byte == quote { isQuoted.toggle() }
      if !isQuoted, byte == newline { break }
      if !isQuoted { counts[byte, default: 0] += 1 }
    }
    let comma = UInt8(ascii: ",")
    return [UInt8(ascii: ";"), UInt8(ascii: "\t")].reduce(comma) { best, other in
      counts[other, default: 0] > counts[best, default: 0] ? other : best
    }
  }

  private mutating func record() throws(Fault) -> [String] {
    var cells: [String] = []
    while true {
      let cell = try cell()
      guard let text = String(validating: cell, as: UTF8.self) else {
        throw Fault(line: line, detail: "is not UTF-8: save the table as UTF-8")
      }
      cells.append(text)
      guard place < bytes.count else { return cells }
      let end = bytes[place]
      place += 1
      if end == Self.newline {
        line += 1
        return cells
      }
    }
  }

  /// Up to a separator, the end of the line, or the end.
  private mutating func cell() throws(Fault) -> [UInt8] {
    if place < bytes.count, bytes[place] == Self.quote { return try quoted() }
    let start = place
    while place < bytes.count, bytes[place] != separator, bytes[place] != Self.newline { place += 1 }
    var cell = bytes[start..<place]
    let endsLine = place == bytes.count || bytes[place] == Self.newline
    if endsLine, cell.last == UInt8(ascii: "\r") { cell.removeLast() }
    return Array(cell)
  }

  private mutating func quoted() throws(Fault) -> [UInt8] {
    let begin = line
    var cell: [UInt8] = []
    place += 1
    while place < bytes.count {
      let byte = bytes[place]
      place += 1
      if byte == Self.newline { line += 1 }
      guard byte == Self.quote else {
        cell.append(byte)
        continue
      }
      if place < bytes.count, bytes[place] == Self.quote {
        cell.append(byte)
        place += 1
        continue
      }
      if place < bytes.count, bytes[place] == UInt8(ascii: "\r") { place += 1 }
      guard place == bytes.count || bytes[place] == separator || bytes[place] == Self.newline else {
        throw Fault(line: begin, detail: "has a quote inside a cell: double the quote, and put the cell in quotes")
      }
      return cell
    }
    throw Fault(line: begin, detail: "has an opening quote without a closing one")
  }
}
