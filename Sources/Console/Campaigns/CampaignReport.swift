import Domain
import HTTPServer
import Loop
import Store

/// A campaign as a page for paper: without controls, with the time of its making and the environment.
extension CampaignPages {
  func report(_ id: String) async -> HTTPServerResponse {
    let campaign: Campaign
    switch await visitor.get("v1", "messages", id) {
    case .failure(let problem): return console.refusal(problem, visitor, section: .campaigns)
    case .success(let report): campaign = Campaign(report)
    }
    return Frame.paper(visit, title: campaign.title(texts)) { html in
      html.element("h1", campaign.title(texts))
      let app = visitor.key.app.rawValue
      html.element(
        "p", [.class("quiet")], app + " · " + texts(.reportMade, texts.exact(console.loop.wallNow.rfc3339)))
      html.section("progress", texts[.progress]) { html in
        html.element("p", [.class("line")]) { html in
          html.text(texts(.lineDone, texts.number(campaign.final), texts.number(campaign.targets)))
          html.text(" · ")
          html.state(campaign.state, texts)
        }
        html.funnel(campaign, texts, height: 32)
        CampaignParts.reached(campaign, texts, &html)
      }
      html.section("results", texts[.results]) { CampaignParts.results(of: campaign, texts, &$0) }
      html.section("outcomes", texts[.outcomes]) { CampaignParts.reasons(of: campaign, texts, isLinked: false, &$0) }
      html.section("details", texts[.details]) { html in
        html.element("dl", [.class("facts")]) { html in
          facts(of: campaign, &html) { html, time in html.text(texts.exact(time)) }
        }
      }
      html.element("p", [.class("screen")]) { $0.element("a", [.href(campaign.link)], texts[.reportBack]) }
    }
  }
}
