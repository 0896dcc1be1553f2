/// Writes the fields of a form, each with its label, its hint and what is wrong with it.
struct FormFields {
  let texts: Texts
  /// By name of the field.
  let faults: [String: String]

  init(_ texts: Texts, _ faults: [FieldFault] = []) {
    self.texts = texts
    self.faults = Dictionary(faults.map { ($0.field, $0.text) }, uniquingKeysWith: { first, _ in first })
  }

  struct Field {
    var name: String
    var label: String
    var value: String
    /// Nil: it is among the attributes, or a text.
    var type: String? = "text"
    /// Of the paragraph around it.
    var style = "field"
    var hint: String?
    var attributes: [Attribute] = []

    /// In the page; nil: the name with dashes, as a style sheet and a script would read dots as something else.
    var ownID: String?
    var id: String { ownID ?? name.replacing(".", with: "-") }
  }

  func input(_ field: Field, _ html: inout HTML) { Self.input(field, faults[field.name], &html) }

  static func input(_ field: Field, _ fault: String?, _ html: inout HTML) {
    paragraph(field, fault, &html) { html, own in
      let type: [Attribute] = field.type.map { [.set(.type, $0)] } ?? []
      html.void("input", own + type + [.set(.value, field.value)] + field.attributes)
    }
  }

  func area(_ field: Field, rows: Int, _ html: inout HTML) {
    Self.paragraph(field, faults[field.name], &html) { html, own in
      html.element("textarea", own + [.set(.rows, String(rows))] + field.attributes) { html in
        // The parser drops the first line end behind the tag, and would take one of the text.
        html.text("\n" + field.value)
      }
    }
  }

  /// A value that is none of the options is one more, so that it is not lost.
  func select(_ field: Field, _ options: [(value: String, label: String)], _ html: inout HTML) {
    let isKnown = options.contains { $0.value == field.value }
    Self.paragraph(field, faults[field.name], &html) { html, own in
      html.element("select", own + field.attributes) { html in
        for option in options + (isKnown ? [] : [(field.value, field.value)]) {
          html.element(
            "option", [.set(.value, option.value), .flag(.selected, option.value == field.value)], option.label)
        }
      }
    }
  }

  private static func paragraph(
    _ field: Field, _ fault: String?, _ html: inout HTML, _ content: (inout HTML, [Attribute]) -> Void
  ) {
    html.element("p", [.class(field.style)]) { html in
      html.element("label", [.set(.for, field.id)], field.label)
      var described: [String] = []
      if let hint = field.hint {
        described.append(field.id + "-hint")
        html.element("span", [.class("hint"), .id(field.id + "-hint")], hint)
      }
      if let fault {
        described.append(field.id + "-error")
        html.element("span", [.class("error"), .id(field.id + "-error")]) { $0.told(fault) }
      }
      var own: [Attribute] = [.id(field.id), .set(.name, field.name)]
      if !described.isEmpty { own.append(.set(.ariaDescribedBy, described.joined(separator: " "))) }
      if fault != nil { own.append(.set(.ariaInvalid, "true")) }
      content(&html, own)
    }
  }

  /// What is wrong, on top of the page, with links to the fields.
  func summary(_ faults: [FieldFault], _ html: inout HTML) {
    guard !faults.isEmpty else { return }
    html.element(
      "section",
      [.class("errors"), .set(.tabIndex, "-1"), .flag(.autofocus), .set(.ariaLabelledBy, "errors-heading")]
    ) { html in
      html.element(
        "h2", [.id("errors-heading")],
        faults.count == 1 ? texts[.oneFault] : texts(.manyFaults, texts.number(faults.count)))
      html.element("ul") { html in
        for fault in faults {
          html.element("li") { html in
            if fault.field.isEmpty {
              html.told(fault.text)
            } else {
              html.element("a", [.href(Link(field: fault.field.replacing(".", with: "-")))]) { $0.told(fault.text) }
            }
          }
        }
      }
    }
  }
}
