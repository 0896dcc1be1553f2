import Domain
import HTTPServer
import Loop

/// Stands for Google's token endpoint: gives an access token to whoever asks.
final class TokenResponder {
  private let server: HTTPServer

  init(loop: EventLoop) throws {
    server = try HTTPServer(loop: loop, settings: HTTPServerSettings()) { _ in
      let token = "ya29." + String(repeating: "a", count: 200)
      let body = Array("{\"access_token\":\"\(token)\",\"expires_in\":3599,\"token_type\":\"Bearer\"}".utf8)
      return HTTPServerResponse(status: 200, headers: [Header("content-type", "application/json")], body: body)
    }
  }

  var port: Int { server.port }
  func stop() async { await server.stop() }
}
