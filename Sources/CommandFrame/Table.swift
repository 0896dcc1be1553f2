import CTerminal

/// A table of texts; numbers (cells of digits, dots and commas) stand right.
package struct Table {
  private var rows: [[String]] = []
  private var head: [String] = []
  /// Shown with the colour of its word.
  private var stateColumn: Int?

  /// A summary for people.
  package init() {}
  /// A list: on a terminal its head stands out; elsewhere its columns are parted by tabs, for `cut` and `awk`.
  package init(_ head: String..., state: String? = nil) { self.init(head: head, state: state) }
  /// The same, with the columns as a list.
  package init(head: [String], state: String? = nil) {
    self.head = head
    stateColumn = state.flatMap { head.firstIndex(of: $0) }
  }

  /// Rows may have different lengths: a cell that is missing is left blank.
  package mutating func row(_ cells: String...) { rows.append(cells) }
  /// The same, with the cells as a list.
  package mutating func row(_ cells: [String]) { rows.append(cells) }

  package var isEmpty: Bool { rows.isEmpty }

  /// For standard output.
  package func show() {
    guard !head.isEmpty else { return Terminal.print(text) }
    Terminal.print(Terminal.isShown ? fitted(to: Int(fanfare_columns(1))).text : tabbed)
  }

  /// As a window with so many characters in a line shows it: without columns that have nothing in them and without
  /// milliseconds, and where it is too wide all the same with its widest texts cut. 0: nobody knows how wide.
  package func fitted(to columns: Int) -> Table {
    var table = self
    let used = head.indices.filter { column in
      column == 0 || rows.contains { column < $0.count && !$0[column].isEmpty }
    }
    func chosen(_ row: [String]) -> [String] { used.compactMap { $0 < row.count ? row[$0] : nil } }
    table.head = chosen(head)
    table.stateColumn = stateColumn.flatMap { used.firstIndex(of: $0) }
    table.rows = rows.map { chosen($0).map(Self.withoutMilliseconds) }
    guard columns > 0 else { return table }
    while table.width > columns, let column = table.widestText {
      let width = max(Self.leastText, table.widths[column] - (table.width - columns))
      table.cut(column, to: width)
    }
    return table
  }

  /// No text is cut to fewer characters.
  private static let leastText = 8

  /// The id in the first column and numbers stay whole.
  private var widestText: Int? {
    let widths = widths
    return widths.indices.dropFirst().filter { widths[$0] > Self.leastText && !isNumeric($0) && $0 != stateColumn }
      .max { widths[$0] < widths[$1] }
  }

  private mutating func cut(_ column: Int, to width: Int) {
    func cut(_ cell: String) -> String { cell.count > width ? cell.prefix(width - 1) + "…" : cell }
    if column < head.count { head[column] = cut(head[column]) }
    for row in rows.indices where column < rows[row].count { rows[row][column] = cut(rows[row][column]) }
  }

  /// Of a time such as 2026-12-01T09:00:00.123Z.
  private static func withoutMilliseconds(_ cell: String) -> String {
    guard cell.count == 24, cell.hasSuffix("Z"), cell.dropLast(4).last == ".", cell.dropFirst(10).first == "T" else {
      return cell
    }
    return cell.dropLast(5) + "Z"
  }

  /// Characters of each column.
  private var widths: [Int] {
    let all = head.isEmpty ? rows : [head] + rows
    let count = all.map(\.count).max() ?? 0
    return (0..<count).map { column in all.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0 }
  }
  /// Of a whole line, with two spaces before each column.
  private var width: Int { widths.reduce(0) { $0 + 2 + $1 } }

  private var tabbed: String {
    ([head] + rows).map { row in
      row.map { cell in String(cell.map { $0 == "\t" || $0.isNewline ? " " : $0 }) }.joined(separator: "\t")
    }.joined(separator: "\n")
  }

  /// Aligned.
  package var text: String {
    let all = head.isEmpty ? rows : [head] + rows
    let widths = widths
    return all.enumerated().map { line, row in
      let isHead = line == 0 && !head.isEmpty
      let cells = row.enumerated().map { place, cell in
        let space = String(repeating: " ", count: widths[place] - cell.count)
        let shown = isHead ? Style.bold.on(cell) : place == stateColumn ? Style.of(state: cell)?.on(cell) ?? cell : cell
        let isRight = place > 0 && (isHead ? isNumeric(place) : Self.isNumber(cell))
        // Nothing stands behind the last cell.
        return isRight ? space + shown : place == row.count - 1 ? shown : shown + space
      }
      return "  " + Self.trimmed(cells.joined(separator: "  "))
    }.joined(separator: "\n")
  }

  private static func trimmed(_ line: String) -> String {
    var line = line
    while line.last == " " { line.removeLast() }
    return line
  }

  private static func isNumber(_ cell: String) -> Bool {
    cell.first?.isNumber == true && cell.allSatisfy { $0.isNumber || ".,".contains($0) }
  }
  private func isNumeric(_ column: Int) -> Bool {
    let cells = rows.compactMap { column < $0.count && !$0[column].isEmpty ? $0[column] : nil }
    return !cells.isEmpty && cells.allSatisfy(Self.isNumber)
  }
}
