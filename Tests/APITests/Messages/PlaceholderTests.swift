import Domain
import JSON
import Testing

@Suite("Placeholders name what devices have", .serialized)
struct PlaceholderTests {
  @Test("a name that no device has is refused with a suggestion, unless it has a default")
  func names() async throws {
    try await Gateway.running { gateway in
      gateway.register("d1", #""attributes":{"first_name":"Ann"}"#)
      func send(_ title: String) -> Reply {
        gateway.ask("POST", "/v1/messages", #"{"to":{"devices":["d1"]},"notification":{"title":"\#(title)"}}"#)
      }
      let refused = send("Hi {{frist_name}}")
      #expect(refused.status == 422, "\(refused.text)")
      #expect(refused.text.contains("did you mean `first_name`"), "\(refused.text)")
      #expect(send("Hi {{zzzzzzzz}}").status == 422)
      #expect(send("Hi {{first_name}}").status == 202)
      #expect(send("Hi {{zzzzzzzz|you}}").status == 202)
    }
  }
}
