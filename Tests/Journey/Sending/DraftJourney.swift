import Domain
import Foundation
import JSON
import Support
import Testing

extension Journeys {
  @Test(
    "a draft is written, edited, tried out by a test list and sent from the command line: the test was what everybody gets"
  )
  func draft() async throws {
    let world = try await World()
    let gateway = try await world.gateway()
    let tokens = (0..<20).map { $0.isMultiple(of: 2) ? ("apns", Tokens.apns($0)) : ("fcm", Tokens.fcm($0)) }
    for (number, (provider, token)) in tokens.enumerated() {
      let body = #"{"provider":"\#(provider)","token":"\#(token)","tags":["beta"],"attributes":{"name":"N\#(number)"}}"#
      #expect(try await gateway.client.put("/v1/devices/d\(number)", body).status == 201)
    }
    /// What the command line printed.
    func fanfare(_ words: String..., environment: [String: String] = [:], exit: Int32 = 0) async throws -> String {
      var environment = environment
      environment["FANFARE_URL"] = gateway.client.base
      environment["FANFARE_KEY"] = gateway.client.key
      let run = try ChildProcess(World.program, words, environment: environment)
      let code = await run.waitForExit()
      #expect(code == exit, "fanfare \(words): \(run.text)")
      return run.text
    }

    let team = ["d0", "d1"]
    _ = try await fanfare("test-lists", "set", "team", "--device", "d0", "--device", "d1")
    let file = world.directory.file("sale.json")
    let message = #"""
      {"to":{"audience":"beta"},"notification":{"title":"Sale","body":"For {{name|you}}"},"data":{"n":1},
       "variants":[{"name":"a","weight":50},{"name":"b","weight":50,"notification":{"title":"RABATT"}}]}
      """#
    try message.write(to: file, atomically: true, encoding: .utf8)
    let made = try await fanfare("drafts", "create", "--name", "Spring", "--file", file.path, "--json")
    let id = try #require(try JSON.parse(Array(made.utf8))["id"]?.string)
    _ = try await fanfare("drafts", "edit", id, environment: ["EDITOR": "sed -i s/Sale/Spring/", "VISUAL": ""])
    #expect(try await fanfare("drafts", "list").contains("Spring"))
    #expect(try await fanfare("drafts", "list", "--csv").contains("\(id),Spring,2,"))
    #expect(try await fanfare("test-lists", "list").contains("team\tdevices\td1"))
    #expect(try await fanfare("drafts", "show", id).contains(#""title":"Spring""#))
    #expect(try await fanfare("drafts", "count", id).contains(/20 +would be sent/))
    _ = try await fanfare("drafts", "send", id, "--version", "1", exit: 5)
    let unknown = try await fanfare("drafts", "edit", id, "--version", "9", "--file", file.path, exit: 5)
    #expect(unknown.contains("the draft has no version 9: it has version 2"), "\(unknown)")
    let older = try await fanfare("drafts", "edit", id, "--version", "1", environment: ["EDITOR": "false"], exit: 5)
    #expect(older.contains("somebody has changed the draft since version 1: it has version 2"), "\(older)")

    let tests = try await fanfare("drafts", "test", id, "--list", "team")
    let ids = tests.matches(of: /msg_[0-9a-z]{26}/).map { String($0.0) }
    #expect(ids.count == 2, "\(tests)")
    for test in ids { #expect(try await gateway.completed(test)["test_of"]?.string == id) }
    let listed = try await fanfare("messages", "list")
    #expect(listed.contains("Test of Spring (a)") && listed.contains("Test of Spring (b)"), "\(listed)")
    #expect(try await fanfare("messages", "deliveries", ids[1], "--csv").contains(",b,"))
    _ = try await fanfare("test-lists", "set", "nobody", "--user", "nobody")
    let missed = try await fanfare("drafts", "test", id, "--list", "nobody", exit: 1)
    #expect(missed.contains("nobody gets this test"), "\(missed)")
    let tried = try await world.sandbox.log()
    #expect(tried.count == 4 && Set(tried.map(\.token)) == Set(tokens.prefix(2).map(\.1)))

    let later = (WallTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000)) + 86_400_000).rfc3339
    let copy = try await fanfare("drafts", "duplicate", id, "--json")
    let other = try #require(try JSON.parse(Array(copy.utf8))["id"]?.string)
    let mistaken = try await fanfare("drafts", "send", other, "--at", "1.11.2099", exit: 2)
    #expect(mistaken.contains("--at needs date") && mistaken.contains("2099-11-01T09:00:00"), "\(mistaken)")
    let passed = try await fanfare("drafts", "send", other, "--at", "2020-11-01T09:00:00Z", exit: 5)
    #expect(passed.contains("`--at`: this time has passed") && !passed.contains("send_at"), "\(passed)")
    let trial = try await fanfare("drafts", "send", other, "--at", later, "--dry-run")
    #expect(trial.contains("starts at \(later)") && trial.contains("nothing was sent"), "\(trial)")
    let planned = try await fanfare("drafts", "send", other, "--at", later)
    #expect(planned.contains("starts at \(later) (UTC)"), "\(planned)")
    let rows = try await fanfare("messages", "list", "--state", "scheduled").split(separator: "\n").map(String.init)
    #expect(rows.first?.hasPrefix("id\tstate\tkind\tcreated at\tstarts at\taudience\ttargets") == true, "\(rows)")
    #expect(rows.last?.contains("\t\(later)\tbeta\t20\t") == true, "\(rows)")
    let csv = try await fanfare("messages", "list", "--state", "scheduled", "--csv")
    #expect(csv.contains(",starts_at,starts_at_local,starts_at_zone,") && csv.contains(",\(later),,UTC,"), "\(csv)")

    _ = try await fanfare("drafts", "send", id, "--wait", "60", "--dry-run", exit: 2)
    let sent = try await fanfare("drafts", "send", id, "--wait", "60", "--json")
    #expect(try JSON.parse(Array(sent.utf8))["outcomes"]?["accepted"]?.integer == 20, "\(sent)")
    let campaign = try #require(try JSON.parse(Array(sent.utf8))["id"]?.string)
    let report = try await gateway.completed(campaign)
    #expect(report["outcomes"]?["accepted"]?.integer == 20 && report["draft_of"]?.string == id, "\(report)")
    let log = try await world.sandbox.log().dropFirst(tried.count)
    #expect(log.count == 20)
    // It expires as long after its own start.
    func timeless(_ body: String) -> String { body.replacing(/"apns-expiration":"\d{10}"/, with: "") }
    for entry in log where tokens.prefix(team.count).contains(where: { $0.1 == entry.token }) {
      let shown = tried.filter { $0.token == entry.token }.map { timeless($0.body) }
      #expect(Set(shown).count == 2 && shown.contains(timeless(entry.body)), "\(entry.body) was not among \(shown)")
    }
    let again = try await fanfare("drafts", "send", id, "--wait", "60")
    #expect(again.contains("\(campaign) completed: 10 accepted apns, 10 accepted fcm"), "\(again)")
    #expect(again.contains("this draft was sent before, as \(campaign)") && !again.contains("idempotency"), "\(again)")
    #expect(try await world.sandbox.log().count == tried.count + 20)
    #expect(try await fanfare("drafts", "duplicate", campaign, "--json").contains("RABATT"))
    _ = try await fanfare("drafts", "show", id, exit: 5)
  }
}
