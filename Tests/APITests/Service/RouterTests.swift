import API
import Domain
import Intake
import Testing

@Suite("Requests find their way")
struct RouterTests {
  private func found(_ method: String, _ path: String) -> String {
    switch Router.match(method, path) {
    case .found(let endpoint, let parameters): ([endpoint.path] + parameters).joined(separator: " ")
    case .refused(let problem): problem.code.rawValue
    }
  }

  @Test(
    "a path leads to its endpoint, with its parameters decoded",
    arguments: [
      ("POST", "/v1/messages", "/v1/messages"),
      ("GET", "/v1/messages/msg_1", "/v1/messages/{id} msg_1"),
      ("HEAD", "/v1/messages/msg_1", "/v1/messages/{id} msg_1"),
      ("POST", "/v1/messages/bulk", "/v1/messages/bulk"),
      ("GET", "/v1/messages/msg_1/deliveries", "/v1/messages/{id}/deliveries msg_1"),
      ("GET", "/v1/users/a%20b%2Fc", "/v1/users/{user} a b/c"),
      ("GET", "/v1/users/%C3%A9", "/v1/users/{user} é"),
      ("GET", "/healthz", "/healthz"),
      ("GET", "/v1/users/", "not_found"),
      ("GET", "/v1/users/%zz", "bad_request"),
      ("GET", "/v1/users/%c3", "bad_request"),
      ("GET", "/v1/users/a%", "bad_request"),
      ("DELETE", "/v1/messages", "method_not_allowed"),
      ("PATCH", "/healthz", "method_not_allowed"),
      ("GET", "/", "not_found"),
      ("GET", "", "not_found"),
      ("OPTIONS", "*", "not_found"),
      ("GET", "//v1/messages", "not_found"),
      ("GET", "/v1/../v1/messages", "not_found"),
    ])
  func match(_ method: String, _ path: String, _ expected: String) {
    #expect(found(method, path) == expected)
  }

  @Test("words that paths say something else by are refused as ids")
  func words() {
    #expect(Router.words.isSubset(of: DeviceReader.reservedIDs), "\(Router.words)")
    #expect(found("PUT", "/v1/devices/export") == "method_not_allowed")
  }

  @Test("a wrong method is told which ones there are")
  func allow() throws {
    guard case .refused(let problem) = Router.match("PATCH", "/v1/devices/d1") else {
      Issue.record("was found")
      return
    }
    #expect(problem.headers == [Header("allow", "DELETE, GET, HEAD, PUT")])
  }

  @Test(
    "a slip in the path is answered with what was probably meant",
    arguments: [
      ("/v1/mesages", "/v1/messages"), ("/messages", "/v1/messages"), ("/v1/messages/", "/v1/messages"),
      ("/v1/message/msg_1/delivery", "/v1/messages/{id}/deliveries"),
      ("/v1/messages/msg_1/deliverys", "/v1/messages/{id}/deliveries"),
      ("/v1/device/d1", "/v1/devices/{id}"), ("/health", "/healthz"), ("/something/else", nil),
    ] as [(String, String?)])
  func suggestion(_ path: String, _ near: String?) {
    guard case .refused(let problem) = Router.match("GET", path) else {
      Issue.record("was found")
      return
    }
    #expect(problem.code == .notFound)
    #expect(problem.detail.contains("did you mean") == (near != nil))
    if let near { #expect(problem.detail.contains("did you mean \(near)?"), "\(problem.detail)") }
  }
}
