import API
import Domain
import JSON

/// A file of devices, as somebody uploaded it: a table or one JSON object a line.
struct ImportFile {
  let bytes: [UInt8]
  let isTable: Bool

  /// What a page can show to choose from.
  static let mostColumns = 150
  private static let mostRows = 10
  /// Bytes of the file that a preview looks at, and characters of a cell that it shows.
  private static let previewed = 1 << 20
  private static let longestCell = 80
  /// Bytes of the name of a column.
  private static let longestColumn = 300

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    let start = Self.withoutMark(bytes[...]).first { ![9, 10, 13, 32].contains($0) }
    isTable = start != UInt8(ascii: "{")
  }

  /// Some editors begin a UTF-8 file with it.
  static func withoutMark(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes
  }

  struct Preview {
    var columns: [String] = []
    var rows: [[String]] = []
  }

  /// Why there is no preview.
  enum Fault: Error, Hashable {
    case empty
    case tooManyColumns
    case longColumn
    /// In words of the API.
    case unreadable(String)
  }

  func preview() throws(Fault) -> Preview {
    let start = Self.withoutMark(bytes[...]).prefix(Self.previewed)
    let preview = isTable ? try table(start) : lines(start)
    guard !preview.rows.isEmpty else { throw .empty }
    guard preview.columns.count <= Self.mostColumns else { throw .tooManyColumns }
    guard preview.columns.allSatisfy({ $0.utf8.count <= Self.longestColumn }) else { throw .longColumn }
    return preview
  }

  private func table(_ start: ArraySlice<UInt8>) throws(Fault) -> Preview {
    var reader = CSVReader(start)
    var preview = Preview()
    while preview.rows.count < Self.mostRows {
      do throws(CSVReader.Fault) {
        guard let record = try reader.next(upTo: Self.mostColumns) else { break }
        guard !record.cells.isEmpty else { continue }
        if preview.columns.isEmpty {
          preview.columns = record.cells.map(Self.trimmed)
          while preview.columns.last == "" { preview.columns.removeLast() }
          guard !preview.columns.isEmpty else { break }
        } else {
          preview.rows.append(record.cells.prefix(preview.columns.count).map(Self.shown))
        }
      } catch {
        // A row that cannot be read is told by the trial; a head is needed here.
        guard !preview.columns.isEmpty, error.record != nil else {
          throw .unreadable("Line \(error.line) \(error.detail)")
        }
      }
    }
    return preview
  }

  private func lines(_ start: ArraySlice<UInt8>) -> Preview {
    var preview = Preview()
    var documents: [JSONValue] = []
    for line in start.split(separator: 10).prefix(4 * Self.mostRows) {
      guard documents.count < Self.mostRows, let document = try? JSON.parse(Array(line), maximumDepth: 16),
        let members = document.object
      else { continue }
      documents.append(document)
      for member in members.prefix(Self.mostColumns) where !preview.columns.contains(member.key) {
        if preview.columns.count < Self.mostColumns { preview.columns.append(member.key) }
      }
    }
    preview.rows = documents.map { document in
      preview.columns.map { column in
        guard let value = document[column] else { return "" }
        return Self.shown(value.string ?? String(decoding: value.encoded, as: UTF8.self))
      }
    }
    return preview
  }

  private static func trimmed(_ cell: String) -> String {
    var text = cell[...].drop { $0 == " " }
    while text.last == " " { text.removeLast() }
    return String(text)
  }

  private static func shown(_ cell: String) -> String {
    cell.count > longestCell ? String(cell.prefix(longestCell)) + "…" : cell
  }
}

/// Requests into which a file is cut: each begins with the head of its table, and has so many lines as one request may.
struct ImportParts {
  struct Part {
    /// The body of a request.
    var body: [UInt8]
    /// What is to be added to a line of the body for the line of the file.
    var shift: Int
    /// Of the part itself in the file.
    fileprivate var range: Range<Int>
    /// From 1.
    fileprivate var firstLine: Int
    /// The last of it, from 1.
    var lastLine: Int
  }

  private let file: ImportFile
  private var place: Int
  private var line = 1
  private var head: [UInt8]?

  private static let mostRecords = 5_000
  private static let mostBytes = 2 << 20
  /// A quote that does not end must not take the whole file.
  private static let longestRecord = 1 << 20

  init(_ file: ImportFile) {
    self.file = file
    place = file.bytes.count - ImportFile.withoutMark(file.bytes[...]).count
  }

  /// Nil at the end.
  mutating func next() -> Part? {
    let (start, firstLine) = (place, line)
    let isFirst = head == nil && file.isTable
    var records = 0
    while place < file.bytes.count, records < Self.mostRecords, place - start < Self.mostBytes {
      let record = record()
      guard !Self.isBlank(record) else { continue }
      if file.isTable, head == nil {
        head = Array(record)
        if head?.last != 10 { head?.append(10) }
      } else {
        records += 1
      }
    }
    guard records > 0 || isFirst && start < place else { return nil }
    let before = isFirst ? [] : head ?? []
    return Part(
      body: before + file.bytes[start..<place], shift: firstLine - 1 - before.count { $0 == 10 }, range: start..<place,
      firstLine: firstLine, lastLine: line - 1)
  }

  /// With the line end behind it. Of a table it may have several lines, within quotes.
  private mutating func record() -> ArraySlice<UInt8> {
    let start = place
    var isOpen = false
    while place < file.bytes.count {
      let end = file.bytes[place...].firstIndex(of: 10).map { $0 + 1 } ?? file.bytes.count
      if file.isTable, !file.bytes[place..<end].count(where: { $0 == UInt8(ascii: "\"") }).isMultiple(of: 2) {
        isOpen.toggle()
      }
      place = end
      line += 1
      if !isOpen || place - start >= Self.longestRecord { break }
    }
    return file.bytes[start..<place]
  }

  private static func isBlank(_ record: ArraySlice<UInt8>) -> Bool {
    record.allSatisfy { [9, 10, 13, 32].contains($0) }
  }

  /// The lines of a part, to look up those that were refused.
  struct Lines {
    private let bytes: [UInt8]
    private let first: Int
    private let starts: [Int]
    private let end: Int

    init(of part: Part, in file: ImportFile) {
      (bytes, first, end) = (file.bytes, part.firstLine, part.range.upperBound)
      var starts = [part.range.lowerBound]
      for place in part.range where file.bytes[place] == 10 { starts.append(place + 1) }
      self.starts = starts
    }

    /// At most so many bytes of it; empty: it is none of the part.
    func text(_ line: Int, upTo most: Int) -> String {
      let at = line &- first
      guard starts.indices.contains(at) else { return "" }
      let next = at + 1 < starts.count ? starts[at + 1] : end
      let text = bytes[starts[at]..<next].prefix(most)
      return String(decoding: text.last == 10 ? text.dropLast() : text, as: UTF8.self).replacing("\r", with: "")
    }
  }
}
