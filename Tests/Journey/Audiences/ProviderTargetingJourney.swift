import Domain
import JSON
import Support
import Testing

extension Journeys {
  @Test("OneSignal is asked for exactly the subscribers that were meant, and gets the defaults of personal texts")
  func providerTargeting() async throws {
    let world = try await World()
    let gateway = try await world.gateway()
    let named = try await gateway.client.put("/v1/audiences/paying", #"{"audience":"(plan:* || vip) && !churned"}"#)
    #expect(named.status == 201, "\(named.text)")

    func tag(_ key: String, _ relation: String, _ value: String? = nil) -> String {
      #"{"field":"tag","key":"\#(key)","relation":"\#(relation)"\#(value.map { #","value":"\#($0)""# } ?? "")}"#
    }
    let or = #"{"operator":"OR"}"#
    let own = [
      tag("plan", "=", "pro"), #"{"field":"language","relation":"=","value":"de"}"#, or,
      #"{"field":"last_session","relation":"<","hours_ago":"48"}"#, tag("seat", "!=", "12:A"), or,
      tag("vip", "not_exists"),
    ].joined(separator: ",")
    for (to, targeting, expected) in [
      (
        #"{"audience":"audience:paying && utm:source:ads"}"#, "filters",
        [
          tag("plan", "exists"), tag("churned", "not_exists"), tag("utm", "=", "source:ads"), or, tag("vip", "exists"),
          tag("churned", "not_exists"), tag("utm", "=", "source:ads"),
        ].joined(separator: ",")
      ),
      (#"{"filters":[\#(own)]}"#, "filters", own),
      (
        #"{"filters":[\#(tag("plan", "not_in_array", "pro, team"))]}"#, "filters",
        [tag("plan", "!=", "pro"), tag("plan", "!=", "team")].joined(separator: ",")
      ),
      (#"{"everyone":true}"#, "included_segments", #""All""#),
    ] {
      let before = try await world.sandbox.log().count
      let id = try await gateway.send(
        #"{"to":\#(to),"notification":{"title":"Hi {{first_name|there}}","body":"News {{no_such|}}!","localized":{"de":{"title":"Hallo {{first_name|du}}"}}},"providers":["onesignal"],"onesignal_targeting":"provider"}"#
      )
      let report = try await gateway.completed(id)
      #expect(report["outcomes"]?["accepted"]?.integer == 1, "\(to): \(report)")
      let entries = try await world.sandbox.log().dropFirst(before)
      #expect(entries.count == 1, "\(to)")
      let body = try JSON.parse(Array((entries.first?.body ?? "").utf8))
      let given = ["filters", "included_segments", "include_subscription_ids", "include_aliases"].filter {
        body[$0] != nil
      }
      #expect(given == [targeting], "\(to)")
      #expect(body[targeting] == (try JSON.parse(Array("[\(expected)]".utf8))), "\(to): \(body)")
      #expect(body["headings"] == .object([member("en", "Hi there"), member("de", "Hallo du")]), "\(body)")
      #expect(body["contents"]?["en"]?.string == "News !", "\(body)")
    }
  }

  private func member(_ language: String, _ text: String) -> JSONMember { JSONMember(language, .string(text)) }
}
