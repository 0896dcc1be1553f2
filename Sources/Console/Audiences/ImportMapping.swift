import API
import Domain

/// Which field of a device a column of a table is.
struct ImportMapping {
  /// What is chosen for each column, in their order.
  var choices: [String]
  /// Of rows that name none; empty: each row names one.
  var provider = ""
  var keepsMissing = true

  static let ignored = "-"
  /// An attribute that is called as the column.
  static let attribute = "attribute"
  /// What the column says by its name, where that is an attribute.
  static let own = "own"
  /// Offered for every column.
  static let fields = DeviceTable.fields.filter { $0 != "attributes" }

  /// By the names of the columns. A field is guessed for one column only.
  init(guessing columns: [String]) {
    var taken: Set<String> = []
    choices = columns.map { name in
      guard let field = DeviceTable.field(of: name), field != "reason", taken.insert(field).inserted else {
        return Self.ignored
      }
      return Self.fields.contains(field) ? field : Self.own
    }
  }

  /// As somebody chose in the form of the page.
  init(_ visit: Visit, columns: [String]) {
    choices = columns.indices.map { at in
      let chosen = visit.field(Self.name(ofColumn: at))
      return Self.options(for: columns[at]).contains(chosen) ? chosen : Self.ignored
    }
    provider = Self.providers.contains(visit.field("provider")) ? visit.field("provider") : ""
    keepsMissing = visit.field("keep") == "true"
  }

  /// As `query` told it to the import.
  init(_ query: [(name: String, value: String)], columns: [String]) {
    let told = Set(query.filter { $0.name == "map" }.map(\.value))
    choices = columns.map { column in
      let options = Self.options(for: column)
      // What is not told is left to the name of the column.
      return options.first { Self.told(column, $0).map(told.contains) ?? false }
        ?? (options.contains(Self.own) && Self.told(column, Self.own) == nil ? Self.own : Self.ignored)
    }
    let provider = query.first { $0.name == "set" }?.value.split(separator: ":").last.map { String($0) } ?? ""
    self.provider = Self.providers.contains(provider) ? provider : ""
    keepsMissing = query.contains { $0.name == "keep_missing" }
  }

  static func name(ofColumn at: Int) -> String { "c\(at)" }
  static let providers = ["apns", "fcm", "onesignal", "webpush"]

  /// What can be chosen for a column. The import calls a column by its name; what it is to be has no colon.
  static func options(for column: String) -> [String] {
    guard !column.isEmpty else { return [ignored] }
    let own = Self.ownField(of: column) == nil ? [] : [Self.own]
    return [ignored] + fields + own + (column.contains(":") ? [] : [attribute])
  }

  /// Why not all can be chosen for a column; nil: all can.
  static func fault(of column: String) -> Word? {
    column.isEmpty ? .importNoName : column.contains(":") ? .importColon : nil
  }

  /// `attributes.NAME`, or `attributes` for a cell that holds them all; nil: the name says neither.
  static func ownField(of column: String) -> String? {
    DeviceTable.field(of: column).flatMap { fields.contains($0) || $0 == "reason" ? nil : $0 }
  }

  /// As the import takes it.
  func query(_ columns: [String]) -> [(name: String, value: String)] {
    var query = zip(columns, choices).compactMap { column, choice in
      Self.told(column, choice).map { (name: "map", value: $0) }
    }
    if !provider.isEmpty { query.append(("set", "provider:" + provider)) }
    if keepsMissing { query.append(("keep_missing", "true")) }
    return query
  }

  /// `COLUMN:FIELD`; nil: what the column is need not be told, or cannot be.
  private static func told(_ column: String, _ choice: String) -> String? {
    guard !column.isEmpty else { return nil }
    let field =
      switch choice {
      case attribute: "attributes." + column
      case own: ownField(of: column) ?? ignored
      default: choice
      }
    return field.contains(":") ? nil : column + ":" + field
  }
}
