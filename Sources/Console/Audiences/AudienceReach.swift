import Domain

/// How many devices an expression selects, and what of them a message would be sent to now: as `POST /v1/audiences/count`
/// tells it, the one figure of reach.
enum AudienceReach {
  typealias Answer = Result<JSONValue, ToldProblem>

  static func ask(_ expression: String, _ visitor: Visitor) async -> Answer {
    await visitor.ask(
      "POST", ["v1", "audiences", "count"], body: .object([JSONMember("audience", .string(expression))]))
  }

  static func show(_ answer: Answer, of expression: String, _ texts: Texts, _ html: inout HTML) {
    switch answer {
    case .failure(let problem): refused(problem, expression, texts, &html)
    case .success(let count): show(count, texts, &html)
    }
  }

  private static func refused(_ problem: ToldProblem, _ expression: String, _ texts: Texts, _ html: inout HTML) {
    html.element("div", [.class("notice"), .data(.state, "failed"), .set(.role, "alert")]) { html in
      let violations = (problem.document?["violations"]?.array ?? []).prefix(20)
      guard !violations.isEmpty else { return html.element("p") { $0.told(problem.detail) } }
      for violation in violations {
        html.element("p") { $0.told(violation["detail"]?.string ?? problem.detail) }
        if let column = violation["column"]?.integer {
          ExpressionFault.show(expression, Int(clamping: column), &html)
        }
      }
    }
  }

  private static func number(_ value: JSONValue?) -> Int { Int(clamping: value?.integer ?? 0) }

  private static func show(_ count: JSONValue, _ texts: Texts, _ html: inout HTML) {
    let forecast = count["forecast"] ?? .null
    line(forecast, texts, &html)
    for warning in (count["warnings"]?.array ?? []).prefix(20) {
      html.element("p", [.class("notice"), .data(.state, "waiting")]) { $0.told(warning["detail"]?.string ?? "") }
    }
    table(of: forecast, texts, &html)
    html.element("div", [.class("columns")]) { html in
      html.element("div") { html in
        parts(count["by_provider"], "provider", texts[.provider], texts[.reachByProvider], texts, &html)
      }
      html.element("div") { html in
        parts(count["by_platform"], "platform", texts[.platform], texts[.reachByPlatform], texts, &html)
      }
    }
    if let canonical = count["audience"]?.string {
      html.element("p", [.class("quiet small")]) { html in
        html.text(texts[.asRead] + " ")
        html.element("code", canonical)
      }
    }
  }

  /// The figure in one sentence.
  static func line(_ forecast: JSONValue, _ texts: Texts, _ html: inout HTML) {
    html.element("p", [.class("line")]) { html in
      html.element("strong", texts.counted(number(forecast["would_be_sent"]), .reachLineOne, .reachLine))
      html.text(" " + texts(.reachOf, texts.number(number(forecast["device_count"]))))
    }
  }

  /// From all devices to those who would get it, so that the rows add up.
  static func table(of forecast: JSONValue, _ texts: Texts, _ html: inout HTML) {
    html.element("table") { html in
      html.element("caption", texts[.reachCaption])
      html.element("thead") { html in
        html.element("tr") { html in
          html.element("th", [.set(.scope, "col")], texts[.reachWhat])
          html.element("th", [.set(.scope, "col"), .class("number")], texts[.count])
        }
      }
      html.element("tbody") { html in
        row(texts[.reachTotal], number(forecast["device_count"]), texts, &html)
        for excluded in (forecast["excluded"]?.array ?? []).prefix(40) {
          row(texts[.reachLeftOut], -number(excluded["count"]), texts, &html, excluded)
        }
      }
      html.element("tfoot") { html in row(texts[.reachSent], number(forecast["would_be_sent"]), texts, &html) }
    }
    if forecast["estimated"] == .bool(true) {
      html.element("p", [.class("quiet")], texts(.reachEstimated, texts.number(number(forecast["sample_size"]))))
    }
  }

  /// `excluded`: why they are left out, in the page's words where it has some, and the API's word.
  private static func row(
    _ title: String, _ count: Int, _ texts: Texts, _ html: inout HTML, _ excluded: JSONValue? = nil
  ) {
    html.element("tr") { html in
      html.element("th", [.set(.scope, "row")]) { html in
        html.text(title)
        guard let excluded, let reason = excluded["reason"]?.string else { return }
        html.element("p") { html in
          if let known = ReasonTexts.of(reason) {
            html.text(texts[known.word])
          } else {
            html.told(excluded["detail"]?.string ?? "")
          }
          html.text(" ")
          html.element("q", [.class("answer")], reason)
        }
      }
      html.number(texts.number(count))
    }
  }

  static func parts(
    _ list: JSONValue?, _ member: String, _ title: String, _ caption: String, _ texts: Texts, _ html: inout HTML
  ) {
    let rows = list?.array ?? []
    guard !rows.isEmpty else { return }
    html.element("table") { html in
      html.element("caption", caption)
      html.element("thead") { html in
        html.element("tr") { html in
          html.element("th", [.set(.scope, "col")], title)
          html.element("th", [.set(.scope, "col"), .class("number")], texts[.count])
        }
      }
      html.element("tbody") { html in
        for row in rows {
          html.element("tr") { html in
            html.element("th", [.set(.scope, "row")], row[member]?.string ?? texts[.platformUntold])
            html.number(texts.number(number(row["count"])))
          }
        }
      }
    }
  }
}

/// Where an expression is wrong.
enum ExpressionFault {
  private static let around = 40

  /// The text near the column, and a mark below it.
  static func show(_ expression: String, _ column: Int, _ html: inout HTML) {
    guard let lines = lines(expression, column) else { return }
    html.element("pre") { html in
      html.element("code", lines.text + "\n" + lines.mark)
    }
  }

  /// `column`: from 1, in characters as editors count. Nil: it is none of the expression, nor the one behind it.
  static func lines(_ expression: String, _ column: Int) -> (text: String, mark: String)? {
    let scalars = Array(expression.unicodeScalars)
    guard (1...scalars.count + 1).contains(column) else { return nil }
    let place = column - 1
    let start = max(0, place - around)
    let part = scalars[start..<min(scalars.count, place + around)].map { $0.value < 32 ? " " : $0 }
    let text = String(String.UnicodeScalarView(part))
    let isCut = start > 0
    return ((isCut ? "…" : "") + text, String(repeating: " ", count: place - start + (isCut ? 1 : 0)) + "^")
  }
}
