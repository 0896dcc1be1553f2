import Domain
import Store
import Support
import Testing

@testable import Console

@Suite("What a campaign's numbers say")
struct CampaignResultTests {
  private func count(
    _ provider: String, _ outcome: String, _ count: Int64, platform: String = "ios", variant: String = "",
    reason: String = ""
  ) -> JSONValue {
    .object([
      JSONMember("provider", .string(provider)), JSONMember("outcome", .string(outcome)),
      JSONMember("platform", .string(platform)), JSONMember("variant", .string(variant)),
      JSONMember("reason", .string(reason)), JSONMember("count", .integer(count)),
    ])
  }

  private func campaign(_ counts: [JSONValue], variants: [String] = []) -> Campaign {
    Campaign(
      .object([
        JSONMember("counts", .array(counts)),
        JSONMember("variants", .array(variants.map { .object([JSONMember("name", .string($0))]) })),
      ]))
  }

  @Test("two variants differ only if chance makes such a difference in less than 5 of 100 campaigns")
  func significance() {
    // 120 of 1,000 and 90 of 1,000: z = 2.19. 110 and 90: z = 1.49.
    #expect(Significance.of([(90, 1_000), (120, 1_000)]) == .better(best: 1, than: 0))
    #expect(Significance.of([(120, 1_000), (90, 1_000)]) == .better(best: 0, than: 1))
    #expect(Significance.of([(110, 1_000), (90, 1_000)]) == .mayBeChance)
    #expect(Significance.of([(500, 1_000), (500, 1_000)]) == .mayBeChance)
    // Just below and just above 1.96: 543 and 544 of 1,000 against 500.
    #expect(Significance.of([(543, 1_000), (500, 1_000)]) == .mayBeChance)
    #expect(Significance.of([(544, 1_000), (500, 1_000)]) == .better(best: 0, than: 1))
    // Of three the best is compared with the second best.
    #expect(Significance.of([(10, 1_000), (500, 1_000), (510, 1_000)]) == .mayBeChance)
    #expect(Significance.of([(10, 1_000), (400, 1_000), (510, 1_000)]) == .better(best: 2, than: 1))
  }

  @Test("nothing is said of fewer than 30 outcomes, of one variant, or of numbers that cannot be")
  func tooFew() {
    #expect(Significance.of([]) == .tooFew && Significance.of([(50, 100)]) == .tooFew)
    #expect(Significance.of([(29, 29), (0, 1_000)]) == .tooFew)
    #expect(Significance.of([(30, 30), (15, 30)]) == .better(best: 0, than: 1))
    for wrong in [(-1, 100), (101, 100), (Int.max, Int.min)] {
      #expect(Significance.of([(50, 100), wrong]) == .tooFew)
    }
    // A handful of failures decides nothing; nor does a rate that all have.
    #expect(Significance.of([(1_000, 1_000), (996, 1_000)]) == .mayBeChance)
    #expect(Significance.of([(1_000, 1_000), (1_000, 1_000)]) == .mayBeChance)
    #expect(Significance.of([(0, 1_000), (0, 1_000)]) == .mayBeChance)
    #expect(Significance.of([(Int.max, .max), (0, .max)]) == .better(best: 0, than: 1))
  }

  @Test("chance alone is called a difference in about 5 of 100 campaigns, of three variants in fewer")
  func chance() {
    var random = Seeded(seed: 19)
    for (variants, most) in [(2, 0.08), (3, 0.08)] {
      var found = 0
      for _ in 0..<1_000 {
        let drawn = (0..<variants).map { _ in
          (hits: (0..<200).count { _ in Int.random(in: 0..<2, using: &random) == 0 }, of: 200)
        }
        if Significance.of(drawn) != .mayBeChance { found += 1 }
      }
      #expect(Double(found) / 1_000 < most, "\(variants) variants: \(found)")
    }
  }

  @Test("results are added up by provider, platform and variant; numbers beyond all bounds do not trap")
  func sums() {
    let campaign = campaign(
      [
        count("apns", "accepted", 60, variant: "B"), count("apns", "failed", 30, variant: "A", reason: "x"),
        count("fcm", "accepted", 5, platform: "android", variant: "A"), count("fcm", "expired", 1, variant: "A"),
        count("fcm", "skipped", 4, platform: "", variant: ""), count("fcm", "dead", 2, variant: "B"),
        count("webpush", "accepted", .max), count("webpush", "dead", .max), count("webpush", "failed", .min),
      ], variants: ["A", "B"])
    let providers = campaign.results(by: \.provider)
    #expect(Set(providers.map(\.name)) == ["apns", "fcm", "webpush"])
    let fcm = providers.first { $0.name == "fcm" }
    #expect(fcm?.ended == 12 && fcm?.tried == 8 && fcm?.accepted == 5 && fcm?.failed == 1 && fcm?.dead == 2)
    let variants = campaign.results(by: \.variant, first: campaign.variants)
    #expect(variants.prefix(2).map(\.name) == ["A", "B"] && variants[0].tried == 36 && variants[1].tried == 62)
    var html = HTML()
    CampaignParts.results(of: campaign, Texts.english, &html)
    CampaignParts.reached(campaign, Texts.german, &html)
    #expect(String(decoding: html.bytes, as: UTF8.self).contains("Too few yet") == false)
  }

  @Test("a verdict stands beside the rate that it compares, and one variant gets none")
  func verdicts() {
    let counts = [
      count("apns", "accepted", 30, variant: "A"), count("apns", "failed", 10, variant: "A"),
      count("apns", "skipped", 60, variant: "A"), count("apns", "accepted", 40, variant: "B"),
    ]
    func written(_ variants: [String]) -> String {
      var html = HTML()
      CampaignParts.results(of: campaign(counts, variants: variants), Texts.english, &html)
      return String(decoding: html.bytes, as: UTF8.self)
    }
    let (two, one) = (written(["A", "B"]), written(["A"]))
    #expect(two.contains(Texts.english[.rateTried]) && two.contains(">75.0 %<"), "\(two)")
    #expect(two.contains("chance alone") && !one.contains(Texts.english[.rateTried]))
    for word in [Word.verdictChance, .verdictEarly] { #expect(!one.contains(Texts.english[word])) }
    #expect(!one.contains("Too few"))
  }

  @Test("names and reasons that came from outside stay texts")
  func hostile() {
    let text = "</td><script>alert(1)</script>\"'&"
    let campaign = campaign(
      [count(text, text, 40, platform: text, variant: text, reason: text), count("b", "failed", 40, variant: "B")],
      variants: [text, "B"])
    for texts in Texts.all {
      var html = HTML()
      CampaignParts.results(of: campaign, texts, &html)
      CampaignParts.reasons(of: campaign, texts, isLinked: true, &html)
      html.line(campaign, texts, isLink: true)
      let written = String(decoding: html.bytes, as: UTF8.self)
      #expect(!written.contains("<script") && !written.contains("alert(1)</"), "\(written)")
      #expect(written.contains("&lt;script&gt;"))
    }
  }

  @Test("frequent reasons have words; the vendor's last answer behind them does not hide them; others have none")
  func reasons() {
    #expect(ReasonTexts.of("device_disabled")?.owner == .app)
    #expect(ReasonTexts.of("attempts_exhausted: ServiceUnavailable 503")?.word == .reasonAttemptsExhausted)
    #expect(ReasonTexts.of("") == nil && ReasonTexts.of("SomethingNew") == nil)
  }

  @Test("each state, kind and scope that the API knows has a word")
  func words() {
    let states = Set(DeliveryState.allCases.map(\.rawValue)).union(Outcome.allCases.map(\.rawValue))
    #expect(Set(CampaignPages.deliveryStates) == states && Set(DeliveryWords.all.keys) == states)
    #expect(Set(KindWords.all.keys) == Set(Kind.allCases.map(\.rawValue)))
  }
}
