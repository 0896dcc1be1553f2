import Domain

/// A piece of an expression and where it begins.
struct Token {
  enum Kind: Equatable {
    case open, close, and, or, not, end
    /// Without quotes, or with quotes behind a key: `city:"New York"` is `word("city:", quoted: "New York")`.
    case word(String, quoted: String?)
    /// `"plan:pro"`; `star`: `:*` stood behind the quotes.
    case quoted(String, star: Bool)
  }
  var kind: Kind
  var start: Int
}

/// Cuts an expression into tokens, one at a time: nothing is gathered before the parser wants it.
struct Lexer {
  private let text: [Unicode.Scalar]
  private(set) var place = 0

  init(_ text: String) { self.text = Array(text.unicodeScalars) }

  /// A fault at this scalar; its column counts characters as a person sees them.
  func fault(at place: Int, _ detail: String, suggestion: String? = nil) -> AudienceFault {
    AudienceFault(.column(column(of: place)), detail, suggestion: suggestion)
  }
  func column(of place: Int) -> Int {
    var before = String.UnicodeScalarView()
    before.append(contentsOf: text[..<min(place, text.count)])
    return String(before).count + 1
  }

  private func peek(_ ahead: Int = 0) -> Unicode.Scalar? {
    place + ahead < text.count ? text[place + ahead] : nil
  }

  mutating func next() throws(AudienceFault) -> Token {
    while let character = peek(), Self.isSpace(character) { place += 1 }
    let start = place
    guard let character = peek() else { return Token(kind: .end, start: start) }
    switch character {
    case "(", ")", "!":
      place += 1
      return Token(kind: character == "(" ? .open : character == ")" ? .close : .not, start: start)
    case "&", "|":
      guard peek(1) == character else {
        throw fault(
          at: start, "a single `\(character)` is not an operator", suggestion: "\(character)\(character)")
      }
      place += 2
      return Token(kind: character == "&" ? .and : .or, start: start)
    case "\"":
      let quoted = try readQuoted()
      return try behindQuotes(quoted, start: start)
    default: return try readWord(start)
    }
  }

  private mutating func behindQuotes(_ quoted: String, start: Int) throws(AudienceFault) -> Token {
    if peek() == ":", peek(1) == "*" {
      place += 2
      guard endsHere else { throw sticks(start) }
      return Token(kind: .quoted(quoted, star: true), start: start)
    }
    guard peek() == ":" else {
      guard endsHere else { throw sticks(start) }
      return Token(kind: .quoted(quoted, star: false), start: start)
    }
    throw fault(
      at: start, "the quotes must hold the whole tag, or only its value",
      suggestion: AudienceTerm.quoted(quoted + String(String.UnicodeScalarView(upcoming))))
  }

  /// What follows up to the end of a word.
  private var upcoming: ArraySlice<Unicode.Scalar> { text[place...].prefix(64).prefix { !Self.endsWord($0) } }
  private var endsHere: Bool { peek().map { Self.endsWord($0) && $0 != "\"" && $0 != "(" } ?? true }
  private func sticks(_ start: Int) -> AudienceFault {
    fault(at: place, "an operator is missing after the quotes: write `&&` or `||` between two terms")
  }

  private mutating func readWord(_ start: Int) throws(AudienceFault) -> Token {
    while let character = peek(), !Self.endsWord(character) { place += 1 }
    let word = String(String.UnicodeScalarView(text[start..<place]))
    if peek() == "\"" {
      guard word.hasSuffix(":") else {
        throw fault(
          at: place, "put quotes around a whole tag, or around the value after `:`",
          suggestion: word.contains(":") ? nil : word + ":\"…\"")
      }
      let quoted = try readQuoted()
      guard endsHere else { throw sticks(start) }
      return Token(kind: .word(word, quoted: quoted), start: start)
    }
    let small = word.lowercased()
    switch word {
    case Keyword.and, "AND": return Token(kind: .and, start: start)
    case Keyword.or, "OR": return Token(kind: .or, start: start)
    case Keyword.not, "NOT": return Token(kind: .not, start: start)
    case _ where Keyword.all.contains(small) && word != small:
      throw fault(
        at: start, "write `\(small)` in lower case; put it in quotes if it is a tag", suggestion: small)
    default: return Token(kind: .word(word, quoted: nil), start: start)
    }
  }

  private mutating func readQuoted() throws(AudienceFault) -> String {
    let start = place
    var content = String.UnicodeScalarView()
    place += 1
    while let character = peek() {
      place += 1
      switch character {
      case "\"": return String(content)
      case "\\":
        guard let escaped = peek(), escaped == "\"" || escaped == "\\" else {
          throw fault(at: place - 1, "a backslash is allowed only before `\"` or another backslash", suggestion: "\\\\")
        }
        content.append(escaped)
        place += 1
      case _ where character.breaksLine:
        throw fault(at: place - 1, "a control character (a line break?) is inside quotes: no tag has one")
      default: content.append(character)
      }
    }
    throw fault(at: start, "this quote is never closed: write another `\"` where the tag ends")
  }

  private static func isSpace(_ character: Unicode.Scalar) -> Bool {
    character == " " || character == "\t" || character == "\n" || character == "\r"
  }
  private static func endsWord(_ character: Unicode.Scalar) -> Bool {
    switch character {
    case "(", ")", "&", "|", "\"": true
    default: isSpace(character)
    }
  }
}
