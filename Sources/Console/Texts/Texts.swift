import Domain

/// The words and numbers of one language.
struct Texts: Sendable {
  /// As `lang` says it.
  let language: String
  /// Of the language, in itself.
  let name: String
  let words: [Word: String]
  let group: String
  let decimal: String

  static let english = Texts(PackageResources.english_txt)
  static let german = Texts(PackageResources.german_txt)
  /// Another language is one file more, in Assets.
  static let all = [english, german]

  /// Of a file of texts: in each line a name, a colon and a text. Lines with `#` are for who reads the file; with `@`, what is
  /// to be known of the language.
  private init(_ file: [UInt8]) {
    var words: [Word: String] = [:]
    var facts: [Substring: String] = [:]
    for line in String(decoding: file, as: UTF8.self).split(separator: "\n") where !line.hasPrefix("#") {
      guard let colon = line.firstIndex(of: ":") else { continue }
      let (name, text) = (line[..<colon], String(line[colon...].dropFirst(2)))
      if name.hasPrefix("@") { facts[name.dropFirst()] = text }
      if let word = Word(rawValue: String(name)) { words[word] = text }
    }
    (language, name) = (facts["language"] ?? "", facts["name"] ?? "")
    (group, decimal) = (facts["group"] ?? "", facts["decimal"] ?? "")
    self.words = words
  }

  /// The first that a browser asks for, by its order; English where there is none.
  static func best(for header: String) -> Texts {
    for part in header.split(separator: ",").prefix(20) {
      let wanted = part.prefix { $0 != ";" }.filter { $0 != " " }.lowercased()
      if let found = all.first(where: { wanted == $0.language || wanted.hasPrefix($0.language + "-") }) { return found }
    }
    return english
  }

  subscript(_ word: Word) -> String { words[word] ?? Self.english.words[word] ?? word.rawValue }

  /// With what stands for `%1`, `%2`.
  func callAsFunction(_ word: Word, _ values: String...) -> String {
    var text = ""
    var rest = self[word][...]
    while let mark = rest.firstIndex(of: "%") {
      text += rest[..<mark]
      let digit = rest[mark...].dropFirst().first?.wholeNumberValue
      if let digit, values.indices.contains(digit - 1) {
        text += values[digit - 1]
        rest = rest[mark...].dropFirst(2)
      } else {
        text += "%"
        rest = rest[mark...].dropFirst()
      }
    }
    return text + rest
  }

  /// A number with its noun: `one` for 1, `many` with the number in place of `%1` for all others.
  func counted(_ number: Int, _ one: Word, _ many: Word) -> String {
    number == 1 ? self[one] : self(many, self.number(number))
  }

  /// With a mark between each three digits.
  func number(_ number: Int) -> String {
    let digits = String(number.magnitude)
    var text = ""
    for (place, digit) in digits.enumerated() {
      if place > 0, (digits.count - place).isMultiple(of: 3) { text += group }
      text.append(digit)
    }
    return (number < 0 ? "−" : "") + text
  }

  /// Of a whole, in percent with one digit behind the mark. What is not nothing is not shown as nothing, nor what is not all as all.
  func percent(_ part: Int, of whole: Int) -> String {
    guard whole > 0 else { return "–" }
    let tenths = Int((Double(part) * 1_000 / Double(whole)).rounded())
    if tenths == 0, part > 0 { return "< 0\(decimal)1 %" }
    if tenths == 1_000, part < whole { return "> 99\(decimal)9 %" }
    return "\(tenths / 10)\(decimal)\(tenths % 10) %"
  }

  /// In the two largest units.
  func duration(milliseconds: Int) -> String {
    let seconds = milliseconds / 1_000
    switch seconds {
    case ..<1: return "\(number(max(0, milliseconds))) ms"
    case ..<60: return "\(seconds) s"
    case ..<3_600: return "\(seconds / 60) min \(seconds % 60) s"
    case ..<86_400: return "\(seconds / 3_600) h \(seconds / 60 % 60) min"
    default: return "\(number(seconds / 86_400)) d \(seconds / 3_600 % 24) h"
    }
  }
}
