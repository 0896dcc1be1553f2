import Audience
import Domain
import Support
import Testing

@Suite("An expression says whom it means")
struct GrammarTests {
  @Test(
    "the canonical form shows what was understood",
    arguments: [
      ("plan:pro && (lang:de || lang:fr) && !churned", "(plan:pro && (lang:de || lang:fr) && !churned)"),
      ("a || b && c", "(a || (b && c))"), ("not a and b or c", "((!a && b) || c)"), ("!!a", "!!a"),
      ("( ( a ) )", "a"), ("\"plan:pro\"", "plan:pro"), ("plan:*", "plan:*"), ("\"plan:*\"", "\"plan:*\""),
      ("city:\"New York\"", "\"city:New York\""), ("\"first name\":*", "\"first name\":*"),
      ("\"lang:de\"", "\"lang:de\""), ("lang:de-AT", "lang:de-at"), ("provider:APNS", "provider:apns"),
      ("seen:<30d\n&& seen:>7D", "(seen:<30d && seen:>7d)"), ("app_version:>=2.1", "app_version:>=2.1"),
      ("app_version:\"2.1 (451)\"", "app_version:\"2.1 (451)\""), ("tz:Europe/Vienna", "tz:Europe/Vienna"),
      ("audience:win-back", "audience:win-back"), ("lang:*", "lang:*"), ("everyone", "everyone"),
      ("\"everyone\"", "\"everyone\""), ("a&&b||!(c)", "((a && b) || !c)"), ("größe:xl", "größe:xl"),
      ("https://x.example/a", "https://x.example/a"),
    ])
  func canonical(_ text: String, _ canonical: String) throws {
    let tree = try AudienceExpression(parsing: text)
    #expect(tree.canonical == canonical)
    #expect(try AudienceExpression(parsing: canonical) == tree)
  }

  @Test("the canonical form of any tree reads back as that tree")
  func roundTrip() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = Seeded(seed: seed)
    for _ in 0..<3_000 {
      let tree = RandomTrees.tree(&random)
      guard tree.termCount <= AudienceExpression.maximumTerms else { continue }
      let text = tree.canonical
      let again = try AudienceExpression(parsing: text)
      #expect(again == tree, "seed \(seed): \(text)")
      #expect(again.canonical.utf8.elementsEqual(text.utf8), "seed \(seed)")
    }
  }

  @Test(
    "a fault names column and remedy",
    arguments: [
      ("", 1, nil), ("plan=pro", 5, "plan:pro"), ("plan!=pro", 5, "!plan:pro"), ("a && plan==pro", 10, "plan:pro"),
      ("a And b", 3, "and"), ("Not a", 1, "not"), ("a & b", 3, "&&"), ("a | b", 3, "||"), ("\"plan:pro", 1, nil),
      ("(a && b", 1, nil), ("a && b)", 7, nil), ("a &&", 5, nil), ("&& a", 1, nil), ("a b", 3, nil), ("()", 2, nil),
      ("plan:", 1, "plan:*"), ("a && lang:", 6, nil), ("seen:30", 6, "seen:<30d"), ("seen:<30", 6, "seen:<30d"),
      ("seen:<2w", 6, "seen:<14d"), ("seen:>=30d", 6, "seen:>30d"), ("seen:soon", 6, nil),
      ("provider:apn", 10, "provider:apns"), ("ü && provider:apn", 15, "provider:apns"),
      ("lang:de_AT", 6, "lang:de-at"), ("tz:Vienna", 4, "tz:Europe/Vienna"),
      ("tz:europe/vienna", 4, "tz:Europe/Vienna"),
      ("app_version:=>2", 13, "app_version:>=2"), ("version>=2.1", 8, "app_version:>=2.1"),
      ("last_seen:<30d", 11, "seen:<30d"), ("Lang:de", 1, "lang:"), ("*", 1, "everyone"), ("plan:p*", 7, "plan:*"),
      ("a, b", 2, "a ||"), ("“plan:pro”", 1, "\"plan:pro\""), ("'a'", 1, "\"a\""), ("a\u{200b}b", 2, nil),
      ("provider:*", 1, "everyone"), ("\"plan\":pro", 1, "\"plan:pro\""), ("\"a\nb\"", 3, nil), ("\"\"", 1, nil),
      ("audience:a/b", 1, nil), ("\" a\"", 1, nil), ("app_version:>=dev", 15, nil), ("\"a\\nb\"", 3, "\\\\"),
    ] as [(String, Int, String?)])
  func faults(_ text: String, _ column: Int, _ suggestion: String?) throws {
    let fault = try #require(throws: AudienceFault.self) {
      try AudienceExpression(parsing: text, providers: [.apns, .fcm, .oneSignal])
    }
    #expect(fault.column == column, "\(fault.message)")
    #expect(fault.suggestion == suggestion, "\(fault.message)")
    if let suggestion, !suggestion.hasSuffix(":"), text.contains("="), !suggestion.hasSuffix("||") {
      #expect(throws: Never.self) { try AudienceExpression(parsing: suggestion) }
    }
  }

  @Test("limits hold, and what is far beyond them is refused at once")
  func limits() throws {
    func fault(_ text: String) -> String {
      do {
        _ = try AudienceExpression(parsing: text)
        return "none"
      } catch { return error.message }
    }
    let hundred = Array(repeating: "a", count: 100).joined(separator: " || ")
    #expect(fault(hundred) == "none")
    #expect(fault(hundred + "||b").contains("this is term 101"))
    #expect(fault(String(repeating: "(", count: 16) + "a" + String(repeating: ")", count: 16)) == "none")
    #expect(fault(String(repeating: "!", count: 16) + "a") == "none")
    #expect(fault(String(repeating: "!", count: 17) + "a").contains("more than 16"))
    let clock = ContinuousClock()
    let bombs = [
      String(repeating: "(", count: 100_000), String(repeating: "(", count: 60_000),
      String(repeating: "!", count: 60_000), String(repeating: "a||", count: 20_000),
      String(repeating: "a", count: 60_000), String(repeating: "\"", count: 60_000),
      String(repeating: " ", count: 60_000), String(repeating: "a ", count: 5_000_000),
      String(repeating: "(a&&", count: 16_000), String(repeating: "=", count: 60_000),
      "\"" + String(repeating: "é", count: 30_000),
    ]
    for bomb in bombs {
      let spent = clock.measure { #expect(fault(bomb) != "none") }
      #expect(spent < .seconds(2), "\(bomb.prefix(8))…: \(spent)")
    }
    // The deepest and the widest that is allowed reads back from its canonical form.
    let tags = (0..<100).map { index in "\"" + String(repeating: "\\\"", count: 124) + "\(100 + index)\"" }
    let wide = try AudienceExpression(parsing: tags.map { "!\($0)" }.joined(separator: "&&"))
    #expect(try AudienceExpression(parsing: wide.canonical) == wide)
  }

  @Test("whatever the bytes, there is an answer")
  func fuzz() {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = Seeded(seed: seed)
    let pieces = [
      "(", ")", "!", "&&", "||", " ", "\"", "\\", ":", "*", "a", "plan:pro", "lang:", "seen:<", "9", "d",
      "app_version:",
      ">=", "tz:", "and", "or", "NOT", "everyone", "audience:", "provider:", "é", "\u{301}", "\u{200d}", "👩", "\n", "=",
      ",",
      "\u{0}", "“", ">", "1.2",
    ]
    var read = 0
    for round in 0..<20_000 {
      var text = ""
      if round.isMultiple(of: 2) {
        for _ in 0..<Int.random(in: 0...12, using: &random) { text += random.pick(pieces) }
      } else {
        let bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
        text = String(decoding: bytes, as: UTF8.self)
      }
      do {
        let tree = try AudienceExpression(parsing: text, providers: [.apns])
        read += 1
        // Read again from its own text, it must not fail either.
        let again = try? AudienceExpression(parsing: tree.canonical, providers: [.apns])
        #expect(again == tree, "seed \(seed): \(text)")
      } catch {
        #expect(error.column.map { (1...(text.count + 1)).contains($0) } ?? false, "seed \(seed): \(text)")
        #expect(error.message.utf8.count < 1_000, "seed \(seed)")
      }
    }
    #expect(read > 100, "seed \(seed)")
  }

  @Test("a term is found again in the text")
  func columns() {
    #expect(AudienceExpression.column(of: .audience("vip"), in: "größe:xl && audience:vip") == 13)
    #expect(AudienceExpression.column(of: .audience("vip"), in: "a && (") == nil)
  }
}
