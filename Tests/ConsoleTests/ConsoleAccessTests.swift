import Domain
import HTTPServer
import Support
import Testing

@testable import Console

@Suite("Who may type a key into the console")
struct ConsoleAccessTests {
  private func visit(_ headers: [(String, String)], from address: String, tls: Bool = false, byProxy: Bool = false)
    throws -> Visit
  {
    var settings = ConsoleSettings()
    settings.servesTLS = tls
    let request = HTTPServerRequest(
      method: "POST", path: "/console/sign-in", headers: headers.map { Header($0.0, $0.1) },
      address: try #require(NetworkAddress(address)), isFromProxy: byProxy)
    return Visit(request, settings)
  }

  @Test(
    "over HTTPS, told by this process or by a proxy, or from the machine itself; not over plain HTTP from elsewhere")
  func transport() throws {
    #expect(try visit([], from: "127.0.0.1").mayCarryKeys && visit([], from: "::1").mayCarryKeys)
    #expect(try !visit([], from: "203.0.113.7").mayCarryKeys)
    let told = [("x-forwarded-for", "203.0.113.7"), ("x-forwarded-proto", "https")]
    #expect(try visit(told, from: "203.0.113.7", byProxy: true).mayCarryKeys)
    // Anybody can write a header.
    #expect(try !visit(told, from: "203.0.113.7").mayCarryKeys)
    #expect(try !visit([("x-forwarded-proto", "https, http")], from: "203.0.113.7", byProxy: true).mayCarryKeys)
    // A proxy on this machine that is not configured: the client is somewhere.
    #expect(try !visit([("x-forwarded-for", "203.0.113.7")], from: "127.0.0.1", byProxy: true).mayCarryKeys)
    #expect(try visit([], from: "203.0.113.7", tls: true).mayCarryKeys)
  }

  @Test("the cookie keeps to HTTPS and this host wherever there is HTTPS, and no script reads it")
  func cookies() throws {
    let secure = try visit([], from: "203.0.113.7", tls: true).cookie("abc").value
    #expect(secure == "__Host-fanfare=abc; Path=/; HttpOnly; SameSite=Strict; Secure")
    let plain = try visit([], from: "127.0.0.1").cookie(nil).value
    #expect(plain == "fanfare=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0")
    #expect(try visit([("cookie", "a=b; fanfare=abc")], from: "127.0.0.1").token == "abc")
    #expect(try visit([("cookie", "fanfare=abc")], from: "203.0.113.7", tls: true).token == nil)
  }

  @Test("a link that was followed from another site asks once more, as browsers keep a strict cookie back then")
  func links() throws {
    func asksAgain(_ headers: [(String, String)]) throws -> Bool {
      let request = HTTPServerRequest(
        method: "GET", path: "/console", headers: headers.map { Header($0.0, $0.1) },
        address: try #require(NetworkAddress("127.0.0.1")))
      return Visit(request, ConsoleSettings()).isFollowedFromElsewhere
    }
    #expect(try asksAgain([("sec-fetch-site", "cross-site")]))
    #expect(try !asksAgain([("sec-fetch-site", "cross-site"), ("cookie", "fanfare=abc")]))
    for here in ["same-origin", "none"] { #expect(try !asksAgain([("sec-fetch-site", here)])) }
  }

  @Test("a form comes from a page of this host")
  func origins() throws {
    for (headers, isOurs) in [
      ([("sec-fetch-site", "same-origin")], true), ([("sec-fetch-site", "cross-site")], false),
      ([("sec-fetch-site", "same-site")], false), ([("sec-fetch-site", "none")], false),
      ([("origin", "https://push.example"), ("host", "push.example")], true),
      ([("origin", "https://evil.example"), ("host", "push.example")], false), ([("host", "push.example")], false),
      ([("origin", "null"), ("host", "push.example")], false),
    ] {
      #expect(try (visit(headers, from: "127.0.0.1").forgery == nil) == isOurs, "\(headers)")
    }
  }

  @Test("after signing in one is at a page of the console, whatever the form says")
  func targets() throws {
    func target(_ text: String) throws -> String? {
      let request = HTTPServerRequest(
        method: "POST", path: "/console/sign-in",
        headers: [Header("content-type", "application/x-www-form-urlencoded")],
        body: Array("target=\(Link.escaped(text))".utf8), address: try #require(NetworkAddress("127.0.0.1")))
      return Visit(request, ConsoleSettings()).target?.text
    }
    #expect(try target("/console/campaigns/msg_1") == "/console/campaigns/msg_1")
    #expect(try target("/console/people?q=a+b%26c") == "/console/people?q=a%20b%26c")
    for foreign in [
      "//evil.example/console/", "https://evil.example", "/v1/keys", "/console", "/consoles/x", "",
      "/console/../v1/keys", "/console/./x", "/console/%2e%2e/x",
    ] {
      #expect(try target(foreign) == nil, "\(foreign)")
    }
    #expect(try target("/console//evil.example/a") == "/console/evil.example/a")
  }
}
