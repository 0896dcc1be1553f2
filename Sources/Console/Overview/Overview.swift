import Domain
import HTTPServer
import Store

extension Console {
  /// Messages that are looked at: a filter by state would read all until it has found enough.
  private static let looked = 100
  private static let shown = 20

  /// What runs now, what needs somebody, and what ran last.
  func overview(_ visitor: Visitor) async -> HTTPServerResponse {
    // Who writes and may not look at results begins where they write.
    if !visitor.may(.read), visitor.mayWrite { return redirect(Link("drafts")) }
    let texts = visitor.texts
    let latest: [Campaign]
    switch await visitor.get("v1", "messages", query: [("limit", String(Self.looked))]) {
    case .failure(let problem): return refusal(problem, visitor, section: .overview)
    case .success(let page): latest = (page["items"]?.array ?? []).map(Campaign.init)
    }
    let working = latest.filter { ["queued", "sending", "paused"].contains($0.state) }
    // A message to a single device is no campaign.
    let over = latest.filter { $0.isOver && ($0.audience != nil || $0.targets > 1) }
    let health = HealthPanel(texts: texts)
    let readiness = await readiness(visitor)
    let status = await visitor.get("v1", "status")
    let activity = await visitor.get("v1", "activity")
    return Frame.page(visitor, title: texts[.overview], section: .overview) { html in
      html.head(texts[.overview], texts, isLive: true)
      html.section("needs", texts[.health], live: 10) { health.write(readiness, status, &$0) }
      html.section("running", texts[.runningNow], live: 2) { html in
        if working.isEmpty { html.element("p", [.class("empty")], texts[.nothingRuns]) }
        for campaign in working.prefix(Self.shown) {
          html.line(campaign, texts, isLink: true)
          html.funnel(campaign, texts, height: 16)
        }
        html.element("p") { html in
          html.element("a", [.href(Link(parts: ["campaigns"], query: [("state", "sending")]))], texts[.allRunning])
        }
      }
      health.write(activity: activity, &html)
      html.section("latest", texts[.latestCampaigns], live: 10) { html in
        Self.table(of: Array(over.prefix(Self.shown)), "latest-heading", texts, isFiltered: false, &html)
        html.element("p") { $0.element("a", [.href(Link("campaigns"))], texts[.allCampaigns]) }
      }
      health.write(credentials: status, &html)
      let gateway = GatewayPanel(texts: texts)
      if let workers = readiness["workers"]?.array, !workers.isEmpty { gateway.write(workers: workers, &html) }
      if case .success(let document) = status, let facts = document["redis"] { gateway.write(redis: facts, &html) }
    }
  }

  /// What `/readyz` tells, whether the gateway is ready or not.
  func readiness(_ visitor: Visitor) async -> JSONValue {
    switch await visitor.get("readyz") {
    case .success(let document): document
    case .failure(let problem): problem.document ?? .null
    }
  }

  /// Campaigns, a line each.
  static func table(of campaigns: [Campaign], _ heading: String, _ texts: Texts, isFiltered: Bool, _ html: inout HTML) {
    guard !campaigns.isEmpty else {
      html.element(
        "p", [.class("empty")],
        texts[isFiltered ? .noCampaigns : .noneYet] + " " + texts[isFiltered ? .noCampaignsFix : .noneYetFix])
      return
    }
    html.table(
      labelledBy: heading,
      [
        (texts[.name], false), (texts[.state], false), (texts[.targets], true), (texts[.takenShort], true),
        (texts[.failed], true), (texts[.acceptedAt], false),
      ]
    ) { html in
      for campaign in campaigns {
        html.element("tr") { html in
          html.element("th", [.set(.scope, "row")]) { html in
            html.element("a", [.href(campaign.link)], campaign.title(texts))
            if let audience = campaign.audience { html.element("p", [.class("quiet small")], audience) }
            let labels = campaign.labels.map { $0.key + ":" + $0.value }
            if !labels.isEmpty { html.element("p", [.class("quiet small")], labels.joined(separator: " · ")) }
          }
          html.element("td") { $0.state(campaign.state, texts) }
          html.number(texts.number(campaign.targets))
          html.number(texts.number(campaign.outcomes["accepted"] ?? 0))
          html.number(texts.percent(campaign.failed, of: max(1, campaign.final)))
          html.element("td") { $0.time(campaign.acceptedAt) }
        }
      }
    }
  }
}
