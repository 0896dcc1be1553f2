/// Ends a table in CSV behind its head and so many rows. A cell in quotes may hold line breaks.
struct RowCut {
  private var left: Int
  private var isQuoted = false

  /// `rows`: without the head; at least one.
  init(rows: Int) { left = rows + 1 }

  /// All rows are there.
  var isDone: Bool { left == 0 }

  /// What of the next bytes belongs to the table, and how many rows, the head too, end there.
  mutating func take(_ bytes: [UInt8]) -> (bytes: ArraySlice<UInt8>, rows: Int) {
    var rows = 0
    for at in bytes.indices where left > 0 {
      if bytes[at] == UInt8(ascii: "\"") { isQuoted.toggle() }
      guard bytes[at] == UInt8(ascii: "\n"), !isQuoted else { continue }
      (left, rows) = (left - 1, rows + 1)
      if left == 0 { return (bytes[...at], rows) }
    }
    return (left == 0 ? [] : bytes[...], rows)
  }
}
