import Domain
import HTTPServer
import Store

/// The deliveries of a campaign, filtered by what stands in the address.
extension CampaignPages {
  private static let filters = ["state", "reason", "provider", "platform", "variant"]
  static let deliveryStates = [
    "pending", "sending", "retrying", "blocked", "accepted", "failed", "dead", "expired", "superseded", "cancelled",
    "skipped",
  ]

  /// The filters that the address names.
  static func kept(_ visit: Visit) -> [(name: String, value: String)] {
    filters.map { (name: $0, value: visit.query($0)) }.filter { !$0.value.isEmpty }
  }

  func deliveries(_ id: String) async -> HTTPServerResponse {
    let kept = Self.kept(visit)
    let campaign: Campaign
    switch await visitor.get("v1", "messages", id) {
    case .failure(let problem): return console.refusal(problem, visitor, section: .campaigns)
    case .success(let report): campaign = Campaign(report)
    }
    let answer = await visitor.get(
      "v1", "messages", id, "deliveries", query: kept + [("limit", "50"), ("cursor", visit.query("cursor"))])
    var status = 200
    if case .failure(let problem) = answer { status = problem.status }
    let title = texts(.deliveriesOf, campaign.title(texts))
    return Frame.page(visitor, title: title, section: .campaigns, status: status) { html in
      html.crumbs(
        [(texts[.campaigns], Link("campaigns")), (campaign.title(texts), campaign.link)], texts[.deliveries], texts)
      html.element("h1", title)
      if case .failure(let problem) = answer { html.refused(problem) }
      filter(campaign, &html)
      guard case .success(let page) = answer else { return }
      html.section("list", texts[.deliveries]) { html in
        table(page["items"]?.array ?? [], isPartial: page["next_cursor"]?.string != nil, &html)
        let later = Int(clamping: page["not_listed"]?["count"]?.integer ?? 0)
        if later > 0 { html.element("p", [.class("quiet")], texts(.deliveriesLater, texts.number(later))) }
        if visitor.may(.export) {
          html.element("p") { html in
            html.element(
              "a", [.href(Link(parts: ["campaigns", id, "deliveries.csv"], query: kept))], texts[.deliveriesCSV])
          }
        }
        html.pages(
          ["campaigns", id, "deliveries"], kept, page["next_cursor"]?.string, isFirst: visit.query("cursor").isEmpty,
          texts)
      }
    }
  }

  private func filter(_ campaign: Campaign, _ html: inout HTML) {
    let action = Link("campaigns", campaign.id, "deliveries")
    html.element(
      "form", [.class("filters"), .set(.method, "get"), .action(action), .set(.ariaLabel, texts[.filter])]
    ) { html in
      choice("state", .state, Self.deliveryStates, &html) { texts.word(DeliveryWords.all, $0) }
      choice("provider", .provider, Self.distinct(campaign.details.map(\.provider)), &html) { $0 }
      choice("platform", .platform, Self.distinct(campaign.details.map(\.platform)), &html) { $0 }
      if !campaign.variants.isEmpty { choice("variant", .variant, campaign.variants, &html) { $0 } }
      html.element("label") { html in
        html.text(texts[.reason] + " ")
        html.void(
          "input",
          [.set(.type, "search"), .set(.name, "reason"), .set(.value, visit.query("reason")), .set(.maxLength, "300")])
      }
      html.element("button", [.class("primary")], texts[.apply])
      html.element("a", [.class("button"), .href(action)], texts[.clear])
    }
  }

  private func choice(
    _ name: String, _ label: Word, _ values: [String], _ html: inout HTML, _ shown: (String) -> String
  ) {
    let chosen = visit.query(name)
    html.element("label") { html in
      html.text(texts[label] + " ")
      html.element("select", [.set(.name, name)]) { html in
        html.element("option", [.set(.value, "")], texts[.anyValue])
        // What the address says stays, whether there is such a one or not.
        for value in values + (chosen.isEmpty || values.contains(chosen) ? [] : [chosen]) {
          html.element("option", [.set(.value, value), .flag(.selected, value == chosen)], shown(value))
        }
      }
    }
  }

  private static func distinct(_ values: [String]) -> [String] { Set(values).subtracting([""]).sorted() }

  private func table(_ items: [JSONValue], isPartial: Bool, _ html: inout HTML) {
    guard !items.isEmpty else {
      return html.element("p", [.class("empty")], texts[isPartial ? .deliveriesGoOn : .deliveriesNone])
    }
    html.table(
      labelledBy: "list-heading",
      [
        (texts[.device], false), (texts[.state], false), (texts[.reason], false), (texts[.provider], false),
        (texts[.attempts], true), (texts[.when], false),
      ]
    ) { html in
      for item in items {
        html.element("tr") { html in
          html.element("th", [.set(.scope, "row")]) { html in
            if let device = item["device"]?.string {
              html.element("a", [.href(Link("devices", device))], device)
            } else {
              html.text(texts[.deviceDeleted])
            }
            if let user = item["user"]?.string { html.element("p", user) }
          }
          html.element("td") { $0.state(item["state"]?.string ?? "", texts) }
          html.element("td") { html in
            guard let reason = item["reason"]?.string else { return }
            if let known = ReasonTexts.of(reason) { html.text(texts[known.word]) }
            html.element("p") { $0.element("q", [.class("answer")], reason) }
          }
          let way = [item["provider"], item["platform"], item["variant"]].compactMap { $0?.string }
          html.element("td", way.joined(separator: " · "))
          let attempts = item["attempts"]?.array ?? []
          let omitted = Int(clamping: item["attempts_omitted"]?.integer ?? 0)
          html.number(item["latest_attempt_at"] == nil ? texts.number(attempts.count &+ omitted) : "–")
          html.element("td") { html in
            html.time(attempts.last?["attempted_at"]?.string ?? item["latest_attempt_at"]?.string)
          }
        }
      }
    }
  }
}

/// What states of deliveries are called.
enum DeliveryWords {
  static let all: [String: Word] = [
    "pending": .outcomePending, "sending": .running, "retrying": .outcomeRetrying, "blocked": .outcomeBlocked,
    "accepted": .outcomeAccepted, "failed": .outcomeFailed, "dead": .outcomeDead, "expired": .outcomeExpired,
    "superseded": .outcomeSuperseded, "cancelled": .outcomeCancelled, "skipped": .outcomeSkipped,
  ]
}
