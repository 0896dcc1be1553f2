import Domain
import HTTPClient
import HTTPServer
import Loop
import Support
import Testing

@Suite("Requests by the HTTP client")
struct ExchangeTests {
  @Test("method, target, headers and binary body arrive, the answer's headers in lower case", arguments: [false, true])
  func exchange(tls: Bool) async throws {
    let body = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
    let answer = try await withPair(
      tls: tls,
      handle: { request in
        let names = request.headers.map(\.name).filter { $0 != "host" && $0 != "content-length" }.sorted()
        return HTTPServerResponse(
          status: 207,
          headers: [
            Header("X-Seen", "\(request.method) \(request.path)?\(request.query("a") ?? "")"),
            Header("X-Names", names.joined(separator: ",")),
            Header("X-Empty", request.header("x-empty").map { "\($0.count) characters" } ?? "absent"),
          ], body: request.body.reversed())
      },
      body: { _, client, origin in
        try await client.send(
          HTTPClientRequest(
            url: "\(origin)/v1/x?a=b", headers: [Header("x-empty", ""), Header("authorization", "Basic abc")],
            body: body))
      })
    #expect(answer.status == 207)
    #expect(answer.header("x-seen") == "POST /v1/x?b")
    #expect(answer.header("x-names") == "accept,authorization,x-empty")
    #expect(answer.header("x-empty") == "0 characters")
    #expect(answer.body == body.reversed())
  }

  @Test(
    "each method goes with and without a body",
    arguments: ["GET", "HEAD", "DELETE", "PUT", "PATCH", "POST", "OPTIONS"], ["", "body"])
  func methods(method: String, body: String) async throws {
    let answer = try await withPair(
      handle: { request in
        HTTPServerResponse(status: 200, headers: [Header("x-seen", "\(request.method) \(request.body.count)")])
      },
      body: { _, client, origin in
        try await client.send(HTTPClientRequest(method: method, url: origin, body: Array(body.utf8), timeout: 5_000))
      })
    #expect(answer.header("x-seen") == "\(method) \(body.utf8.count)")
  }

  @Test("a redirect is an answer like any other")
  func redirect() async throws {
    let answer = try await withPair(
      handle: { request in
        #expect(request.path == "/a")
        return HTTPServerResponse(status: 302, headers: [Header("location", "/b")])
      }, body: { _, client, origin in try await client.send(HTTPClientRequest(method: "GET", url: "\(origin)/a")) })
    #expect(answer.status == 302)
    #expect(answer.header("location") == "/b")
  }

  @Test(
    "a hundred large requests at once share the connections and keep their answers apart", arguments: [false, true])
  func parallel(tls: Bool) async throws {
    try await withPair(
      tls: tls, handle: echo,
      body: { _, client, origin in
        try await withThrowingTaskGroup(of: Void.self) { group in
          for index in 0..<100 {
            let body = [UInt8](repeating: UInt8(index), count: 100_000 + index)
            nonisolated(unsafe) let client = client
            group.addTask {
              let answer = try await client.send(HTTPClientRequest(url: "\(origin)/\(index)", body: body))
              #expect(answer.status == 200 && answer.body == body)
            }
          }
          try await group.waitForAll()
        }
      })
  }

  @Test("a body beyond the limit is cut off there")
  func cut() async throws {
    let answer = try await withPair(
      client: { $0.maximumBody = 1_000 },
      handle: { _ in HTTPServerResponse(status: 503, body: [UInt8](repeating: 7, count: 1 << 20)) },
      body: { _, client, origin in try await client.send(HTTPClientRequest(method: "GET", url: origin)) })
    #expect(answer.status == 503)
    #expect(answer.body == [UInt8](repeating: 7, count: 1_000))
  }

  @Test("a request too large for the server reads its 413", arguments: [false, true])
  func tooLarge(tls: Bool) async throws {
    let answer = try await withPair(
      tls: tls, handle: echo,
      body: { _, client, origin in
        try await client.send(HTTPClientRequest(url: origin, body: [UInt8](repeating: 0x61, count: 10 << 20)))
      })
    #expect(answer.status == 413)
  }

  @Test("an answer that is taken as it comes ends where its reader has enough, and the next request is answered")
  func enough() async throws {
    let (status, taken, next) = try await withPair(
      handle: { request in
        let count = request.path == "/next" ? 3 : 10_000_000
        return HTTPServerResponse(status: 200, body: [UInt8](repeating: 7, count: count))
      },
      body: { _, client, origin in
        var taken = 0
        let answer = try await client.send(HTTPClientRequest(method: "GET", url: "\(origin)/")) { piece in
          taken += piece.count
          return taken < 100_000
        }
        let next = try await client.send(HTTPClientRequest(method: "GET", url: "\(origin)/next"))
        return (answer.status, taken, next.body.count)
      })
    #expect(status == 200 && next == 3 && (100_000..<1_000_000).contains(taken), "\(taken)")
  }

  @Test("a connection is kept, and replaced when the peer has closed it")
  func keeping() async throws {
    let peer = ScriptedPeer(connections: 2) { socket in
      for answer in ["one", "two"] {
        guard ScriptedPeer.read(socket, until: "\r\n\r\n") != nil else { return }
        ScriptedPeer.write(socket, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n\(answer)")
      }
    }
    let port = peer.port
    let bodies = try await withLoop { loop in
      let client = HTTPClient(loop: loop, settings: HTTPClientSettings())
      defer { client.close() }
      var bodies: [String] = []
      for _ in 0..<4 {
        let answer = try await client.send(HTTPClientRequest(method: "GET", url: "http://127.0.0.1:\(port)/"))
        bodies.append(String(decoding: answer.body, as: UTF8.self))
      }
      return bodies
    }
    #expect(bodies == ["one", "two", "one", "two"])
    #expect(await peer.task.value == 2)
  }
}
