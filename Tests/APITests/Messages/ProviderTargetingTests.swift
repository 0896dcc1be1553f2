import API
import Domain
import JSON
import Testing

@Suite("OneSignal aims at its own subscribers")
struct ProviderTargetingTests {
  private func send(_ gateway: Gateway, _ to: String, title: String = "T") -> Reply {
    gateway.ask(
      "POST", "/v1/messages",
      #"{"to":\#(to),"notification":{"title":"\#(title)"},"onesignal_targeting":"provider","providers":["onesignal"]}"#)
  }
  private func filter(_ key: String) -> String { #"{"field":"tag","key":"\#(key)","relation":"exists"}"# }
  private func column(_ reply: Reply) -> Int64? { reply.json["violations"]?.array?.first?["column"]?.integer }

  @Test("whoever is meant, in whatever words, is one delivery that OneSignal counts")
  func accepted() async throws {
    try await Gateway.running { gateway in
      let kept = gateway.ask("PUT", "/v1/audiences/paying", #"{"audience":"plan:* && !churned"}"#)
      #expect(kept.status == 201, "\(kept.text)")
      for to in [
        #"{"audience":"plan:pro"}"#, #"{"audience":"audience:paying || beta"}"#, #"{"everyone":true}"#,
        #"{"audience":"everyone"}"#, #"{"filters":[\#(filter("plan")),{"operator":"OR"},\#(filter("beta"))]}"#,
      ] {
        let sent = send(gateway, to)
        #expect(sent.status == 202, "\(to): \(sent.text)")
        #expect(sent.json["targets"]?.integer == 1, "\(to)")
        #expect(
          sent.json["warnings"]?.array?.contains { $0["code"]?.string == "counted_by_provider" } == true, "\(to)")
      }
    }
  }

  @Test("what filters cannot say is refused at its column, or named where the text does not show it")
  func inexpressible() async throws {
    try await Gateway.running { gateway in
      _ = gateway.ask("PUT", "/v1/audiences/phones", #"{"audience":"platform:ios || platform:android"}"#)
      for (to, place, at, words) in [
        (#"{"audience":"plan:pro && platform:ios"}"#, "/to/audience", 13, "`platform:ios`"),
        (#"{"audience":"plan:pro && !lang:de-AT"}"#, "/to/audience", 14, "`lang:de-at`"),
        (#"{"audience":"beta || utm:source:*"}"#, "/to/audience", 9, "`utm:source:*`"),
        (#"{"audience":"beta && audience:phones"}"#, "/to/audience", nil, "`platform:ios`"),
        (#"{"audience":"beta && audience:phone"}"#, "/to/audience", 9, "did you mean `audience:phones`?"),
        (#"{"audience":"!everyone"}"#, "/to/audience", nil, "nobody"),
        (#"{"filters":[{"field":"language","relation":"=","value":"de-AT"}]}"#, "/to/filters", nil, "`lang:de-at`"),
        (
          #"{"filters":[{"field":"tag","key":"utm:source","relation":"!=","value":"ads"}]}"#, "/to/filters/0", nil,
          "did you mean `utm_source`?"
        ),
      ] as [(String, String, Int64?, String)] {
        let refused = send(gateway, to)
        #expect(refused.status == 422, "\(to): \(refused.text)")
        #expect(refused.violations == ["\(place) invalid_audience"], "\(to)")
        #expect(column(refused) == at, "\(to)")
        #expect(refused.text.contains(words), "\(refused.text)")
      }
    }
  }

  @Test("more than 200 filters are refused, as they come and as they are multiplied out; 200 are not")
  func limit() async throws {
    try await Gateway.running { gateway in
      func alternatives(_ pairs: Int) -> String {
        (0..<pairs).map { "(a\($0):1 || b\($0):1)" }.joined(separator: " && ")
      }
      // 2^5 products of 5 filters and 31 operators are 191; one pair more makes 447.
      #expect(send(gateway, #"{"audience":"\#(alternatives(5))"}"#).status == 202)
      let product = send(gateway, #"{"audience":"\#(alternatives(6))"}"#)
      #expect(product.status == 422)
      #expect(product.violations == ["/to/audience invalid_audience"])
      #expect(product.text.contains("more than 200 filters"), "\(product.text)")

      // 100 terms, the most there may be, are 199 entries with the operators between them.
      func filters(_ count: Int, joint: String) -> String {
        let entries = (0..<count).map { #"{"field":"tag","key":"k\#($0)","relation":"=","value":"1"}"# }
        return #"{"filters":[\#(entries.joined(separator: ",\(joint),"))]}"#
      }
      #expect(send(gateway, filters(100, joint: #"{"operator":"OR"}"#)).status == 202)
      let long = send(gateway, filters(101, joint: #"{"operator":"OR"}"#))
      #expect(long.status == 422)
      #expect(long.violations == ["/to/filters invalid_audience"])
      #expect(long.text.contains("201 entries; the limit is 200"), "\(long.text)")
    }
  }

  @Test("a personal text needs a default, as no device is known here")
  func personal() async throws {
    try await Gateway.running { gateway in
      gateway.register("d1", #""attributes":{"first_name":"Ann"}"#)
      let refused = send(gateway, #"{"audience":"beta"}"#, title: "Hi {{first_name}}")
      #expect(refused.status == 422, "\(refused.text)")
      #expect(refused.violations == ["/notification not_allowed"])
      #expect(refused.text.contains("give a default: `{{first_name|…}}`"), "\(refused.text)")
      #expect(send(gateway, #"{"audience":"beta"}"#, title: "Hi {{first_name|there}}").status == 202)
    }
  }
}
