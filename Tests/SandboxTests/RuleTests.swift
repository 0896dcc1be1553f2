import Testing

@testable import Sandbox

@Suite struct RuleTests {
  @Test(
    "a glob matches as in a shell",
    arguments: [
      ("*", "", true), ("ab*", "abc", true), ("ab*", "ac", false), ("*c", "abc", true), ("a*c*e", "abcde", true),
      ("a*c*e", "abcd", false), ("a?c", "abc", true), ("a?c", "ac", false), ("dead*", "deadbeef", true),
      ("*a*a*a*b", String(repeating: "a", count: 200), false),
    ])
  func glob(_ pattern: String, _ token: String, _ matches: Bool) {
    #expect(TokenGlob(pattern).matches(token) == matches)
  }

  @Test("a share is drawn the same in every run, and anew for a token that comes again")
  func share() {
    var rule = Rule()
    rule.share = 0.3
    rule.reply = Rule.Reply(status: 503)
    func run() -> [Bool] {
      var book = RuleBook([rule])
      return (0..<2000).map { book.draw(.apns, token: "token-\($0 % 500)") != nil }
    }
    let first = run()
    #expect(first == run())
    let played = first.count { $0 }
    #expect((480...720).contains(played))
    // The four rounds differ from each other.
    let rounds: [[Bool]] = (0..<4).map { round in Array(first[round * 500..<round * 500 + 500]) }
    #expect(Set(rounds).count == 4)
  }

  @Test("after skips, times ends, times_per_token ends for one token only")
  func counts() {
    var rule = Rule()
    rule.provider = .fcm
    rule.after = 2
    rule.times = 3
    rule.reply = Rule.Reply(status: 500)
    var book = RuleBook([rule])
    #expect(book.draw(.apns, token: "x") == nil)
    let played: [Bool] = (0..<8).map { _ in book.draw(.fcm, token: "x") != nil }
    #expect(played == [false, false, true, true, true, false, false, false])
    #expect(book.standings[0].matched == 8)
    #expect(book.standings[0].played == 3)

    rule.after = 0
    rule.times = nil
    rule.timesPerToken = 1
    book = RuleBook([rule])
    let perToken: [Bool] = ["a", "a", "b", "a", "b"].map { book.draw(.fcm, token: $0) != nil }
    #expect(perToken == [true, false, true, false, false])
  }

  @Test("the first rule that fires has the request")
  func order() {
    var one = Rule()
    one.token = "aa*"
    one.reply = Rule.Reply(status: 410)
    var all = Rule()
    all.delay = 5
    var book = RuleBook([one, all])
    #expect(book.draw(.apns, token: "aab")?.reply?.status == 410)
    #expect(book.draw(.apns, token: "bb")?.delay == 5)
  }

  @Test("every rule form reads")
  func reads() throws {
    let text = """
      [{"provider":"apns","token":"dead*","status":410,"reason":"Unregistered","timestamp":1767200000000},
       {"name":"slow","delay_ms":20,"share":0.5,"times":9,"after":1,"times_per_token":2},
       {"status":429,"retry_after":3,"when":"after"}, {"status":503,"retry_after":"Sun, 06 Nov 1994 08:49:37 GMT"},
       {"action":"goaway","code":0,"reason":"Shutdown"}, {"action":"reset","code":7}, {"action":"stall","delay_ms":50},
       {"action":"close","when":"after"}, {"action":"settings","streams":1},
       {"provider":"onesignal","status":200,"reason":"invalid_player_ids"}, {"status":404,"body":"<html>"}]
      """
    let rules = try RuleReader.read(Array(text.utf8))
    #expect(rules.count == 11)
    #expect(rules[0].reply == Rule.Reply(status: 410, reason: "Unregistered", timestamp: 1_767_200_000_000))
    #expect(rules[1].share == 0.5)
    #expect(rules[2].reply?.retryAfter == "3" && rules[3].reply?.retryAfter == "Sun, 06 Nov 1994 08:49:37 GMT")
    #expect(rules[4].action == .goaway(code: 0, reason: "Shutdown"))
    #expect(rules[7].when == .after)
    #expect(rules[8].action == .streams(1))
    #expect(rules[9].picksMembers)
  }

  @Test(
    "a bad rule is refused with its place and why",
    arguments: [
      (#"{"x":1}"#, "must be an array"), ("[1]", "must be an object"), ("[{}]", "does nothing"),
      (#"[{"statsu":500}]"#, "unknown field"), (#"[{"status":99}]"#, "whole number 200…999"),
      (#"[{"status":500,"share":2}]"#, "0…1"), (#"[{"provider":"apple","status":500}]"#, "must be one of: apns"),
      (#"[{"status":500,"action":"close"}]"#, "one or the other"),
      (#"[{"action":"explode"}]"#, "must be one of: certificate"),
      (#"[{"provider":"onesignal","action":"expire"}]"#, "access tokens"), (#"[{"status":400,"timestamp":1}]"#, "410"),
      (#"[{"delay_ms":1,"code":3}]"#, "needs action"), (#"[{"action":"settings"}]"#, "missing"),
      (#"[{"status":200,"reason":"invalid_player_ids"}]"#, "onesignal"), ("[", "not JSON"),
      (#"[{"status":500,"when":"never"}]"#, "before or after"), (#"[{"status":500,"times":0}]"#, "1…"),
      (#"[{"status":500,"retry_after":"\n"}]"#, "printable"), (#"[{"status":500,"retry_after":90000}]"#, "0…86400"),
    ])
  func faults(_ text: String, _ problem: String) {
    #expect {
      try RuleReader.read(Array(text.utf8))
    } throws: { error in
      (error as? RuleFaults)?.faults.contains { $0.problem.contains(problem) } ?? false
    }
  }

  @Test("all faults of all rules are told at once")
  func allFaults() {
    #expect {
      try RuleReader.read(Array(#"[{"status":1},{"status":500},{"share":"x","when":3,"delay_ms":-1}]"#.utf8))
    } throws: { error in
      let faults = (error as? RuleFaults)?.faults ?? []
      return Set(faults.map(\.rule)) == [0, 2] && faults.count(where: { $0.rule == 2 }) >= 3
    }
  }

  @Test("a partial answer picks members, and only those that match")
  func members() {
    var rule = Rule()
    rule.provider = .oneSignal
    rule.token = "dead*"
    rule.reply = Rule.Reply(status: 200, reason: "invalid_player_ids")
    var book = RuleBook([rule])
    #expect(book.draw(.oneSignal, members: ["dead1", "live"], key: "k") == nil)
    #expect(book.pick(.oneSignal, members: ["dead1", "live", "dead2"])?.members == ["dead1", "dead2"])
    #expect(book.pick(.oneSignal, members: ["live"]) == nil)
  }
}
