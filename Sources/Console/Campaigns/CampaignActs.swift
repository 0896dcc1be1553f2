import Domain
import HTTPServer

/// What may be done with a campaign.
extension CampaignPages {
  /// Of the address of a replay that could not hold all.
  static let moreField = "more"

  func acts(_ campaign: Campaign, _ isWrong: Bool, live: Int?, _ html: inout HTML) {
    html.section("control", texts[.whatYouCanDo], live: live) { html in
      html.element("div", [.class("actions")]) { html in
        if !campaign.isOver {
          let (act, word): (String, Word) = campaign.state == "paused" ? ("resume", .resume) : ("pause", .pause)
          Frame.form(visitor, Link("campaigns", campaign.id, act), &html) { $0.element("button", texts[word]) }
        }
        Frame.form(visitor, Link("campaigns", campaign.id, "duplicate"), &html) { html in
          html.element("button", texts[.duplicate])
        }
      }
      if campaign.again > 0 { replay(campaign, &html) }
      if !campaign.isOver { cancel(campaign, isWrong, &html) }
    }
  }

  private func replay(_ campaign: Campaign, _ html: inout HTML) {
    html.element("details", [.id("replay")]) { html in
      html.element("summary", texts[.replay])
      Frame.form(visitor, Link("campaigns", campaign.id, "replay"), &html) { html in
        let counts = ["failed", "expired"].map { texts.number(campaign.outcomes[$0] ?? 0) }
        html.element("p", texts(.replayLead, counts[0], counts[1]))
        html.mark()
        html.element("p", [.class("actions")]) { html in
          html.element("button", [.class("primary")], texts(.replayButton, texts.number(campaign.again)))
        }
      }
    }
  }

  private func cancel(_ campaign: Campaign, _ isWrong: Bool, _ html: inout HTML) {
    let lead = campaign.left > 0 ? texts(.cancelLead, texts.number(campaign.left)) : texts[.cancelUnknown]
    html.destroy(
      visitor, "confirm", Link("campaigns", campaign.id, "cancel"), texts[.cancel], lead: lead,
      name: campaign.confirmation, or: campaign.id, button: texts[.cancelButton], isWrong: isWrong)
  }

  /// Nil: there is no such act.
  func act(_ path: ArraySlice<String>) async -> HTTPServerResponse? {
    guard path.count == 2, let id = path.first, let act = path.last else { return nil }
    switch act {
    case "pause", "resume": return await control(id, act)
    case "cancel":
      switch await visitor.get("v1", "messages", id) {
      case .failure(let problem): return console.refusal(problem, visitor, section: .campaigns)
      case .success(let report):
        guard Confirmation.holds(visit.field(Confirmation.field), Campaign(report).confirmation, id) else {
          return console.redirect(
            Link(parts: ["campaigns", id], query: [(Confirmation.field, Confirmation.wrong)]))
        }
      }
      return await control(id, act)
    case "replay": return await replay(id)
    case "duplicate":
      switch await visitor.ask("POST", ["v1", "messages", id, "duplicate"]) {
      case .failure(let problem): return await page(id, refused: problem)
      case .success(let draft): return console.redirect(Link("drafts", draft["id"]?.string ?? ""))
      }
    default: return nil
    }
  }

  /// Then the page of the campaign shows what has become of it.
  private func control(_ id: String, _ act: String) async -> HTTPServerResponse {
    switch await visitor.ask("POST", ["v1", "messages", id, act]) {
    case .failure(let problem): await page(id, refused: problem)
    case .success: console.redirect(Link("campaigns", id))
    }
  }

  /// Sends again to whom it failed or came too late. The form's mark is the idempotency key: a double click, a reload and
  /// the back button lead to the campaign that the first one made.
  private func replay(_ id: String) async -> HTTPServerResponse {
    guard let mark = Mark.given(visit) else { return console.refusal(403, .forgedForm, visit) }
    let key = Header("idempotency-key", "console-" + mark)
    switch await visitor.ask("POST", ["v1", "messages", id, "replay"], headers: [key]) {
    case .failure(let problem): return await page(id, refused: problem)
    case .success(let made):
      let more = made["next_after"]?.string == nil ? [] : [(name: Self.moreField, value: "1")]
      return console.redirect(Link(parts: ["campaigns", made["id"]?.string ?? id], query: more))
    }
  }
}
