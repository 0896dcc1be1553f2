import Audience
import Domain
import JSON
import Testing

@Suite("OneSignal's filters and expressions say the same")
struct FilterTests {
  private func tree(_ json: String) throws -> AudienceExpression {
    try AudienceExpression(oneSignalFilters: JSON.parse(Array(json.utf8)))
  }

  @Test(
    "filters read as expressions",
    arguments: [
      (#"[{"field":"tag","key":"plan","relation":"=","value":"pro"}]"#, "plan:pro"),
      (
        #"[{"field":"tag","key":"plan","relation":"=","value":"pro"},{"operator":"OR"},{"field":"language","relation":"=","value":"de"},{"field":"tag","key":"level","relation":"!=","value":"8"}]"#,
        "(plan:pro || (lang:de && !level:8))"
      ),
      (#"[{"field":"tag","key":"churned","relation":"exists"}]"#, "(churned || churned:*)"),
      (#"[{"field":"tag","key":"churned","relation":"not_exists"}]"#, "!(churned || churned:*)"),
      (#"[{"field":"tag","key":"plan","relation":"in_array","value":"pro, team"}]"#, "(plan:pro || plan:team)"),
      (
        #"[{"field":"app_version","relation":">","value":"2.1"},{"operator":"AND"},{"field":"last_session","relation":"<","hours_ago":"720"}]"#,
        "(app_version:>2.1 && seen:<30d)"
      ),
    ])
  func reads(_ json: String, _ canonical: String) throws { #expect(try tree(json).canonical == canonical) }

  @Test(
    "what has no counterpart is refused by name",
    arguments: [
      (#"[]"#, "is empty"), (#"{}"#, "must be an array"),
      (#"[{"field":"country","relation":"=","value":"DE"}]"#, "country"),
      (#"[{"field":"tag","key":"a","relation":">","value":"1"}]"#, "not `>`"),
      (#"[{"operator":"OR"}]"#, "between two"),
      (#"[{"field":"tag","key":"a","relation":"exists"},{"operator":"OR"}]"#, "filter 2: "),
      (#"[{"field":"tga","key":"a","relation":"exists"}]"#, "did you mean `tag`"), (#"[1]"#, "not an object"),
      (#"[{"field":"last_session","relation":"<","hours_ago":"5"}]"#, "multiple of 24"),
      (#"[{"field":"tag","relation":"="}]"#, "`key` is missing"),
      (#"[{"field":"tag","key":"utm:source","relation":"!=","value":"ads"}]"#, "did you mean `utm_source`"),
      (#"[{"field":"tag","key":"utm:source","relation":"exists"}]"#, "filter 1: `key` has a colon"),
      (#"[{"field":"tag","key":"a:","relation":"in_array","value":"1,2"}]"#, "`key` has a colon"),
      (#"[{"field":"tag","key":":","relation":"not_exists"}]"#, "`key` has a colon"),
      (
        #"[{"field":"tag","key":"a","relation":"exists"},{"operator":"AND","field":"tag"},{"field":"tag","key":"b","relation":"exists"}]"#,
        "filter 2: `field` does not belong to an operator"
      ),
      (#"[{"field":"language","relation":"=","value":"*"}]"#, "`*`"),
      (#"[{"field":"app_version","relation":">","value":"=2"}]"#, "`=2`"),
    ])
  func refuses(_ json: String, _ words: String) throws {
    let fault = try #require(try #require(throws: AudienceFaults.self) { try tree(json) }.faults.first)
    #expect(fault.message.contains(words), "\(fault.message)")
  }

  @Test(
    "expressions are multiplied out into filters",
    arguments: [
      ("plan:pro", "plan=pro"), ("churned", "churned exists"), ("!churned", "churned not_exists"),
      ("(churned || churned:*)", "churned exists"),
      ("plan:pro && (lang:de || !lang:fr)", "plan=pro language=de OR plan=pro language!=fr"),
      ("!(a:1 && b:2)", "a!=1 OR b!=2"), ("!(a:1 || b:2)", "a!=1 b!=2"), ("everyone && a:1", "a=1"), ("everyone", ""),
      ("seen:<30d", "last_session<720"), ("!seen:<30d", "last_session>720"),
      ("app_version:>=2 && x:1", "app_version>2 x=1 OR app_version=2 x=1"), ("lang:zh-Hant", "language=zh-Hant"),
      ("churned:*", "churned exists"), ("utm:source:ads", "utm=source:ads"), ("a || everyone", ""),
      ("!(a && everyone) || b:1", "a not_exists OR b=1"),
      // Two spellings of one letter are two tags, so neither can stand for the other.
      ("!k:é && !k:e\u{301}", "k!=é k!=e\u{301}"), ("k:é || k:e\u{301}", "k=é OR k=e\u{301}"),
    ])
  func writes(_ text: String, _ filters: String) throws {
    let entries = try AudienceExpression(parsing: text).oneSignalFilters()
    let shown = entries.map { entry -> String in
      if let joint = entry["operator"]?.string { return joint }
      let field = entry["field"]?.string ?? ""
      let relation = entry["relation"]?.string ?? ""
      let key = entry["key"]?.string ?? field
      let value = entry["value"]?.string ?? entry["hours_ago"]?.string
      return value.map { key + relation + $0 } ?? "\(key) \(relation)"
    }
    #expect(Array(shown.joined(separator: " ").utf8) == Array(filters.utf8))
  }

  @Test(
    "a term that filters cannot express is named",
    arguments: [
      ("a && tz:UTC", "tz:UTC"), ("platform:ios", "platform:ios"), ("lang:de-AT", "lang:de-at"), ("lang:*", "lang:*"),
      ("!provider:apns", "provider:apns"), ("a:b:*", "a:b:*"), ("x && !\":b\"", "\":b\""), ("\"a:\"", "\"a:\""),
      ("\":\":*", "\":\":*"),
    ])
  func inexpressible(_ text: String, _ term: String) throws {
    let tree = try AudienceExpression(parsing: text)
    let fault = try #require(throws: AudienceFault.self) { try tree.oneSignalFilters() }
    #expect(fault.message.hasPrefix("`\(term)`: "))
  }

  @Test("nobody is refused", arguments: ["!everyone", "a && !everyone", "!(a || everyone)"])
  func nobody(_ text: String) throws {
    let tree = try AudienceExpression(parsing: text)
    let fault = try #require(throws: AudienceFault.self) { try tree.oneSignalFilters() }
    #expect(fault.message == "the audience is empty, and OneSignal has no filter for nobody")
  }

  @Test("an expression that grows too large in filters is refused before it does")
  func explosion() throws {
    let text = (0..<50).map { "(a\($0):1 || b\($0):1)" }.joined(separator: " && ")
    let tree = try AudienceExpression(parsing: text)
    let clock = ContinuousClock()
    let spent = clock.measure {
      let fault = #expect(throws: AudienceFault.self) { try tree.oneSignalFilters() }
      #expect(fault?.detail.contains("more than 200") == true)
    }
    #expect(spent < .seconds(5))
  }
}
