import Domain
import HTTPServer
import Intake
import JSON
import Loop

/// The columns of a table of devices, and what they mean: a column is called as a field of a registration, or
/// `attributes.NAME`, or `?map=COLUMN:FIELD` says which field it is (`-`: none). `?set=FIELD:VALUE` fills a field that
/// the table does not have.
package struct DeviceTable {
  private enum Column {
    case field(String)
    case attribute(String)
    case ignored
  }
  static let maximumColumns = 300
  private let columns: [Column]
  /// Cells of the head: columns without a name may follow those that have one, and are empty in each row.
  private let width: Int
  private let constants: [(field: String, value: String)]

  /// What a column can be, beside an attribute.
  package static let fields = Schema.importedDevice.fields.filter { !["user_tags", "tombstone"].contains($0) }
  /// What a table of an export says beside that: it is not imported.
  private static let told = ["reason"]
  private static let attribute = "attributes."
  /// How other systems call them.
  private static let otherNames = [
    "push_token": "token", "device_token": "token", "registration_id": "token", "identifier": "token",
    "user_id": "user", "external_id": "user", "external_user_id": "user", "customer_id": "user",
    "timezone": "tz", "timezone_id": "tz", "lang": "language", "locale": "language", "os": "platform",
    "device_type": "platform", "device_id": "id", "bundle": "bundle_id", "last_active": "last_seen_at",
  ]

  /// `COLUMN:FIELD` of `map`, `FIELD:VALUE` of `set`; what is wrong with it.
  static func fault(of text: String, as name: String, _ suggestions: SuggestionBudget) -> String? {
    guard let (left, right) = parts(of: text, name) else {
      return name == "map"
        ? "`map` must be COLUMN:FIELD, for example `map=Email:user`; COLUMN:- ignores a column"
        : "`set` must be FIELD:VALUE, for example `set=provider:fcm`"
    }
    let field = name == "map" ? right : left
    guard name == "map" && field == "-" || isField(field) else {
      let near = suggestions.nearest(to: field, among: fields).map { "did you mean `\($0)`?" }
      return "`\(name)` names an unknown field `\(field.prefix(40))`; "
        + (near ?? "the fields are \(fields.joined(separator: ", ")) and attributes.NAME")
    }
    return nil
  }

  private static func isField(_ name: String) -> Bool {
    fields.contains(name) || name.hasPrefix(attribute) && name.utf8.count > attribute.utf8.count
  }

  /// A column's name may hold colons, a field's may not.
  private static func parts(of text: String, _ name: String) -> (String, String)? {
    let mark = name == "map" ? text.lastIndex(of: ":") : text.firstIndex(of: ":")
    guard let mark, mark > text.startIndex, text.index(after: mark) < text.endIndex else { return nil }
    return (String(text[..<mark]), String(text[text.index(after: mark)...]))
  }

  /// `head`: not more than `maximumColumns` and one.
  init(head: [String], _ call: Call) throws(Problem) {
    guard head.count <= Self.maximumColumns else {
      let detail = "the head of the table has more than \(Self.maximumColumns) columns: remove what is not a field"
      throw Problem(.invalidTable, detail, violations: [Violation("", .tooMany, detail)])
    }
    var names = head.map(Self.trimmed)
    width = names.count
    while names.last == "" { names.removeLast() }
    let all = Set(names)
    let faults = FaultBudget(suggestions: call.suggestions)
    func given(_ name: String) -> [(String, String)] {
      call.request.query.filter { $0.name == name }.compactMap { Self.parts(of: $0.value, name) }
    }
    let map = Dictionary(given("map"), uniquingKeysWith: { $1 })
    constants = given("set").map { (field: $0.0, value: $0.1) }
    var columns: [Column] = []
    var violations: [Violation] = []
    var known: Set<String> = []
    var untold = 0
    func refuse(_ code: Violation.Code, _ detail: @autoclosure () -> String) {
      guard faults.mayTell(behind: violations.count) else {
        untold += 1
        return
      }
      violations.append(Violation("", code, detail()))
    }
    for name in names {
      guard let field = map[name] ?? Self.field(of: name) else {
        refuse(.unknownField, Self.unknown(name, faults))
        continue
      }
      if field != "-", !known.insert(field).inserted {
        refuse(.duplicate, "two columns are mapped to the field `\(field)`: ignore one with `map=COLUMN:-`")
      }
      columns.append(Self.column(field))
    }
    for name in map.keys.sorted() where !all.contains(name) {
      let near = faults.suggestion { Suggestion.nearest(to: name, among: names) }.map { "; did you mean `\($0)`?" }
      refuse(.unknownValue, "`map` names a column `\(name)` that the table does not have\(near ?? "")")
    }
    for field in ["provider", "token"] where !known.contains(field) && !constants.contains(where: { $0.field == field })
    {
      guard violations.isEmpty else { break }
      let way = field == "provider" ? "; to set one provider for all: `set=provider:fcm`" : ""
      refuse(.required, "no column is mapped to the field `\(field)`: map one with `map=COLUMN:\(field)`\(way)")
    }
    if untold > 0 {
      violations.append(.untold(untold))
    }
    guard violations.isEmpty else { throw Problem(Refusal(violations: violations), .invalidTable) }
    self.columns = columns
  }

  private static func trimmed(_ cell: String) -> String {
    String(cell.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
  }

  /// The field that a column of this name is without being mapped; nil: none. Letter case and spaces count for nothing.
  package static func field(of name: String) -> String? {
    if isField(name) || told.contains(name) { return name }
    let plain = name.lowercased().map { $0 == " " || $0 == "-" ? "_" : String($0) }.joined()
    return isField(plain) || told.contains(plain) ? plain : otherNames[plain]
  }

  private static func unknown(_ name: String, _ faults: FaultBudget) -> String {
    let near = faults.suggestion { Suggestion.nearest(to: name, among: fields) } ?? "FIELD"
    let start = name.prefix(40)
    return
      "unknown column `\(start)`: map it with `--map '\(start)=\(near)'` (over HTTP `?map=\(start):\(near)`), or ignore "
      + "it with `-` instead of the field"
  }

  private static func column(_ field: String) -> Column {
    if field == "-" || field == "reason" { return .ignored }
    return field.hasPrefix(attribute) ? .attribute(String(field.dropFirst(attribute.count))) : .field(field)
  }

  /// What is wrong with a cell is left to whoever reads the device.
  private func document(_ cells: [String]) -> JSONValue {
    var members: [JSONMember] = []
    var attributes: [JSONMember] = []
    func take(_ column: Column, _ cell: String) {
      guard !cell.isEmpty else { return }
      switch column {
      case .ignored: return
      case .attribute(let name): attributes.append(JSONMember(name, .string(cell)))
      case .field(let field): members.set(field, Self.value(cell, of: field))
      }
    }
    for (field, value) in constants { take(Self.column(field), value) }
    for (column, cell) in zip(columns, cells) { take(column, Self.trimmed(cell)) }
    // What comes later replaces what came before: a column a constant.
    var all = members["attributes"]?.object ?? []
    all.set(attributes)
    members.set("attributes", members: all)
    return .object(members)
  }

  private static func value(_ cell: String, of field: String) -> JSONValue {
    switch field {
    case "tags", "authorization":
      if cell.hasPrefix("["), let list = try? JSON.parse(Array(cell.utf8), maximumDepth: 2) { return list }
      let words = cell.split { $0 == " " || $0 == "," || $0 == ";" || $0 == "|" }
      return .array(words.map { .string(String($0)) })
    case "attributes": return (try? JSON.parse(Array(cell.utf8), maximumDepth: 2)) ?? .string(cell)
    case "enabled":
      switch cell.lowercased() {
      case "true", "yes", "y", "1": return .bool(true)
      case "false", "no", "n", "0": return .bool(false)
      default: return .string(cell)
      }
    case "status": return .string(cell.lowercased())
    case "last_seen_at", "registered_at": return .string(time(cell))
    default: return .string(cell)
    }
  }

  /// A plain date is its midnight in UTC: `2026-11-01`, or `01.11.2026` as some spreadsheets write it.
  private static func time(_ cell: String) -> String {
    if cell.wholeMatch(of: /\d{4}-\d{2}-\d{2}/) != nil { return cell + "T00:00:00Z" }
    if let date = cell.wholeMatch(of: /(\d{2})\.(\d{2})\.(\d{4})/) { return "\(date.3)-\(date.2)-\(date.1)T00:00:00Z" }
    return cell
  }

  /// The lines of an import that a table stands for.
  static func lines(
    of call: Call, _ bound: Lines.Bound, _ loop: EventLoop
  ) async throws(Problem) -> [Lines.Line] {
    var body = call.request.body[...]
    if body.starts(with: [0xEF, 0xBB, 0xBF]) { body = body.dropFirst(3) }
    var reader = CSVReader(body)
    var table: DeviceTable?
    var lines: [Lines.Line] = []
    while let next = try next(&reader, upTo: table?.width ?? maximumColumns, isHead: table == nil) {
      await loop.giveWay()
      switch next {
      case .record(let record) where record.cells.isEmpty: continue
      case .record(let record):
        guard let known = table else {
          table = try DeviceTable(head: record.cells, call)
          continue
        }
        try Lines.checkCount(behind: lines.count)
        lines.append(known.line(record, bound))
      case .faulty(let line):
        try Lines.checkCount(behind: lines.count)
        lines.append(line)
      }
    }
    guard table != nil else {
      throw Problem(.malformedTable, "The table is empty: its first line names the columns")
    }
    guard !lines.isEmpty else { throw Problem(.malformedTable, "The table has no line after its head") }
    return lines
  }

  private enum Next {
    case record(CSVReader.Record)
    /// A row that cannot be read: those behind it can.
    case faulty(Lines.Line)
  }

  private static func next(_ reader: inout CSVReader, upTo maximum: Int, isHead: Bool) throws(Problem) -> Next? {
    do throws(CSVReader.Fault) {
      return try reader.next(upTo: maximum).map { .record($0) }
    } catch {
      guard !isHead, let line = error.record else {
        throw Problem(.malformedTable, "Line \(error.line) of the table \(error.detail); nothing was done")
      }
      return .faulty(
        Lines.Line(number: line, bytes: [], fault: Problem(.malformedTable, "The row \(error.detail)")))
    }
  }

  /// A row as a line of an import.
  func line(_ record: CSVReader.Record, _ bound: Lines.Bound) -> Lines.Line {
    let size = record.cells.reduce(0) { $0 + $1.utf8.count }
    if let fault = bound.fault(of: size) ?? fault(of: record.cells) {
      return Lines.Line(number: record.line, bytes: [], fault: fault)
    }
    return Lines.Line(number: record.line, bytes: document(record.cells).encoded)
  }

  /// A row that was cut off, or in which a separator is not quoted, would give fields the values of others.
  private func fault(of cells: [String]) -> Problem? {
    var violation: Violation?
    if cells.count < columns.count {
      violation = Violation(
        "", .required,
        "the row has \(cells.count) of \(columns.count) cells: it may be truncated; give each column a cell, even if "
          + "it is empty")
    } else if cells.count > width || cells[columns.count...].contains(where: { !Self.trimmed($0).isEmpty }) {
      violation = Violation(
        "", .tooMany,
        "the row has more cells than the table has columns (\(columns.count)): put a cell that holds the separator in "
          + "quotes, or give the column a name")
    }
    return violation.map { Problem(Refusal(violations: [$0]), .invalidDevice) }
  }
}
