import Domain
import JSON

/// An object of a request while it is read: finds the members that do not belong here, and gives the others in the type
/// and range asked for. A member that is missing or wrong reads as nil; what is wrong is among the findings.
struct Fields {
  /// Where the object stands, or the array that it is an entry of.
  private let base: Place
  private let index: Int?
  private let members: [JSONMember]
  /// A bit for each length that a member's name has. Almost every field of a schema is asked for and missing: for most
  /// of them a bit says so.
  private let lengths: UInt64
  /// Members that unknown ones were probably meant for: nobody is told that these are missing.
  private let meant: Set<String>

  /// Nil if the value is no object. `index`: of an entry of the array that stands at the place.
  init?(
    _ value: JSONValue, at place: Place, index: Int? = nil, of schema: Schema, _ findings: inout Findings
  ) {
    base = place
    self.index = index
    guard case .object(let members) = value else {
      findings.refuse(place.entry(index), .wrongType, Self.notAnObject(value, place.entry(index), schema))
      return nil
    }
    var lengths: UInt64 = 0
    var allKnown = true
    var meant: Set<String> = []
    for position in members.indices {
      let name = members[position].key
      lengths |= Self.bit(of: name)
      if schema.has(name) { continue }
      allKnown = false
      let faults = findings.faults
      let unknown = Self.unknown(name, in: schema, faults)
      if let target = unknown.target { meant.insert(target) }
      findings.refuse(place.entry(index).member(name), .unknownField, unknown.detail)
    }
    self.lengths = lengths
    self.meant = meant
    self.members = allKnown ? members : members.filter { schema.has($0.key) }
  }

  /// Where the object stands.
  var place: Place { base.entry(index) }

  private static func bit(of name: String) -> UInt64 { 1 &<< UInt64(truncatingIfNeeded: name.utf8.count) }

  private static func notAnObject(_ value: JSONValue, _ place: Place, _ schema: Schema) -> String {
    if case .root = place { return "the body must be a JSON object, not \(value.article)" }
    let hint = if case .null = value { ": leave it out instead" } else { FieldHint.asObject(value, of: schema) }
    return "must be an object\(FieldHint.ways(of: schema)), not \(value.article)\(hint)"
  }

  /// What is said of a field that does not belong here, and the member of this object that is meant by it.
  private static func unknown(_ field: String, in schema: Schema, _ faults: FaultBudget)
    -> (detail: String, target: String?)
  {
    let shown = field.utf8.count <= 64 ? field : String(field.prefix(40)) + "…"
    func member(_ target: String) -> String? {
      let steps = target.split(separator: ".").map(String.init)
      return steps.first { schema.has($0) }
    }
    if let known = VendorName.meaning(of: field, in: schema) {
      return ("unknown field `\(shown)`; \(known.sentence)", known.target.flatMap(member))
    }
    if let outside = schema.standsBeside(field) {
      return ("`\(shown)` does not belong here: put it beside `\(outside)`", nil)
    }
    if let there = schema.belongs(field) {
      return ("unknown field `\(shown)`; did you mean `\(there)`?", member(there))
    }
    if schema.fields.isEmpty { return ("unknown field `\(shown)`: this request takes none, so leave it out", nil) }
    if let near = faults.suggestion({ Suggestion.nearest(to: field, among: schema.fields) }) {
      return ("unknown field `\(shown)`; did you mean `\(near)`?", near)
    }
    return ("unknown field `\(shown)`; `\(schema.name)` takes \(schema.fields.joined(separator: ", "))", nil)
  }

  /// True if the object has the member, or an unknown one that is probably meant for it.
  func hasOrMeans(_ name: String) -> Bool { has(name) || meant.contains(name) }
  /// Some unknown member is meant for one of this object's own.
  var meansOthers: Bool { !meant.isEmpty }

  var names: [String] { members.map(\.key) }
  var isEmpty: Bool { members.isEmpty }
  /// The name of the only member; nil if there are more, or none.
  var onlyName: String? { members.count == 1 ? members[0].key : nil }

  subscript(name: String) -> JSONValue? { mayHave(name) ? value(of: name) : nil }
  @inline(__always) func has(_ name: String) -> Bool { mayHave(name) && position(of: name) != nil }

  /// False: it is missing. True of many that are missing, too.
  @inline(__always) private func mayHave(_ name: String) -> Bool { lengths & Self.bit(of: name) != 0 }
  private func position(of name: String) -> Int? {
    for index in members.indices where members[index].key.utf8.count == name.utf8.count && members[index].key == name {
      return index
    }
    return nil
  }
  private func value(of name: String) -> JSONValue? { position(of: name).map { members[$0].value } }

  /// Refuses the object if the member is missing, and no unknown one is meant for it.
  func require(_ name: String, _ detail: @autoclosure () -> String, _ findings: inout Findings) {
    if !hasOrMeans(name) { findings.refuse(place.member(name), .required, detail()) }
  }

  /// `more`: what is said at the end.
  private func wrong(
    _ name: String, _ value: JSONValue, _ wanted: String, more: String = "", _ findings: inout Findings
  ) {
    let hint = if case .null = value { ": leave it out instead" } else { more }
    findings.refuse(place.member(name), .wrongType, "must be \(wanted), not \(FieldHint.shown(value))\(hint)")
  }

  @inline(__always) func text(_ name: String, _ rule: TextRule, _ findings: inout Findings) -> String? {
    mayHave(name) ? heldText(name, rule, &findings) : nil
  }
  /// As `text`. What it is read into is nil until now: a text that is missing touches nothing.
  @inline(__always) func read(
    _ name: String, _ rule: TextRule, into text: inout String?, _ findings: inout Findings
  ) {
    if mayHave(name) { text = heldText(name, rule, &findings) }
  }
  private func heldText(_ name: String, _ rule: TextRule, _ findings: inout Findings) -> String? {
    guard let value = value(of: name) else { return nil }
    guard case .string(let text) = value else {
      findings.refuse(place.member(name), .wrongType, Self.notAText(value, name))
      return nil
    }
    if let fault = rule.fault(in: text) {
      findings.refuse(place.member(name), fault.code, "`\(name)` \(fault.detail)")
      return nil
    }
    return text
  }

  private static func notAText(_ value: JSONValue, _ name: String) -> String {
    if case .null = value { return "must be a string, not null: leave it out instead" }
    let example = FieldHint.example(of: name)
    return "must be a string\(example), not \(value.article)\(example.isEmpty ? FieldHint.asText(value) : "")"
  }

  func flag(_ name: String, _ findings: inout Findings) -> Bool? {
    guard let value = self[name] else { return nil }
    if case .bool(let flag) = value { return flag }
    wrong(name, value, "true or false", more: FieldHint.asFlag(value), &findings)
    return nil
  }

  func integer(_ name: String, in range: ClosedRange<Int64>, _ findings: inout Findings) -> Int64? {
    guard let value = self[name] else { return nil }
    switch value {
    case .integer(let number) where range.contains(number): return number
    case .integer, .unsigned:
      findings.refuse(
        place.member(name), .outOfRange,
        "`\(name)` must lie in \(range.lowerBound)…\(range.upperBound)\(FieldHint.unit(of: name))")
    default:
      wrong(
        name, value, "a whole number of \(range.lowerBound)…\(range.upperBound)\(FieldHint.unit(of: name))",
        more: FieldHint.asNumber(value), &findings)
    }
    return nil
  }

  /// A time in seconds since 1970. Many systems count milliseconds.
  func seconds(_ name: String, in range: ClosedRange<Int64>, _ findings: inout Findings) -> Int64? {
    if case .integer(let number)? = self[name], number > range.upperBound, range.contains(number / 1_000) {
      findings.refuse(
        place.member(name), .outOfRange,
        "`\(name)` is in seconds since 1970, but this looks like milliseconds; did you mean \(number / 1_000)?")
      return nil
    }
    if case .integer(let number)? = self[name], !range.contains(number) {
      findings.refuse(
        place.member(name), .outOfRange,
        "`\(name)` is in seconds since 1970, and must lie in \(range.lowerBound)…\(range.upperBound)")
      return nil
    }
    return integer(name, in: range, &findings)
  }

  func number(_ name: String, in range: ClosedRange<Double>, _ findings: inout Findings) -> Double? {
    guard let value = self[name] else { return nil }
    let number: Double
    switch value {
    case .integer(let whole): number = Double(whole)
    case .unsigned(let whole): number = Double(whole)
    case .double(let double): number = double
    default:
      wrong(
        name, value, "a number\(Self.bounds(of: range))\(FieldHint.unit(of: name))", more: FieldHint.asNumber(value),
        &findings)
      return nil
    }
    guard range.contains(number) else {
      findings.refuse(
        place.member(name), .outOfRange,
        "`\(name)` must lie in \(Self.shown(range.lowerBound))…\(Self.shown(range.upperBound))"
          + FieldHint.unit(of: name))
      return nil
    }
    return number
  }

  private static func bounds(of range: ClosedRange<Double>) -> String {
    range.upperBound == .greatestFiniteMagnitude ? "" : " of \(shown(range.lowerBound))…\(shown(range.upperBound))"
  }
  private static func shown(_ bound: Double) -> String {
    bound == bound.rounded() && abs(bound) < 1e9 ? String(Int(bound)) : String(bound)
  }

  func choice<Choice: RawRepresentable & CaseIterable>(_ name: String, _: Choice.Type, _ findings: inout Findings)
    -> Choice? where Choice.RawValue == String
  {
    guard let value = self[name] else { return nil }
    if case .string(let word) = value, let choice = Choice(rawValue: word) { return choice }
    let words = Choice.allCases.map(\.rawValue)
    guard case .string(let word) = value else {
      let number = String(decoding: value.encoded.prefix(8), as: UTF8.self)
      let hint = VendorValue.meaning(of: number, for: name).map { "; `\(number)` is `\($0)`" } ?? ""
      wrong(name, value, "one of the words \(words.joined(separator: ", "))", more: hint, &findings)
      return nil
    }
    let faults = findings.faults
    findings.refuse(place.member(name), .unknownValue, Self.unknown(value: word, of: name, among: words, faults))
    return nil
  }

  private static func unknown(value word: String, of name: String, among words: [String], _ faults: FaultBudget)
    -> String
  {
    let shown = word.prefix(40)
    if let meant = VendorValue.meaning(of: word, for: name), words.contains(meant) {
      return "`\(name)` has an unknown value `\(shown)`; here it is `\(meant)`. The values are "
        + words.joined(separator: ", ")
    }
    let near =
      faults.suggestion { Suggestion.nearest(to: word, among: words) }.map { "did you mean `\($0)`? The values are" }
      ?? "the values are"
    return "`\(name)` has an unknown value `\(shown)`; \(near) \(words.joined(separator: ", "))"
  }

  /// The items of an array, with their places; nil if the member is missing, no array, or longer than `maximum`.
  func items(_ name: String, maximum: Int, _ findings: inout Findings) -> [JSONValue]? {
    guard let value = self[name] else { return nil }
    guard case .array(let items) = value else {
      let isOne = if case .string = value { true } else { false }
      let hint = isOne ? ": write [\(String(decoding: value.encoded.prefix(80), as: UTF8.self))]" : ""
      wrong(name, value, "an array", more: hint, &findings)
      return nil
    }
    guard items.count <= maximum else {
      findings.refuse(
        place.member(name), .tooMany, "`\(name)` has \(items.count) entries; the limit is \(maximum)")
      return nil
    }
    return items
  }

  func texts(_ name: String, maximum: Int, _ rule: TextRule, _ findings: inout Findings) -> [String]? {
    guard let items = items(name, maximum: maximum, &findings) else { return nil }
    return texts(in: items, of: name, rule, &findings)
  }

  /// The texts among the items of an array; the others are refused.
  func texts(in items: [JSONValue], of name: String, _ rule: TextRule, _ findings: inout Findings) -> [String] {
    var texts: [String] = []
    texts.reserveCapacity(items.count)
    for (index, item) in items.enumerated() {
      guard case .string(let text) = item else {
        findings.refuse(
          place.member(name).element(index), .wrongType,
          "must be a string, not \(item.article)\(FieldHint.asText(item))")
        continue
      }
      if let fault = rule.fault(in: text) {
        findings.refuse(place.member(name).element(index), fault.code, "this entry \(fault.detail)")
        continue
      }
      texts.append(text)
    }
    return texts
  }

  /// The members of a free object; nil if it is missing, no object, or has more in it than it may.
  func members(_ name: String, _ freedom: Freedom, _ findings: inout Findings) -> [JSONMember]? {
    guard let value = self[name] else { return nil }
    guard case .object(let members) = value else {
      wrong(name, value, "an object", &findings)
      return nil
    }
    return freedom.allows(value, named: name, at: place.member(name), &findings) ? members : nil
  }

  /// An object with a schema of its own.
  func object(_ name: String, of schema: Schema, _ findings: inout Findings) -> Fields? {
    guard let value = self[name] else { return nil }
    return Fields(value, at: place.member(name), of: schema, &findings)
  }
}
