import CTerminal

/// A table of texts; numbers (cells of digits, dots and commas) stand right.
package struct Table {
  private var rows: [[String]] = []
  private var head: [String] = []
  /// Shown with the colour of its word.
  private var stateColumn: Int?
  /// Columns that a narrow window goes without, the first of them first.
  private var spare: [String] = []

  /// A summary for people.
  package init() {}
  /// A list: on a terminal its head stands out; elsewhere its columns are parted by tabs, for `cut` and `awk`.
  package init(_ head: String..., state: String? = nil) { self.init(head: head, state: state) }
  /// The same, with the columns as a list. `spare`: those that a narrow window goes without, the first of them first.
  package init(head: [String], state: String? = nil, spare: [String] = []) {
    self.head = head
    self.spare = spare
    stateColumn = state.flatMap { head.firstIndex(of: $0) }
  }

  /// Rows may have different lengths: a cell that is missing is left blank.
  package mutating func row(_ cells: String...) { rows.append(cells) }
  /// The same, with the cells as a list.
  package mutating func row(_ cells: [String]) { rows.append(cells) }

  package var isEmpty: Bool { rows.isEmpty }

  /// For standard output. A window that is too narrow for all columns is told which are missing.
  package func show() {
    guard !head.isEmpty else { return Terminal.print(text) }
    guard Terminal.isShown else { return Terminal.print(tabbed) }
    let columns = Int(fanfare_columns(1))
    Terminal.print(fitted(to: columns).text)
    let missing = missing(at: columns)
    if !missing.isEmpty { Terminal.note("this window is too narrow for: \(missing.joined(separator: ", "))") }
  }

  /// As a window with so many characters in a line shows it: without columns that have nothing in them and without
  /// milliseconds, and where it is too wide all the same without columns that are 0 everywhere, then with its widest texts
  /// cut, then without spare columns, and at last with times cut. 0: nobody knows how wide.
  package func fitted(to columns: Int) -> Table {
    var table = choosing { column in column == 0 || has(column) { !$0.isEmpty } }
    table.rows = table.rows.map { $0.map(Self.withoutMilliseconds) }
    guard columns > 0, table.width > columns else { return table }
    table = table.choosing { column in column == 0 || table.has(column) { !["", "0"].contains($0) } }
    while true {
      let cut = table.cutting(to: columns) { !table.isTimes($0) }
      guard cut.width > columns else { return cut }
      guard let next = table.spare.first else { return cut.cutting(to: columns) { _ in true } }
      table.spare.removeFirst()
      table = table.choosing { table.head[$0] != next }
    }
  }

  /// Spare columns that have something in them, and do not stand in such a window.
  package func missing(at columns: Int) -> [String] {
    let shown = Set(fitted(to: columns).head)
    return head.indices.filter { has($0) { !["", "0"].contains($0) } && spare.contains(head[$0]) }.map { head[$0] }
      .filter { !shown.contains($0) }
  }

  private func has(_ column: Int, _ isWanted: (String) -> Bool) -> Bool {
    rows.contains { column < $0.count && isWanted($0[column]) }
  }

  private func choosing(_ isWanted: (Int) -> Bool) -> Table {
    let used = head.indices.filter(isWanted)
    func chosen(_ row: [String]) -> [String] { used.compactMap { $0 < row.count ? row[$0] : nil } }
    var table = self
    table.head = chosen(head)
    table.stateColumn = stateColumn.flatMap { used.firstIndex(of: $0) }
    table.rows = rows.map(chosen)
    return table
  }

  private func cutting(to columns: Int, _ mayCut: (Int) -> Bool) -> Table {
    var table = self
    while table.width > columns, let column = table.widestText(mayCut) {
      table.cut(column, to: max(Self.leastText, table.widths[column] - (table.width - columns)))
    }
    return table
  }

  /// No text is cut to fewer characters.
  private static let leastText = 8

  /// The id in the first column and numbers stay whole.
  private func widestText(_ mayCut: (Int) -> Bool) -> Int? {
    let widths = widths
    return widths.indices.dropFirst()
      .filter { widths[$0] > Self.leastText && !isNumeric($0) && $0 != stateColumn && mayCut($0) }
      .max { widths[$0] < widths[$1] }
  }

  /// Cut, they say nothing.
  private func isTimes(_ column: Int) -> Bool {
    let cells = rows.compactMap { column < $0.count && !$0[column].isEmpty ? $0[column] : nil }
    return !cells.isEmpty && cells.allSatisfy { $0.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d.*/) != nil }
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
