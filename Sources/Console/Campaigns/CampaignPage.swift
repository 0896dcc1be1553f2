import Domain
import HTTPServer
import Store

extension Console {
  private static let confirmField = "confirm"
  private static let wrongName = "wrong"

  /// One campaign, live while it is sent.
  func campaign(_ id: String, _ visitor: Visitor) async -> HTTPServerResponse {
    let texts = visitor.texts
    let confirmationFailed = visitor.visit.query(Self.confirmField) == Self.wrongName
    let report: JSONValue
    switch await visitor.get("v1", "messages", id) {
    case .failure(let problem): return refusal(problem, visitor, section: .campaigns)
    case .success(let found): report = found
    }
    let campaign = Campaign(report)
    let live = campaign.isOver ? nil : 2
    return Frame.page(visitor, title: campaign.title(texts), section: .campaigns) { html in
      html.crumbs([(texts[.campaigns], Link("campaigns"))], campaign.title(texts), texts)
      html.head(campaign.title(texts), texts, isLive: live != nil)
      if confirmationFailed {
        html.element("section", [.class("errors"), .set(.role, "alert"), .set(.tabIndex, "-1")]) { html in
          html.element("p") { $0.element("a", [.href(Link(fragment: "confirm"))], texts[.cancelWrong]) }
        }
      }
      html.section("progress", texts[.progress], live: live) { html in
        if campaign.state == "paused" {
          html.element("p", [.class("notice"), .data(.state, "paused")], texts[.pausedNotice])
        }
        html.line(campaign, texts, isLink: false)
        html.funnel(campaign, texts, height: 32)
      }
      html.element("div", [.class("columns")]) { html in
        html.element("div") { html in
          outcomes(of: campaign, texts, live, &html)
          reasons(of: campaign, texts, live, &html)
        }
        html.element("div") { html in
          facts(of: campaign, texts, live, &html)
          if visitor.may(.send), !campaign.isOver { control(of: campaign, visitor, confirmationFailed, &html) }
        }
      }
    }
  }

  private func outcomes(of campaign: Campaign, _ texts: Texts, _ live: Int?, _ html: inout HTML) {
    html.section("funnel", texts[.funnel], live: live) { html in
      html.table(
        labelledBy: "funnel-heading", [(texts[.outcome], false), (texts[.count], true), (texts[.share], true)]
      ) { html in
        for (part, count) in campaign.parts {
          html.element("tr") { html in
            html.element("th", [.set(.scope, "row"), .data(.part, part.style)], texts[part.word])
            html.number(texts.number(count))
            html.number(texts.percent(count, of: campaign.targets))
          }
        }
      }
      if campaign.retrying > 0 {
        html.element("p", [.class("quiet")], texts.number(campaign.retrying) + " " + texts[.outcomeRetrying])
      }
      if campaign.blocked > 0 {
        html.element("p", [.class("quiet")], texts.number(campaign.blocked) + " " + texts[.outcomeBlocked])
      }
    }
  }

  private func reasons(of campaign: Campaign, _ texts: Texts, _ live: Int?, _ html: inout HTML) {
    html.section("outcomes", texts[.outcomes], live: live) { html in
      guard !campaign.counts.isEmpty else { return html.element("p", [.class("empty")], texts[.noOutcomes]) }
      html.table(
        labelledBy: "outcomes-heading",
        [
          (texts[.provider], false), (texts[.outcome], false), (texts[.reason], false), (texts[.count], true),
          (texts[.whatToDo], false),
        ]
      ) { html in
        for count in campaign.counts.sorted(by: { $0.count > $1.count }) {
          html.element("tr") { html in
            html.element("th", [.set(.scope, "row")], count.provider)
            html.element("td") { $0.state(count.outcome, texts) }
            html.element("td") { if !count.reason.isEmpty { $0.element("q", [.class("answer")], count.reason) } }
            html.number(texts.number(count.count))
            html.element("td", Campaign.Part(rawValue: count.outcome)?.fix.map { texts[$0] } ?? "")
          }
        }
      }
    }
  }

  private func facts(of campaign: Campaign, _ texts: Texts, _ live: Int?, _ html: inout HTML) {
    html.section("details", texts[.details], live: live == nil ? nil : 10) { html in
      html.element("dl", [.class("facts")]) { html in
        html.fact(texts[.kind], campaign.kind)
        if let audience = campaign.audience { html.fact(texts[.audience]) { $0.element("code", audience) } }
        html.fact(texts[.targets], texts.number(campaign.targets))
        html.fact(texts[.acceptedAt]) { $0.time(campaign.acceptedAt) }
        if let start = campaign.startsAt { html.fact(texts[.startsAt]) { $0.time(start) } }
        if let end = campaign.completedAt { html.fact(texts[.completedAt]) { $0.time(end) } }
        html.fact(texts[.duration], campaign.duration.map { texts.duration(milliseconds: $0) })
        html.fact("Id") { $0.element("code", campaign.id) }
      }
    }
  }

  private func control(of campaign: Campaign, _ visitor: Visitor, _ isWrong: Bool, _ html: inout HTML) {
    let texts = visitor.texts
    html.section("control", texts[.whatYouCanDo]) { html in
      let (act, word): (String, Word) = campaign.state == "paused" ? ("resume", .resume) : ("pause", .pause)
      html.element("div", [.class("actions")]) { html in
        Frame.form(visitor, Link("campaigns", campaign.id, act), &html) { $0.element("button", texts[word]) }
      }
      html.element("details", [.class("act"), .flag(.open, isWrong)]) { html in
        html.element("summary", texts[.cancel])
        Frame.form(visitor, Link("campaigns", campaign.id, "cancel"), &html) { html in
          let isKnown = campaign.left > 0
          html.element("p", isKnown ? texts(.cancelLead, texts.number(campaign.left)) : texts[.cancelUnknown])
          html.element("p", [.class("field")]) { html in
            html.element("label", [.set(.for, "confirm")], texts(.cancelName, campaign.confirmation))
            html.void(
              "input",
              [
                .id("confirm"), .set(.name, Self.confirmField), .set(.autocomplete, "off"), .set(.maxLength, "300"),
                .flag(.required), .set(.ariaInvalid, isWrong ? "true" : "false"),
              ])
          }
          html.element("p", [.class("actions")]) { $0.element("button", [.class("danger")], texts[.cancelButton]) }
        }
      }
    }
  }

  /// Pauses, resumes or cancels; then the page of the campaign shows what has become of it.
  func control(_ id: String, _ act: String, _ visitor: Visitor) async -> HTTPServerResponse {
    guard ["pause", "resume", "cancel"].contains(act) else { return refusal(404, .noSuchPage, visitor.visit) }
    if act == "cancel" {
      switch await visitor.get("v1", "messages", id) {
      case .failure(let problem): return refusal(problem, visitor, section: .campaigns)
      case .success(let report):
        guard visitor.visit.field(Self.confirmField) == Campaign(report).confirmation else {
          return redirect(Link(parts: ["campaigns", id], query: [(Self.confirmField, Self.wrongName)]))
        }
      }
    }
    switch await visitor.ask("POST", ["v1", "messages", id, act]) {
    case .failure(let problem): return refusal(problem, visitor, section: .campaigns)
    case .success: return redirect(Link("campaigns", id))
    }
  }
}
