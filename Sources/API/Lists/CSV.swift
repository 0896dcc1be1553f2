import Domain

/// A table as RFC 4180 has it.
///
/// A spreadsheet runs a cell that begins like a formula, whoever wrote its text. Such a cell gets a `'` in front, which
/// spreadsheets take as "this is text" and `CSVReader` takes away again. Numbers stay as they are.
package struct CSV {
  private(set) var bytes: [UInt8] = []

  private static let quote = UInt8(ascii: "\"")
  private static let textMark = UInt8(ascii: "'")
  private static let formulaStarts = Array("=+-@\t\r".utf8)
  private static let special: Set<UInt8> = [quote, UInt8(ascii: ","), UInt8(ascii: "\r"), UInt8(ascii: "\n")]

  /// One record with its CRLF: a field is quoted where it holds a comma, a quote or a line end.
  package static func line(_ fields: [String]) -> [UInt8] {
    var table = CSV()
    table.row(fields)
    return table.bytes
  }

  mutating func row(_ fields: [String]) {
    for (index, field) in fields.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      append(field)
    }
    bytes += [UInt8(ascii: "\r"), UInt8(ascii: "\n")]
  }

  private mutating func append(_ field: String) {
    let isQuoted = field.utf8.contains(where: Self.special.contains)
    if isQuoted { bytes.append(Self.quote) }
    if Self.isFormula(field.utf8.drop { $0 == Self.textMark }) { bytes.append(Self.textMark) }
    for byte in field.utf8 {
      if byte == Self.quote { bytes.append(Self.quote) }
      bytes.append(byte)
    }
    if isQuoted { bytes.append(Self.quote) }
  }

  /// What `line` was given for this cell.
  static func text(ofCell cell: [UInt8]) -> ArraySlice<UInt8> {
    guard cell.first == textMark, isFormula(cell.drop { $0 == textMark }) else { return cell[...] }
    return cell.dropFirst()
  }

  /// A number with its sign is none.
  private static func isFormula(_ text: some Collection<UInt8>) -> Bool {
    guard let first = text.first, formulaStarts.contains(first) else { return false }
    let digits = text.dropFirst()
    let isNumber =
      (first == UInt8(ascii: "-") || first == UInt8(ascii: "+")) && !digits.isEmpty
      && digits.allSatisfy { $0.isASCIIDigit || $0 == UInt8(ascii: ".") }
    return !isNumber
  }
}
