import Domain

/// The form that says what the columns of a file are.
struct ImportForm {
  let texts: Texts
  let preview: ImportFile.Preview
  let mapping: ImportMapping

  private static let examples = 3

  func columns(_ html: inout HTML) {
    html.section("columns", texts[.importColumns]) { html in
      html.table(
        labelledBy: "columns-heading",
        [(texts[.importColumn], false), (texts[.importField], false), (texts[.importExamples], false)]
      ) { html in
        for (at, column) in preview.columns.enumerated() {
          let id = ImportMapping.name(ofColumn: at)
          html.element("tr") { html in
            html.element("th", [.set(.scope, "row")]) { html in
              html.element("label", [.set(.for, id)], column.isEmpty ? "–" : column)
              if let fault = ImportMapping.fault(of: column) {
                html.element("p", [.class("quiet small"), .id(id + "-hint")], texts[fault])
              }
            }
            html.element("td") { choice(of: column, at, id, &$0) }
            let examples = preview.rows.compactMap { $0.indices.contains(at) && !$0[at].isEmpty ? $0[at] : nil }
            html.element("td", [.class("quiet")], examples.prefix(Self.examples).joined(separator: " · "))
          }
        }
      }
      html.element("p", [.class("field")]) { html in
        html.element("label", [.set(.for, "provider")], texts[.importProvider])
        html.element("span", [.class("hint"), .id("provider-hint")], texts[.importProviderHint])
        html.element(
          "select", [.id("provider"), .set(.name, "provider"), .set(.ariaDescribedBy, "provider-hint")]
        ) { html in
          for provider in [""] + ImportMapping.providers {
            html.element(
              "option", [.set(.value, provider), .flag(.selected, provider == mapping.provider)],
              provider.isEmpty ? texts[.importEachRow] : provider)
          }
        }
      }
    }
  }

  private func choice(of column: String, _ at: Int, _ id: String, _ html: inout HTML) {
    let chosen = mapping.choices.indices.contains(at) ? mapping.choices[at] : ImportMapping.ignored
    let described = ImportMapping.fault(of: column).map { _ in [Attribute.set(.ariaDescribedBy, id + "-hint")] } ?? []
    html.element("select", [.id(id), .set(.name, id)] + described) { html in
      for option in ImportMapping.options(for: column) {
        let name =
          switch option {
          case ImportMapping.ignored: texts[.importIgnored]
          case ImportMapping.attribute: texts[.importAttribute]
          case ImportMapping.own: ImportMapping.ownField(of: column) ?? option
          default: option
          }
        html.element("option", [.set(.value, option), .flag(.selected, option == chosen)], name)
      }
    }
  }

  func keeping(_ html: inout HTML) {
    html.element("p", [.class("field")]) { html in
      html.void(
        "input",
        [
          .id("keep"), .set(.name, "keep"), .set(.type, "checkbox"), .set(.value, "true"),
          .flag(.checked, mapping.keepsMissing), .set(.ariaDescribedBy, "keep-hint"),
        ])
      html.element("label", [.class("beside"), .set(.for, "keep")], texts[.importKeep])
      html.element("span", [.class("hint"), .id("keep-hint")], texts[.importKeepHint])
    }
  }
}

/// What became of a file, or what would.
struct ImportResult {
  let texts: Texts
  let report: ImportReport

  private static let shownRejects = 20

  func figures(_ html: inout HTML) {
    let words: [(String, Word)] = [
      ("created", .importCreated), ("updated", .importUpdated), ("revived", .importRevived), ("moved", .importMoved),
      ("skipped", .importSkipped), ("stays_disabled", .importStaysDisabled), ("enabled_again", .importEnabledAgain),
    ]
    html.element("dl", [.class("figures")]) { html in
      figure(texts[.importLines], report.lines, &html)
      for (kind, word) in words where kind == "created" || kind == "updated" || report.counts[kind, default: 0] > 0 {
        figure(texts[word], report.counts[kind, default: 0], &html)
      }
      figure(texts[.importRefusedLines], report.refused, &html)
    }
  }

  private func figure(_ title: String, _ count: Int, _ html: inout HTML) {
    html.element("div") { html in
      html.element("dt", title)
      html.element("dd", texts.number(count))
    }
  }

  func refusals(_ file: Link, _ html: inout HTML) {
    html.section("reasons", texts[.importReasons]) { html in
      html.table(
        labelledBy: "reasons-heading",
        [(texts[.reason], false), (texts[.importFirstLine], true), (texts[.importLines], true)]
      ) { html in
        for reason in report.reasons.sorted(by: { $0.count > $1.count }) {
          html.element("tr") { html in
            html.element("th", [.set(.scope, "row")]) { $0.told(reason.detail) }
            html.number(texts.number(reason.line))
            html.number(texts.number(reason.count))
          }
        }
      }
    }
    html.section("rejects", texts[.importRejects]) { html in
      html.table(
        labelledBy: "rejects-heading",
        [(texts[.importLine], true), (texts[.reason], false), (texts[.importOriginal], false)]
      ) { html in
        for reject in report.rejects.prefix(Self.shownRejects) {
          html.element("tr") { html in
            html.element("th", [.set(.scope, "row"), .class("number")], texts.number(reject.line))
            html.element("td") { $0.told(reject.reason) }
            html.element("td") { $0.element("code", String(reject.text.prefix(200))) }
          }
        }
      }
      if report.refused > report.rejects.count {
        html.element(
          "p", [.class("quiet")],
          texts(.importRejectsKept, texts.number(report.rejects.count), texts.number(report.refused)))
      }
      html.element("p", [.class("actions")]) {
        $0.element("a", [.class("button"), .href(file)], texts[.importRejectsFile])
      }
    }
  }
}
