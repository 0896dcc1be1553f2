import Foundation
import HTTPServer
import Testing

@Suite("What the HTTP server refuses")
struct RefusalTests {
  private static let guarded = HTTPServerSettings()

  /// The answer to `request`, after which the connection must end; the handler must not be asked.
  private func refused(_ request: [UInt8], _ settings: HTTPServerSettings = guarded) async throws -> String {
    try await withServer(
      settings, refuse: { HTTPServerResponse(status: $0.status, body: Array("dressed: \($0.detail)".utf8)) },
      handle: { request in
        Issue.record("the handler was asked for \(request.path)")
        return HTTPServerResponse(status: 200)
      },
      client: { port in
        let wire = try Wire(port: port)
        wire.send(request)
        wire.endSending()
        return try wire.rest()
      })
  }

  @Test(
    "a head that can be read in two ways is refused, and the connection ends",
    arguments: [
      ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nab", "Content-Length once"),
      ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\nContent-Length: 2\r\n\r\nab", "Content-Length once"),
      (
        "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "not both"
      ),
      ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "chunked"),
      (
        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n0\r\n\r\n",
        "chunked"
      ),
      ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "Host once"),
      ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length : 2\r\n\r\nab", "name of a header"),
      ("GET / HTTP/1.1\r\nHost: h\r\nX: a\u{1}b\r\n\r\n", "control character"),
      ("GET / HTTP/1.1\r\nHost: h\r\nX: a\rb\r\n\r\n", "control character"),
      ("GET /?a=%zz HTTP/1.1\r\nHost: h\r\n\r\n", "a percent sign itself is %25"),
      ("GET /?a=%ff HTTP/1.1\r\nHost: h\r\n\r\n", "a percent sign itself is %25"),
      ("GET / HTTP/1.1\r\n\r\n", "Host once"), ("GET /a\0b HTTP/1.1\r\nHost: h\r\n\r\n", "NUL"),
      ("GET /a b HTTP/1.1\r\nHost: h\r\n\r\n", "percent-encoded"),
      ("GET /é HTTP/1.1\r\nHost: h\r\n\r\n", "percent-encoded"),
      ("GET example.org HTTP/1.1\r\nHost: h\r\n\r\n", "path"),
      ("G@T / HTTP/1.1\r\nHost: h\r\n\r\n", "method"),
    ])
  func ambiguous(request: String, reason: String) async throws {
    let answer = try await refused(Array(request.utf8))
    #expect(answer.hasPrefix("HTTP/1.1 400 "))
    #expect(answer.contains("dressed: "))
    #expect(answer.contains(reason))
    #expect(answer.components(separatedBy: "HTTP/1.1").count == 2)
  }

  @Test(
    "what the library refuses by itself ends without reaching the handler",
    arguments: [
      "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: +2\r\n\r\nab",
      "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2,2\r\n\r\nab",
      "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999999\r\n\r\nab",

      "GET / HTTP/1.1\r\nHost h\r\n\r\n", "GET / HTTP/2.0\r\n\r\n",
      "hello\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: h\r\nX\0: a\r\n\r\n",
    ])
  func library(request: String) async throws {
    let answer = try await refused(Array(request.utf8))
    #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 4") || answer.hasPrefix("HTTP/1.1 505"), "\(answer)")
  }

  @Test("a head beyond the limits gets a readable 431", arguments: [20_000, 32_700, 36_000, 60_000, 200_000])
  func head(size: Int) async throws {
    let head = "GET / HTTP/1.1\r\nHost: h\r\nX: \(String(repeating: "x", count: size))\r\n\r\n"
    #expect(try await refused(Array(head.utf8)).hasPrefix("HTTP/1.1 431 "))
  }

  @Test("a head of twice the limit is refused by us, in one header or in as many as are allowed", arguments: [1, 99])
  func twice(count: Int) async throws {
    let each = (2 * Self.guarded.maximumHead - 40) / count - "X99: \r\n".utf8.count
    let headers = (0..<count).map { "X\($0): \(String(repeating: "x", count: each))\r\n" }.joined()
    let answer = try await refused(Array("GET / HTTP/1.1\r\nHost: h\r\n\(headers)\r\n".utf8))
    #expect(answer.hasPrefix("HTTP/1.1 431 ") && answer.contains("dressed: "))
  }

  @Test("too many headers get 431")
  func headers() async throws {
    let headers = (0..<101).map { "A\($0): b\r\n" }.joined()
    let answer = try await refused(Array("GET / HTTP/1.1\r\nHost: h\r\n\(headers)\r\n".utf8))
    #expect(answer.hasPrefix("HTTP/1.1 431 "))
    #expect(answer.contains("dressed: "))
  }

  @Test(
    "ten megabytes against a limit of one get a readable 413, by length and in chunks",
    arguments: ["Content-Length: 10485760", "Transfer-Encoding: chunked"])
  func large(framing: String) async throws {
    let piece = [UInt8](repeating: 0x61, count: 65_536)
    let chunk = framing.hasPrefix("T") ? Array("10000\r\n".utf8) + piece + Array("\r\n".utf8) : piece
    let body = (0..<160).flatMap { _ in chunk }
    let answer = try await refused(Array("POST /v1 HTTP/1.1\r\nHost: h\r\n\(framing)\r\n\r\n".utf8) + body)
    #expect(answer.hasPrefix("HTTP/1.1 413 "))
    #expect(answer.contains("dressed: The body is larger than 1048576 bytes."))
  }

  @Test("a client that asks before it sends too much is told at once")
  func expecting() async throws {
    let answer = try await refused(
      Array("POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 10485760\r\n\r\n".utf8))
    #expect(answer.hasPrefix("HTTP/1.1 413 "))
  }
}
