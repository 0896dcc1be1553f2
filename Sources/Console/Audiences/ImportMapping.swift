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

  static func name(ofColumn at: Int) -> String { "c\(at)" }
  static let providers = ["apns", "fcm", "onesignal", "webpush"]

  /// What can be chosen for a column.
  static func options(for column: String) -> [String] {
    let own = Self.ownField(of: column) == nil ? [] : [Self.own]
    return [ignored] + fields + own + (column.isEmpty ? [] : [attribute])
  }

  /// `attributes.NAME`, or `attributes` for a cell that holds them all; nil: the name says neither.
  static func ownField(of column: String) -> String? {
    DeviceTable.field(of: column).flatMap { fields.contains($0) || $0 == "reason" ? nil : $0 }
  }

  /// As the import takes it.
  func query(_ columns: [String]) -> [(name: String, value: String)] {
    var query: [(name: String, value: String)] = []
    for (column, choice) in zip(columns, choices) where !column.isEmpty {
      let field =
        switch choice {
        case Self.attribute: "attributes." + column
        case Self.own: Self.ownField(of: column) ?? Self.ignored
        default: choice
        }
      query.append(("map", column + ":" + field))
    }
    if !provider.isEmpty { query.append(("set", "provider:" + provider)) }
    if keepsMissing { query.append(("keep_missing", "true")) }
    return query
  }
}
