import Domain

/// What became of one part of a campaign: of a provider, a platform or a variant.
struct CampaignResult {
  var name: String
  var outcomes: [String: Int] = [:]

  private func count(_ names: [String]) -> Int { names.reduce(0) { $0 &+ (outcomes[$1] ?? 0) } }
  var ended: Int { outcomes.values.reduce(0, &+) }
  var accepted: Int { count(["accepted"]) }
  var failed: Int { count(["failed", "expired"]) }
  var dead: Int { count(["dead"]) }
  /// What was left out, replaced or cancelled says nothing of the provider or the text.
  var tried: Int { accepted &+ failed &+ dead }
}

extension Campaign {
  /// By what `key` names, in the order of `first`, then by size.
  func results(by key: KeyPath<Count, String>, first: [String] = []) -> [CampaignResult] {
    var results = first.map { CampaignResult(name: $0) }
    for count in details {
      let name = count[keyPath: key]
      let place = results.firstIndex { $0.name == name } ?? results.endIndex
      if place == results.endIndex { results.append(CampaignResult(name: name)) }
      results[place].outcomes[count.outcome, default: 0] &+= count.count
    }
    let named = results.prefix(first.count)
    return named + results.dropFirst(first.count).sorted { $0.ended > $1.ended }
  }
}

/// Whether the variants of a campaign differ by more than chance. Pure: numbers in, a verdict out.
enum Significance: Equatable {
  /// Fewer than `least` outcomes somewhere: nothing can be said.
  case tooFew
  case mayBeChance
  /// The best differs from the second best; a difference of this size comes by chance in less than 5 of 100 campaigns.
  case better(best: Int, than: Int)

  /// Outcomes that each variant must have.
  static let least = 30
  /// Of the normal distribution: 95 % lie between this and its negative.
  private static let limit = 1.959_964
  /// Below that the normal distribution does not fit: a handful of devices would decide.
  private static let leastExpected = 5.0

  /// Compares the best rate with the second best by a two-proportion z-test, pooled and two-sided. With more than two
  /// variants that is stricter than 5 %: the two best of many lie nearer to each other than any two.
  static func of(_ variants: [(hits: Int, of: Int)]) -> Significance {
    guard variants.count > 1, variants.allSatisfy({ $0.of >= least && (0...$0.of).contains($0.hits) }) else {
      return .tooFew
    }
    let rates = variants.map { Double($0.hits) / Double($0.of) }
    let order = variants.indices.sorted { (rates[$0], -$0) > (rates[$1], -$1) }
    let (best, second) = (order[0], order[1])
    let sizes = (Double(variants[best].of), Double(variants[second].of))
    let pooled = (Double(variants[best].hits) + Double(variants[second].hits)) / (sizes.0 + sizes.1)
    let rarest = min(pooled, 1 - pooled) * min(sizes.0, sizes.1)
    guard rarest >= leastExpected else { return .mayBeChance }
    let variance = pooled * (1 - pooled) * (1 / sizes.0 + 1 / sizes.1)
    let difference = rates[best] - rates[second]
    return difference * difference > limit * limit * variance ? .better(best: best, than: second) : .mayBeChance
  }
}

/// What a campaign's page and its report show of its numbers.
enum CampaignParts {
  /// A table of rates, a line for each result. `isCompared`: with the rate that a verdict compares.
  private static func rates(
    _ id: String, _ title: Word, _ results: [CampaignResult], isCompared: Bool = false, _ texts: Texts,
    _ html: inout HTML
  ) {
    html.element("h3", [.id(id)], texts[title])
    html.table(
      labelledBy: id,
      [
        (texts[title], false), (texts[.resultsEnded], true), (texts[.rateAccepted], true), (texts[.rateFailed], true),
        (texts[.rateDead], true), (texts[.rateLeftOut], true),
      ] + (isCompared ? [(texts[.rateTried], true)] : [])
    ) { html in
      for result in results {
        html.element("tr") { html in
          html.element("th", [.set(.scope, "row")], result.name.isEmpty ? texts[.notTold] : result.name)
          html.number(texts.number(result.ended))
          html.number(texts.percent(result.accepted, of: result.ended))
          html.number(texts.percent(result.failed, of: result.ended))
          html.number(texts.percent(result.dead, of: result.ended))
          html.number(texts.percent(max(0, result.ended &- result.tried), of: result.ended))
          if isCompared { html.number(texts.percent(result.accepted, of: result.tried)) }
        }
      }
    }
  }

  /// All results of a campaign, and what the difference of its variants means.
  static func results(of campaign: Campaign, _ texts: Texts, _ html: inout HTML) {
    if campaign.details.isEmpty { return html.element("p", [.class("empty")], texts[.noOutcomes]) }
    if !campaign.variants.isEmpty {
      let variants = campaign.results(by: \.variant, first: campaign.variants)
      // One variant has nothing to be compared with.
      let isCompared = campaign.variants.count > 1
      rates("by-variant", .variant, variants, isCompared: isCompared, texts, &html)
      if isCompared {
        html.element("p", verdict(variants.prefix(campaign.variants.count), texts))
        if !campaign.isOver { html.element("p", [.class("quiet small")], texts[.verdictEarly]) }
      }
    }
    rates("by-provider", .provider, campaign.results(by: \.provider), texts, &html)
    rates("by-platform", .platform, campaign.results(by: \.platform), texts, &html)
    html.element("p", [.class("quiet small")], texts[.resultsLead])
  }

  /// In plain words.
  private static func verdict(_ variants: some Collection<CampaignResult>, _ texts: Texts) -> String {
    let variants = Array(variants)
    switch Significance.of(variants.map { ($0.accepted, $0.tried) }) {
    case .tooFew: return texts(.verdictTooFew, texts.number(Significance.least))
    case .mayBeChance: return texts[.verdictChance]
    case .better(let best, let other): return texts(.verdictBetter, variants[best].name, variants[other].name)
    }
  }

  /// How far a campaign came: to how many it was aimed, sent, and taken. Nothing is shown that nobody reports.
  static func reached(_ campaign: Campaign, _ texts: Texts, _ html: inout HTML) {
    html.element("dl", [.class("figures")]) { html in
      let accepted = campaign.outcomes["accepted"] ?? 0
      for (word, count) in [(Word.targets, campaign.targets), (.ended, campaign.final), (.takenByProvider, accepted)] {
        html.element("div") { html in
          html.element("dt", texts[word])
          html.element("dd", texts.number(count))
          if word != .targets { html.element("dd", texts.percent(count, of: campaign.targets)) }
        }
      }
    }
    html.element("p", [.class("quiet small")], texts[.reachedLead])
  }
}
