import TLS

/// A random mark of a form, made when the form is rendered: what a double click, or a reload, sends again is known by it.
enum Mark {
  static let field = "mark"
  private static let bytes = 16

  static func new() -> String { Hex.text(SecureRandom.bytes(bytes)) }

  /// Nil: the form has none of ours.
  static func given(_ visit: Visit) -> String? {
    let mark = visit.field(field)
    let isOurs = mark.utf8.count == 2 * bytes && mark.utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) }
    return isOurs ? mark : nil
  }
}

extension HTML {
  /// A hidden field of a form.
  mutating func hidden(_ name: String, _ value: String) {
    void("input", [.set(.type, "hidden"), .set(.name, name), .set(.value, value), .set(.autocomplete, "off")])
  }

  /// The mark that tells this form from another of the same content.
  mutating func mark() { hidden(Mark.field, Mark.new()) }

  /// What the API refused, on top of a page, in its words.
  mutating func refused(_ problem: ToldProblem) {
    element("section", [.class("errors"), .set(.tabIndex, "-1"), .flag(.autofocus)]) { html in
      html.element("p", problem.detail)
      let violations = problem.violations
      guard violations.count > 1 else { return }
      html.element("ul") { html in
        for violation in violations { html.element("li", violation.detail) }
      }
    }
  }

  /// What is wrong with the field of this id; nil: nothing is written. The field has `Attribute.faulty`.
  mutating func fault(of id: String, _ fault: String?) {
    if let fault { element("span", [.class("error"), .id(id + "-error")], fault) }
  }

  /// A field of a form, with its label, a hint and what is wrong with it.
  mutating func field(
    _ id: String, _ label: String, name: String? = nil, _ attributes: [Attribute] = [], value: String = "",
    hint: String? = nil, fault: String? = nil
  ) {
    var field = FormFields.Field(name: name ?? id, label: label, value: value, hint: hint, attributes: attributes)
    (field.ownID, field.type) = (id, nil)
    FormFields.input(field, fault, &self)
  }

  /// On top of a page where another name was typed in than the act needs: it leads to the field.
  mutating func wrongName(_ text: String) {
    element("section", [.class("errors"), .set(.tabIndex, "-1"), .flag(.autofocus)]) { html in
      html.element("p") { $0.element("a", [.href(Link(fragment: "confirm"))], text) }
    }
  }

  /// A destructive act: what is lost, and the name that must be typed in, or another one, such as an id. `isWrong`: neither was.
  mutating func destroy(
    _ visitor: Visitor, _ id: String, _ action: Link, _ title: String, lead: String, name: String,
    or other: String? = nil, button: String, isWrong: Bool, hidden: [(String, String)] = []
  ) {
    let texts = visitor.texts
    let label = other.flatMap { $0 == name ? nil : texts(.cancelNameOr, name, $0) } ?? texts(.cancelName, name)
    element("details", [.class("act"), .id(id + "-act"), .flag(.open, isWrong)]) { html in
      html.element("summary", title)
      Frame.form(visitor, action, &html) { html in
        html.element("p", lead)
        for (field, value) in hidden { html.hidden(field, value) }
        html.field(
          id, label, name: Confirmation.field,
          [.set(.autocomplete, "off"), .set(.maxLength, "300"), .flag(.required)],
          fault: isWrong ? texts[.notTheName] : nil)
        html.element("p", [.class("actions")]) { $0.element("button", [.class("danger")], button) }
      }
    }
  }
}

extension Attribute {
  /// Leads from a field to what `HTML.fault` writes of it.
  static func faulty(_ id: String, _ fault: String?) -> [Attribute] {
    fault == nil ? [] : [.set(.ariaDescribedBy, id + "-error"), .set(.ariaInvalid, "true")]
  }
}

/// What must be typed in before something is lost.
enum Confirmation {
  static let field = "confirm"
  /// Of the address behind a wrong one; its value names the act.
  static let wrong = "wrong"

  /// One of the names was typed in. White space counts as a page shows it: none at the ends, and a run of it as one space.
  static func holds(_ typed: String, _ names: String...) -> Bool {
    let typed = folded(typed)
    return !typed.isEmpty && names.contains { folded($0) == typed }
  }

  private static func folded(_ text: String) -> String {
    text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }
}

extension Texts {
  /// Of a word that the API may add to; its own where it is a new one.
  func word(_ known: [String: Word], _ word: String) -> String { known[word].map { self[$0] } ?? word }

  /// A time as paper shows it: exact, in UTC.
  func exact(_ time: String) -> String { time.prefix(16).replacing("T", with: " ") + " UTC" }
}
