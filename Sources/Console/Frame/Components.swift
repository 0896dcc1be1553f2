import Domain

/// Parts that several pages have.
extension HTML {
  /// A state by a shape and a word. `state`: the API's word.
  mutating func state(_ state: String, _ texts: Texts) {
    let (style, word): (String, Word?) =
      switch state {
      case "queued": ("waiting", .queued)
      case "scheduled": ("waiting", .scheduled)
      case "sending": ("running", .running)
      case "paused": ("paused", .paused)
      case "completed", "accepted": ("done", state == "completed" ? .completed : .outcomeAccepted)
      case "cancelled": ("cancelled", .cancelled)
      case "active": ("done", .active)
      case "disabled": ("paused", .disabled)
      case "dead": ("failed", .dead)
      case "failed": ("failed", .outcomeFailed)
      case "expired": ("failed", .outcomeExpired)
      case "superseded": ("cancelled", .outcomeSuperseded)
      case "skipped": ("cancelled", .outcomeSkipped)
      case "pending": ("waiting", .outcomePending)
      case "retrying": ("waiting", .outcomeRetrying)
      case "blocked": ("blocked", .outcomeBlocked)
      default: ("waiting", nil)
      }
    element("span", [.class("state"), .data(.state, style)], word.map { texts[$0] } ?? state)
  }

  /// What stands against sending, or that nothing does.
  mutating func reasons(_ reasons: [String], _ texts: Texts) {
    guard !reasons.isEmpty else { return element("p", texts[.healthReady]) }
    element("ul", [.class("todo")]) { html in
      for reason in reasons { html.todo(reason, texts) }
    }
  }

  /// One thing that somebody has to look at, in a list of those.
  mutating func todo(_ reason: String, _ texts: Texts) {
    element("li") { html in
      html.element("span", [.class("state"), .data(.state, "blocked")], texts[.attention])
      html.element("p") { $0.told(reason) }
    }
  }

  /// A time as the API writes it: in UTC, until the script of the page shows how long ago that is.
  mutating func time(_ text: String?) {
    guard let text, !text.isEmpty else { return self.text("–") }
    let shown = text.prefix(16).replacing("T", with: " ") + " UTC"
    element("time", [.set(.datetime, text), .data(.relative), .set(.title, text)], String(shown))
  }

  /// A campaign in one line that anybody understands.
  mutating func line(_ campaign: Campaign, _ texts: Texts, isLink: Bool) {
    element("p", [.class("line")]) { html in
      if isLink {
        html.element("a", [.href(campaign.link)], campaign.title(texts))
      } else {
        html.element("strong", campaign.title(texts))
      }
      html.text(" · " + texts(.lineDone, texts.number(campaign.final), texts.number(campaign.targets)))
      if let rate = campaign.rate, rate > 0, !campaign.isOver {
        html.text(" · " + texts(.lineRate, texts.number(rate)))
      }
      if let end = campaign.predictedEnd, !campaign.isOver {
        html.text(" · " + texts[.lineEnd] + " ")
        html.time(end)
      }
      if campaign.failed > 0 {
        html.text(" · " + texts(.lineFailed, texts.percent(campaign.failed, of: max(1, campaign.final))))
      }
      if campaign.state != "sending" {
        html.text(" · ")
        html.state(campaign.state, texts)
      }
    }
  }

  /// A bar whose parts are as wide as their share; what is not nothing can be seen.
  mutating func funnel(_ campaign: Campaign, _ texts: Texts, height: Int) {
    let (parts, width, least) = (campaign.parts, 1_000.0, 3.0)
    let whole = Double(max(1, parts.reduce(0) { $0 + $1.count }))
    var widths = parts.map { max(least, Double($0.count) * width / whole) }
    if let widest = widths.indices.max(by: { widths[$0] < widths[$1] }) {
      widths[widest] -= widths.reduce(0, +) - width
    }
    let told = parts.map { texts.number($0.count) + " " + texts[$0.part.word] }.joined(separator: ", ")
    element(
      "svg",
      [
        .class("funnel"), .set(.viewBox, "0 0 1000 \(height)"), .set(.preserveAspectRatio, "none"),
        .set(.height, "\(height)"), .set(.role, "img"), .set(.ariaLabel, told),
      ]
    ) { html in
      var x = 0.0
      for (part, width) in zip(parts, widths) {
        html.element(
          "rect",
          [
            .data(.part, part.part.style), .set(.x, Self.short(x)), .set(.y, "0"), .set(.width, Self.short(width)),
            .set(.height, "\(height)"),
          ], "")
        x += width
      }
    }
  }

  private static func short(_ value: Double) -> String { String((value * 100).rounded() / 100) }

  /// A table below a heading of the page.
  mutating func table(
    labelledBy id: String, _ columns: [(title: String, isNumber: Bool)], _ rows: (inout HTML) -> Void
  ) {
    element(
      "div",
      [.class("scroll"), .set(.role, "group"), .set(.ariaLabelledBy, id), .set(.tabIndex, "0")]
    ) { html in
      html.element("table", [.set(.ariaLabelledBy, id)]) { html in
        html.element("thead") { html in
          html.element("tr") { html in
            for column in columns {
              html.element(
                "th", [.set(.scope, "col")] + (column.isNumber ? [.class("number")] : []), column.title)
            }
          }
        }
        html.element("tbody", [], rows)
      }
    }
  }

  mutating func number(_ text: String) { element("td", [.class("number")], text) }

  /// The items of an answer; nil: there is none, and why is written.
  mutating func items(of answer: Result<JSONValue, ToldProblem>) -> [JSONValue]? {
    switch answer {
    case .success(let document): return document["items"]?.array ?? []
    case .failure(let problem):
      element("p", [.class("notice"), .data(.state, "failed")]) { $0.told(problem.detail) }
      return nil
    }
  }

  /// A section with a heading. `live`: seconds after which it is fetched again.
  mutating func section(_ id: String, _ title: String, live: Int? = nil, _ content: (inout HTML) -> Void) {
    let heading = id + "-heading"
    let refreshed: [Attribute] = live.map { [.data(.live, String($0))] } ?? []
    element("section", [.id(id), .set(.ariaLabelledBy, heading)] + refreshed) { html in
      html.element("h2", [.id(heading)], title)
      content(&html)
    }
  }

  /// A name and a value of a list of facts.
  mutating func fact(_ name: String, _ value: (inout HTML) -> Void) {
    element("div") { html in
      html.element("dt", name)
      html.element("dd", [], value)
    }
  }

  mutating func fact(_ name: String, _ value: String?) {
    guard let value, !value.isEmpty else { return }
    fact(name) { $0.text(value) }
  }

  mutating func tags(_ tags: [String], _ texts: Texts) {
    guard !tags.isEmpty else { return element("p", [.class("quiet")], texts[.noTags]) }
    element("ul", [.class("tags")]) { html in
      for tag in tags { html.element("li", tag) }
    }
  }

  /// The heading of a page whose parts are refreshed, and the button that stops that.
  mutating func head(_ title: String, _ texts: Texts, isLive: Bool, _ more: (inout HTML) -> Void = { _ in }) {
    element("div", [.class("head")]) { html in
      html.element("h1", title)
      more(&html)
      guard isLive else { return }
      html.element("div", [.class("actions")]) { html in
        html.element(
          "span",
          [.class("live-state"), .data(.liveState), .data(.lost, texts[.liveLost]), .set(.role, "status")], "")
        html.element(
          "button",
          [.set(.type, "button"), .data(.liveToggle), .flag(.hidden), .set(.ariaPressed, "false")], texts[.livePause])
      }
    }
  }

  /// Where the page is.
  mutating func crumbs(_ way: [(String, Link)], _ here: String, _ texts: Texts) {
    element("nav", [.class("crumbs"), .set(.ariaLabel, texts[.whereYouAre])]) { html in
      html.element("ol") { html in
        for (word, link) in way { html.element("li") { $0.element("a", [.href(link)], word) } }
        html.element("li", [.set(.ariaCurrent, "page")], here)
      }
    }
  }

  /// Links to the next page of a list, and back to its first.
  mutating func pages(
    _ path: [String], _ kept: [(name: String, value: String)], _ cursor: String?, isFirst: Bool, _ texts: Texts
  ) {
    guard cursor != nil || !isFirst else { return }
    element("nav", [.class("pages"), .set(.ariaLabel, texts[.pages])]) { html in
      if let cursor {
        let next = Link(parts: path, query: kept + [("cursor", cursor)])
        html.element("a", [.class("button"), .set(.rel, "next"), .href(next)], texts[.nextPage])
      }
      if !isFirst { html.element("a", [.href(Link(parts: path, query: kept))], texts[.firstPage]) }
    }
  }
}
