import Domain

/// The faults found so far; shared by all sections of one reading.
final class FaultList {
  var faults: [ConfigurationFault] = []
  /// Places of the keys that readers asked for.
  var asked: Set<String> = []
  /// Files with keys that belong to other users than this process' and root.
  var filesOfOthers: [String] = []
  func add(_ pointer: String, _ problem: String, fix: String) {
    faults.append(ConfigurationFault(pointer: pointer, problem: problem, fix: fix))
  }
}

/// One object of the file while it is read. Each reader names the keys it takes; `close` refuses the rest. A fault leaves
/// the default in place, so that reading goes on and all faults are found at once.
struct Section {
  let pointer: String
  private let members: [String: Node]
  private var known: [String] = []
  let faults: FaultList

  init(_ node: Node?, at pointer: String, _ faults: FaultList) {
    self.pointer = pointer
    self.faults = faults
    switch node {
    case nil: members = [:]
    case .object(let object): members = object
    case .some(let other):
      members = [:]
      faults.add(pointer, "must be an object, not \(other.typeName)", fix: "Write { … }")
    }
  }

  func place(_ key: String) -> String {
    pointer + "/" + key.replacing("~", with: "~0").replacing("/", with: "~1")
  }
  func has(_ key: String) -> Bool { members[key] != nil }
  var keys: [String] { members.keys.sorted() }

  private mutating func take(_ key: String) -> Node? {
    known.append(key)
    guard let node = members[key] else { return nil }
    if case .null = node { return nil }
    return node
  }

  /// Refuses the keys that nobody took.
  func close() {
    faults.asked.formUnion(known.map(place))
    for key in members.keys.sorted() where !known.contains(key) {
      let near = Suggestion.nearest(to: key, among: known)
      let fix =
        near.map { "Did you mean \"\($0)\"?" }
        ?? "Remove it; the settings here are \(known.sorted().joined(separator: ", "))"
      faults.add(place(key), "unknown setting \"\(key)\"", fix: fix)
    }
  }

  mutating func section(_ key: String) -> Section { Section(take(key), at: place(key), faults) }

  mutating func list(_ key: String) -> [(node: Node, pointer: String)] {
    switch take(key) {
    case nil: return []
    case .list(let items): return items.enumerated().map { ($1, "\(place(key))/\($0)") }
    case .some(let other):
      faults.add(place(key), "must be a list, not \(other.typeName)", fix: "Write [ … ]")
      return []
    }
  }

  mutating func text(_ key: String) -> String? {
    switch take(key) {
    case nil: return nil
    case .text(let text): return text
    case .some(let other):
      faults.add(place(key), "must be a text, not \(other.typeName)", fix: "Put it in quotes")
      return nil
    }
  }

  mutating func texts(_ key: String) -> [String] { placedTexts(key).map(\.text) }

  /// Each with its pointer.
  mutating func placedTexts(_ key: String) -> [(text: String, pointer: String)] {
    list(key).compactMap { item in
      if case .text(let text) = item.node { return (text, item.pointer) }
      faults.add(item.pointer, "must be a text, not \(item.node.typeName)", fix: "Put it in quotes")
      return nil
    }
  }

  mutating func bool(_ key: String) -> Bool? {
    switch take(key) {
    case nil: return nil
    case .bool(let flag): return flag
    case .some(let other):
      faults.add(place(key), "must be true or false, not \(other.typeName)", fix: "Write true or false")
      return nil
    }
  }

  mutating func integer(_ key: String, in range: ClosedRange<Int>) -> Int? {
    let fix = "Write a whole number from \(range.lowerBound) to \(range.upperBound)"
    switch take(key) {
    case nil: return nil
    case .number(let number):
      guard let whole = Int(exactly: number), range.contains(whole) else {
        faults.add(place(key), "\(Self.short(number)) is out of range", fix: fix)
        return nil
      }
      return whole
    case .some(let other):
      faults.add(place(key), "must be a number, not \(other.typeName)", fix: fix)
      return nil
    }
  }

  /// 0…1.
  mutating func share(_ key: String) -> Double? {
    let fix = "Write a share from 0 to 1, such as 0.2"
    switch take(key) {
    case nil: return nil
    case .number(let number):
      if (0...1).contains(number) { return number }
      faults.add(place(key), "\(Self.short(number)) is out of range", fix: fix)
    case .some(let other):
      faults.add(place(key), "must be a number, not \(other.typeName)", fix: fix)
    }
    return nil
  }

  private static func short(_ number: Double) -> String { Int(exactly: number).map(String.init) ?? "\(number)" }

  mutating func duration(_ key: String, in range: ClosedRange<Int64>) -> Int64? {
    measure(key, Units.duration, range, help: Units.durationHelp)
  }
  mutating func size(_ key: String, in range: ClosedRange<Int64>) -> Int64? {
    measure(key, Units.size, range, help: Units.sizeHelp)
  }
  private mutating func measure(
    _ key: String, _ read: (String) -> Int64?, _ range: ClosedRange<Int64>, help: String
  ) -> Int64? {
    guard let node = take(key) else { return nil }
    guard case .text(let text) = node, let value = read(text) else {
      faults.add(place(key), "\(node.typeName) without a known unit", fix: help)
      return nil
    }
    guard range.contains(value) else {
      faults.add(place(key), "\"\(text)\" is out of range", fix: help)
      return nil
    }
    return value
  }

  mutating func word<Word: RawRepresentable & CaseIterable>(_ key: String, of type: Word.Type) -> Word?
  where Word.RawValue == String {
    guard let text = text(key) else { return nil }
    if let word = Word(rawValue: text) { return word }
    let words = Word.allCases.map(\.rawValue)
    let near = Suggestion.nearest(to: text, among: words)
    faults.add(
      place(key), "\"\(text)\" is not one of \(words.joined(separator: ", "))",
      fix: near.map { "Did you mean \"\($0)\"?" } ?? "Choose one of them")
    return nil
  }
}
