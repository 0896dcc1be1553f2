import Domain
import HTTPServer
import Store

/// The pages of one campaign.
struct CampaignPages: PageSet {
  let console: Console
  let visitor: Visitor

  /// `path`: behind `campaigns`, with an id at least. Nil: there is no such page.
  func view(_ path: ArraySlice<String>) async -> HTTPServerResponse? {
    guard let id = path.first, path.count <= 2 else { return nil }
    return switch path.dropFirst().first {
    case nil: await page(id)
    case "deliveries": await deliveries(id)
    case "deliveries.csv":
      await console.download(
        ["v1", "messages", id, "deliveries"], query: [("format", "csv")] + Self.kept(visit),
        filename: "deliveries-\(id).csv", visitor, section: .campaigns)
    case "report": await report(id)
    default: nil
    }
  }

  /// One campaign, live while it is sent. `refused`: what was asked for and not done.
  func page(_ id: String, refused: ToldProblem? = nil) async -> HTTPServerResponse {
    let report: JSONValue
    switch await visitor.get("v1", "messages", id) {
    case .failure(let problem): return console.refusal(problem, visitor, section: .campaigns)
    case .success(let found): report = found
    }
    let campaign = Campaign(report)
    let isWrong = visit.query(Confirmation.field) == Confirmation.wrong
    let live = campaign.isOver ? nil : 2
    let page = Frame.page(
      visitor, title: campaign.title(texts), section: .campaigns, status: refused?.status ?? 200,
      // What answers a form stands at the address of the act, which cannot be fetched.
      liveFrom: refused.map { _ in campaign.link }
    ) { html in
      html.crumbs([(texts[.campaigns], Link("campaigns"))], campaign.title(texts), texts)
      html.head(campaign.title(texts), texts, isLive: live != nil)
      if let refused { html.refused(refused) }
      if isWrong { html.wrongName(texts[.cancelWrong]) }
      if let parent = campaign.replayOf, visit.query(Self.moreField) == "1" {
        html.element("p", [.class("notice"), .data(.state, "waiting"), .set(.role, "status")]) { html in
          html.element("a", [.href(Link("campaigns", parent))], texts[.replayMore])
        }
      }
      html.section("progress", texts[.progress], live: live) { html in
        if campaign.state == "paused" {
          let isBrake = campaign.pausedReason == "error_brake"
          html.element(
            "p", [.class("notice"), .data(.state, "paused")], texts[isBrake ? .pausedByBrake : .pausedNotice])
        }
        html.line(campaign, texts, isLink: false)
        html.funnel(campaign, texts, height: 32)
      }
      html.element("div", [.class("columns")]) { html in
        html.element("div") { html in
          outcomes(of: campaign, live, &html)
          html.section("results", texts[.results], live: live.map { _ in 5 }) {
            CampaignParts.results(of: campaign, texts, &$0)
          }
          html.section("outcomes", texts[.outcomes], live: live) { html in
            CampaignParts.reasons(of: campaign, texts, isLinked: true, &html)
          }
        }
        html.element("div") { html in
          html.section("details", texts[.details], live: live.map { _ in 10 }) { html in
            html.element("dl", [.class("facts")]) { html in
              facts(of: campaign, &html) { html, time in html.time(time) }
              related(campaign, &html)
            }
          }
          links(campaign, &html)
          if visitor.may(.send) { acts(campaign, isWrong, live: live.map { _ in 5 }, &html) }
        }
      }
    }
    return page.adding(refused?.again ?? [])
  }

  private func outcomes(of campaign: Campaign, _ live: Int?, _ html: inout HTML) {
    html.section("funnel", texts[.funnel], live: live) { html in
      CampaignParts.reached(campaign, texts, &html)
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

  /// `time`: writes one.
  func facts(of campaign: Campaign, _ html: inout HTML, _ time: (inout HTML, String) -> Void) {
    html.fact(texts[.kind], texts.word(KindWords.all, campaign.kind))
    if let audience = campaign.audience { html.fact(texts[.audience]) { $0.element("code", audience) } }
    html.fact(texts[.targets], texts.number(campaign.targets))
    let times = [
      (Word.acceptedAt, campaign.acceptedAt), (.startsAt, campaign.startsAt), (.completedAt, campaign.completedAt),
    ]
    for case (let word, let at?) in times { html.fact(texts[word]) { time(&$0, at) } }
    html.fact(texts[.duration], campaign.duration.map { texts.duration(milliseconds: $0) })
    if !campaign.labels.isEmpty {
      html.fact(texts[.labels]) { html in
        html.element("ul", [.class("tags")]) { html in
          for (key, value) in campaign.labels {
            html.element("li") { html in
              let label = key + ":" + value
              html.element("a", [.href(Link(parts: ["campaigns"], query: [("label", label)]))], label)
            }
          }
        }
      }
    }
    html.fact("Id") { $0.element("code", campaign.id) }
  }

  /// Where it came from, and what became of it.
  private func related(_ campaign: Campaign, _ html: inout HTML) {
    if let parent = campaign.replayOf {
      html.fact(texts[.replayOf]) { $0.element("a", [.href(Link("campaigns", parent))], parent) }
    }
    if let draft = campaign.draftOf { html.fact(texts[.draftOf]) { $0.element("code", draft) } }
    guard !campaign.replayedBy.isEmpty else { return }
    html.fact(texts[.replayedBy]) { html in
      for id in campaign.replayedBy {
        html.element("p") { $0.element("a", [.href(Link("campaigns", id))], id) }
      }
    }
  }

  private func links(_ campaign: Campaign, _ html: inout HTML) {
    html.section("look", texts[.lookCloser]) { html in
      html.element("p") { html in
        html.element("a", [.href(Link("campaigns", campaign.id, "deliveries"))], texts[.allDeliveries])
      }
      html.element("p") { html in
        html.element("a", [.href(Link("campaigns", campaign.id, "report"))], texts[.report])
      }
      guard visitor.may(.export) else { return }
      html.element("p") { html in
        html.element("a", [.href(Link("campaigns", campaign.id, "deliveries.csv"))], texts[.deliveriesCSV])
      }
    }
  }
}

/// What kinds of messages are called.
enum KindWords {
  static let all: [String: Word] = [
    "alert": .kindAlert, "background": .kindBackground, "live_activity": .kindLiveActivity, "voip": .kindVoIP,
    "location": .kindLocation, "complication": .kindComplication, "file_provider": .kindFileProvider, "mdm": .kindMDM,
    "push_to_talk": .kindPushToTalk, "widgets": .kindWidgets, "controls": .kindControls,
  ]
}
