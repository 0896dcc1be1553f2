import Domain
import JSON
import Support
import Testing

extension Journeys {
  @Test("labels filter the list and stand in reports, also after everything was sent")
  func labels() async throws {
    let world = try await World()
    let gateway = try await world.gateway()
    func send(_ targets: String, _ labels: String) async throws -> String {
      try await gateway.send(#"{"to":{"tokens":[\#(targets)]},"notification":{"body":"B"},"labels":\#(labels)}"#)
    }
    let single = try await send(Tokens.targets("apns", [Tokens.apns(1)]), #"{"campaign":"spring","wave":2}"#)
    let slice = try await send(Tokens.targets("onesignal", [Tokens.oneSignal(1)]), #"{"campaign":"spring"}"#)
    let list = try await send(Tokens.targets("fcm", (0..<600).map(Tokens.fcm)), #"{"campaign":"autumn","final":true}"#)
    let plain = try await send(Tokens.targets("apns", [Tokens.apns(2)]), "{}")
    for id in [single, slice, list, plain] { _ = try await gateway.completed(id) }
    func found(_ label: String) async throws -> [String] {
      let answer = try await gateway.client.get("/v1/messages?label=\(label)")
      #expect(answer.status == 200, "\(answer.text)")
      return answer.json["items"]?.array?.compactMap { $0["id"]?.string } ?? []
    }
    #expect(try await found("campaign:spring") == [slice, single])
    #expect(try await found("campaign%3Aspring") == [slice, single])
    #expect(try await found("wave:2") == [single])
    #expect(try await found("final:true") == [list])
    #expect(try await found("campaign:summer").isEmpty)
    let labels = try await gateway.client.get("/v1/messages/\(single)").json["labels"]
    #expect(labels?["campaign"]?.string == "spring")
    #expect(labels?["wave"]?.integer == 2)
    #expect(try await gateway.client.get("/v1/messages/\(plain)").json["labels"] == nil)
  }
}
