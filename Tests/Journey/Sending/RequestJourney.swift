import Domain
import Foundation
import JSON
import Support
import Testing

extension Journeys {
  private static func alert(_ more: String = "", number: Int = 1) -> String {
    #"{"to":{"tokens":[\#(Tokens.targets("apns", [Tokens.apns(number)]))]},"notification":{"body":"Hi"}\#(more)}"#
  }

  @Test("a query parameter that is given twice is refused, and nothing is sent")
  func repeatedParameters() async throws {
    let world = try await World()
    let gateway = try await world.gateway()
    for path in ["/v1/messages?dry_run=true&dry_run=false", "/v1/messages?dry_run=true&dry_run=true"] {
      let answer = try await gateway.client.post(path, Self.alert())
      #expect(
        answer.status == 400 && answer.json["detail"]?.string?.contains("more than once") == true, "\(answer.text)")
    }
    #expect(try await gateway.client.get("/v1/messages?limit=1&limit=2").status == 400)
    #expect(try await gateway.client.get("/v1/messages").json["items"]?.array?.isEmpty == true)
  }

  @Test("many requests with one idempotency key at once: all wait for the first, and get its message")
  func keyedAtOnce() async throws {
    let world = try await World()
    let gateways = [try await world.gateway(["--api-only"]), try await world.gateway()]
    for round in 0..<10 {
      let answers = try await withThrowingTaskGroup(of: Client.Answer.self) { group in
        for number in 0..<16 {
          group.addTask {
            try await gateways[number % 2].client.post(
              "/v1/messages", Self.alert(number: round), headers: [.init("idempotency-key", "round-\(round)")])
          }
        }
        return try await group.reduce(into: [Client.Answer]()) { $0.append($1) }
      }
      #expect(answers.allSatisfy { $0.status == 202 }, "\(answers.map(\.text))")
      #expect(Set(answers.compactMap { $0.json["id"]?.string }).count == 1)
      #expect(answers.count { $0.header("idempotent-replayed") == nil } <= 1)
    }
    let other = try await gateways[0].client.post(
      "/v1/messages", " " + Self.alert(number: 0), headers: [.init("idempotency-key", "round-0")])
    #expect(other.status == 422 && other.text.contains("byte by byte"), "\(other.text)")
  }

  @Test("an id may not be a word of a path: refused with the reason, and what Allow names is allowed")
  func reservedIDs() async throws {
    let world = try await World()
    let gateway = try await world.gateway()
    for word in ["export", "bulk", ".."] {
      let device = #"{"id":"\#(word)","provider":"fcm","token":"\#(Tokens.fcm(1))"}"#
      let one = try await gateway.client.post("/v1/devices", device)
      #expect(one.status == 422 && one.text.contains("/id") && one.text.contains("cannot be an id"), "\(one.text)")
      let many = try await gateway.client.call(
        "POST", "/v1/devices/bulk", device, headers: [.init("content-type", "application/x-ndjson")])
      #expect(many.text.contains("cannot be an id"), "\(many.text)")
    }
    // What a path answers to each method that it does not take, and to each that it names.
    let methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
    let paths = [
      "/v1/devices/export", "/v1/devices/bulk", "/v1/devices/d1", "/v1/messages/bulk", "/v1/audiences/count",
      "/v1/audiences/a1", "/v1/messages", "/healthz", "/v1/drafts", "/v1/test_lists/t1", "/v1/prunes/apply",
    ]
    for path in paths {
      var allow: Set<String> = []
      var refused: Set<String> = []
      for method in methods {
        let answer = try await gateway.client.call(method, path, method == "GET" ? nil : "{}")
        guard answer.status == 405 else { continue }
        refused.insert(method)
        allow = Set((answer.header("allow") ?? "").split(separator: ",").map { $0.filter { $0 != " " } })
      }
      // GET means HEAD too, which has no body to read here.
      #expect(allow.contains("HEAD") == allow.contains("GET"))
      #expect(
        allow.subtracting(["HEAD"]) == Set(methods).subtracting(refused), "\(path) says \(allow) and refuses \(refused)"
      )
    }
  }

  @Test("a draft that was sent and cancelled says so, whoever asks for it; so does a repeated key")
  func cancelledDraft() async throws {
    let world = try await World()
    let gateway = try await world.gateway()
    let later = WallTime(seconds: Int64(Date().timeIntervalSince1970) + 86_400).rfc3339
    let message = Self.alert(#","send_at":"\#(later)""#)
    let draft = try await gateway.client.post("/v1/drafts", #"{"message":\#(message)}"#)
    let id = try #require(draft.json["id"]?.string, "\(draft.text)")
    let sent = try await gateway.client.post("/v1/drafts/\(id)/send", "")
    #expect(sent.json["starts_at_zone"]?.string == "UTC", "\(sent.text)")
    let messageID = try #require(sent.json["id"]?.string)
    let living = try await gateway.client.get("/v1/drafts/\(id)")
    #expect(living.status == 409 && living.text.contains("cancel and duplicate"), "\(living.text)")
    #expect(try await gateway.client.post("/v1/messages/\(messageID)/cancel", "").status == 200)
    let dead = try await gateway.client.get("/v1/drafts/\(id)")
    #expect(dead.status == 409 && dead.text.contains("was cancelled"), "\(dead.text)")
    let again = try await gateway.client.post("/v1/drafts/\(id)/send", "")
    #expect(again.status == 202 && again.json["state"]?.string == "cancelled", "\(again.text)")
    #expect(again.json["warnings"]?.array?.first?["code"]?.string == "message_cancelled", "\(again.text)")
  }

  @Test("a start by each device's own clock names the zone of the device that has it first")
  func startZone() async throws {
    let world = try await World()
    let gateway = try await world.gateway()
    for (number, zone) in ["Europe/Berlin", "Asia/Tokyo"].enumerated() {
      let body = #"{"provider":"apns","token":"\#(Tokens.apns(number))","tz":"\#(zone)"}"#
      #expect(try await gateway.client.put("/v1/devices/d\(number)", body).status == 201)
    }
    let day = WallTime(seconds: Int64(Date().timeIntervalSince1970) + 3 * 86_400).rfc3339.prefix(10)
    let answer = try await gateway.client.post(
      "/v1/messages",
      #"{"to":{"audience":"everyone"},"notification":{"body":"Hi"},"send_at_local":"\#(day)T09:00:00"}"#)
    let id = try #require(answer.json["id"]?.string)
    for told in [answer.json, try await gateway.client.get("/v1/messages/\(id)").json] {
      #expect(told["starts_at_zone"]?.string == "Asia/Tokyo", "\(told)")
      #expect(told["starts_at"]?.string == "\(day)T00:00:00.000Z", "\(told)")
    }
    let shown = try await Tool(gateway: gateway, world: world).run("messages", "show", id)
    #expect(shown.contains("each device's own clock, first in Asia/Tokyo"), "\(shown)")
  }

  @Test("the example of variants in the documentation gives Germans German texts, and one that does not is warned of")
  func variantExample() async throws {
    let world = try await World()
    let gateway = try await world.gateway()
    let root = URL(fileURLWithPath: #filePath).appending(path: "../../../..").standardized
    let page = try String(contentsOf: root.appending(path: "docs/campaigns.md"), encoding: .utf8)
    let block = try #require(page.components(separatedBy: "```json5\n").first { $0.contains("variants: [") })
    let example = String(block.prefix(upTo: try #require(block.range(of: "```")).lowerBound))
    // Members that no JSON has quotes around, comments, and commas before an end.
    let plain =
      example.replacing(/\/\/.*/, with: "").replacing(/([{,]\s*)([a-z_]+):/) { "\($0.1)\"\($0.2)\":" }
      .replacing(/,(\s*[}\]])/) { String($0.1) }
    let recipients = (0..<20).map { #""de\#($0)""# }.joined(separator: ",")
    let message = plain.replacing(/"to": \{[^}]*\}/, with: #""to":{"devices":[\#(recipients)]}"#)
      .replacing(/"weight": 45/, with: #""weight": 50"#).replacing(/,\s*"holdout": 10/, with: "")
    for number in 0..<20 {
      let made = try await gateway.client.put(
        "/v1/devices/de\(number)", #"{"provider":"fcm","token":"\#(Tokens.fcm(number))","language":"de-DE"}"#)
      #expect(made.status == 201, "\(made.text)")
    }
    let answer = try await gateway.client.post("/v1/messages", message)
    #expect(answer.status == 202 && answer.json["warnings"]?.array?.isEmpty == true, "\(answer.text)")
    _ = try await gateway.completed(try #require(answer.json["id"]?.string))
    let bodies = try await world.sandbox.log().filter(\.accepted).map(\.body)
    #expect(bodies.count == 20 && bodies.allSatisfy { $0.contains("Die ganze Woche") && !$0.contains("All week") })

    let mixed = try await gateway.client.post(
      "/v1/messages?dry_run=true",
      #"{"to":{"devices":["de1"]},"notification":{"title":"Sale","body":"Now","localized":{"de":{"title":"Rabatt"}}}}"#)
    #expect(mixed.text.contains("partly_localized") && mixed.text.contains("`body`"), "\(mixed.text)")
  }
}
