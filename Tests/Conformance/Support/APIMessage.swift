import Domain
import Intake
import JSON

/// A message as a client writes it, `to` and all: what it became on the wire shows the whole way.
func apiMessage(_ text: String) throws -> Message {
  try MessageReader.message(from: JSON.parse(Array(text.utf8)))
}

extension ProviderUnderTest {
  /// The request that the message makes for an address; `header` values by name.
  func request(_ text: String, to address: Address? = nil) throws -> (
    headers: [String: String], request: ProviderRequest
  ) {
    let account = try account()
    let rendering = try account.render(apiMessage(text), startedAt: started)
    let request = account.request(rendering, to: [address ?? self.address], id: someID, authorization: "bearer jwt")
    return (Dictionary(uniqueKeysWithValues: request.headers.map { ($0.name, $0.value) }), request)
  }
}
