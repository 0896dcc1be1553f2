/// A table of texts; numbers (cells of digits, dots and commas) stand right.
package struct Table {
  private var rows: [[String]] = []
  private var head: [String] = []
  /// Shown with the colour of its word.
  private var stateColumn: Int?

  /// A summary for people.
  package init() {}
  /// A list: on a terminal its head stands out; elsewhere its columns are parted by tabs, for `cut` and `awk`.
  package init(_ head: String..., state: String? = nil) {
    self.head = head
    stateColumn = state.flatMap { head.firstIndex(of: $0) }
  }

  /// Rows may have different lengths: a cell that is missing is left blank.
  package mutating func row(_ cells: String...) { rows.append(cells) }
  /// The same, with the cells as a list.
  package mutating func row(_ cells: [String]) { rows.append(cells) }

  package var isEmpty: Bool { rows.isEmpty }

  /// For standard output.
  package func show() { Terminal.print(head.isEmpty || Terminal.isShown ? text : tabbed) }

  private var tabbed: String {
    ([head] + rows).map { row in
      row.map { cell in String(cell.map { $0 == "\t" || $0.isNewline ? " " : $0 }) }.joined(separator: "\t")
    }.joined(separator: "\n")
  }

  /// Aligned.
  package var text: String {
    let all = head.isEmpty ? rows : [head] + rows
    let count = all.map(\.count).max() ?? 0
    let widths = (0..<count).map { column in all.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0 }
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
