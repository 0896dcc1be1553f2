/// Reads a table as RFC 4180 has it, and as spreadsheets write it: parted by commas, semicolons or tabs, with LF or
/// CRLF.
package struct CSVReader {
  /// A table that cannot be read on: a record that is too long, bytes that are not UTF-8, quotes in wrong places.
  package struct Fault: Error {
    /// From 1.
    package var line: Int
    package var detail: String
    /// Where the record begins that it is in; nil: the reader cannot go on behind it.
    package var record: Int?
  }
  /// One line of the table, or several where a cell in quotes holds line breaks.
  package struct Record: Equatable {
    /// Where it begins, from 1; a cell in quotes may hold line breaks.
    package var line: Int
    package var cells: [String]
  }

  private let bytes: [UInt8]
  /// Nil: the head is not reached yet.
  private var separator: UInt8?
  private var place = 0
  private var line = 1

  /// Bytes of one record, as of one device that is registered by itself.
  package static let longestRecord = 1 << 20
  /// Bytes of the head that are looked at for the separator.
  private static let longestSample = 64 << 10
  /// Behind the record at hand.
  private var limit = 0

  private static let quote = UInt8(ascii: "\"")
  private static let newline = UInt8(ascii: "\n")

  /// Copies the bytes. The head is the first line that is not empty; its separator is the one that stands there most often.
  package init(_ bytes: some Sequence<UInt8>) {
    self.bytes = Array(bytes)
  }

  /// The next record, the head first, without cells where the line is empty; nil behind the last one. Of one with more
  /// cells than `maximum` only so many and one more are kept. After a fault the next record is the line behind the one on
  /// which the faulty record begins, so that a quote that does not end costs one line.
  package mutating func next(upTo maximum: Int) throws(Fault) -> Record? {
    guard place < bytes.count else { return nil }
    let (begin, start) = (line, place)
    if separator == nil {
      guard !passEmptyLine() else { return Record(line: begin, cells: []) }
      separator = Self.separator(in: bytes[place...])
    }
    do throws(Fault) {
      let cells = try record(maximum)
      return Record(line: begin, cells: cells == [""] ? [] : cells)
    } catch {
      let end = bytes[start...].firstIndex(of: Self.newline) ?? bytes.count - 1
      readAgain += max(0, place - end)
      // Such lines may each look as if all behind them were theirs.
      guard readAgain <= bytes.count else { throw error }
      (place, line) = (end + 1, begin + 1)
      throw Fault(line: error.line, detail: error.detail, record: begin)
    }
  }
  /// Bytes that were read twice or more often.
  private var readAgain = 0

  /// False: the line holds something. Some systems write empty lines before the head.
  private mutating func passEmptyLine() -> Bool {
    let sample = bytes[place...].prefix(Self.longestSample)
    let end = sample.firstIndex { !Self.spaces.contains($0) } ?? sample.endIndex
    guard end == bytes.count || bytes[end] == Self.newline else { return false }
    (place, line) = (min(end + 1, bytes.count), line + 1)
    return true
  }
  private static let spaces = Array(" \t\r".utf8)

  /// The one that stands most often in the head.
  private static func separator(in bytes: ArraySlice<UInt8>) -> UInt8 {
    let known = [UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "\t")]
    var counts = [0, 0, 0]
    var isQuoted = false
    for byte in bytes.prefix(longestSample) {
      if byte == quote { isQuoted.toggle() }
      guard !isQuoted else { continue }
      if byte == newline { break }
      if let at = known.firstIndex(of: byte) { counts[at] += 1 }
    }
    let best = counts.indices.reduce(0) { best, other in counts[other] > counts[best] ? other : best }
    return known[best]
  }

  private mutating func record(_ maximum: Int) throws(Fault) -> [String] {
    var cells: [String] = []
    let begin = line
    limit = min(bytes.count, place + Self.longestRecord)
    while true {
      let cell = try cell()
      guard place < limit || limit == bytes.count else {
        throw Fault(line: begin, detail: "is longer than \(Self.longestRecord) bytes")
      }
      if cells.count <= maximum {
        guard let text = String(validating: CSV.text(ofCell: cell), as: UTF8.self) else {
          throw Fault(line: line, detail: "is not UTF-8: save the table as UTF-8")
        }
        cells.append(text)
      }
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
    while place < limit, bytes[place] != separator, bytes[place] != Self.newline { place += 1 }
    var cell = bytes[start..<place]
    let endsLine = place == bytes.count || bytes[place] == Self.newline
    if endsLine, cell.last == UInt8(ascii: "\r") { cell.removeLast() }
    return Array(cell)
  }

  private mutating func quoted() throws(Fault) -> [UInt8] {
    let begin = line
    var cell: [UInt8] = []
    place += 1
    while place < limit {
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
    guard limit == bytes.count else { return cell }
    throw Fault(line: begin, detail: "has an opening quote without a closing one")
  }
}
