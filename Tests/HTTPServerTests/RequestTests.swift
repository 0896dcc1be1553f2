import Domain
import HTTPServer
import Testing

@Suite("Requests to the HTTP server")
struct RequestTests {
  @Test("the handler sees method, raw path, decoded query, all headers and the peer")
  func request() async throws {
    let answer = try await withServer(
      handle: { request in
        let query = request.query.map { "\($0.name)=\($0.value)" }.joined(separator: ";")
        let twice = request.headers.filter { $0.name == "x-twice" }.map(\.value).joined(separator: "|")
        let seen = "\(request.method) \(request.path) [\(query)] \(twice) \(request.peer)"
        return HTTPServerResponse(
          status: 202, headers: [Header("content-type", "text/plain"), Header("x-a", "1"), Header("x-a", "2")],
          body: Array(seen.utf8))
      },
      client: { port in
        let wire = try Wire(port: port)
        wire.send(
          "GET /v1/a%2Fb%00c?limit=5&q=a+b%20%C3%A9%26&flag&=x HTTP/1.1\r\nHost: h\r\nX-Twice: 1\r\nx-tWICE:  2 \r\n\r\n"
        )
        return try wire.answer()
      })
    #expect(answer.status == 202)
    #expect(answer.text == "GET /v1/a%2Fb%00c [limit=5;q=a b é&;flag=;=x] 1|2 127.0.0.1")
    #expect(answer.headers.filter { $0.name == "x-a" }.map(\.value) == ["1", "2"])
    #expect(answer.header("content-type") == "text/plain")
    #expect(answer.header("date")?.hasSuffix("GMT") == true)
  }

  @Test("a body arrives whole, by length, in chunks, and after 100-continue")
  func bodies() async throws {
    try await withServer { port in
      let wire = try Wire(port: port)
      let body = (0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
      wire.send("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: \(body.count)\r\n\r\n")
      wire.send(body)
      let whole = try wire.answer()
      #expect(whole.status == 200)
      #expect(whole.body == body)

      wire.send("PATCH /b HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n")
      wire.send("3\r\nabc\r\n")
      wire.send("A;ext=1\r\ndefghijklm\r\n0\r\nTrailer: t\r\n\r\n")
      let chunked = try wire.answer()
      #expect(chunked.text == "abcdefghijklm")

      wire.send("PUT /c HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
      #expect(try wire.answer().status == 100)
      wire.send("hi")
      #expect(try wire.answer().text == "hi")
    }
  }

  @Test("pipelined requests are answered in order on one connection")
  func pipelining() async throws {
    try await withServer { port in
      let wire = try Wire(port: port)
      let requests = (0..<50).map { "POST /\($0) HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n\($0 % 10)x" }
      wire.send(requests.joined())
      for index in 0..<50 {
        let answer = try wire.answer()
        #expect(answer.header("x-seen") == "POST /\(index) 2")
        #expect(answer.text == "\(index % 10)x")
      }
    }
  }

  @Test("HEAD and 204 have no body, and the connection goes on")
  func bodiless() async throws {
    try await withServer(
      handle: { request in
        request.path == "/none"
          ? HTTPServerResponse(status: 204) : HTTPServerResponse(status: 200, body: Array("twelve bytes".utf8))
      },
      client: { port in
        let wire = try Wire(port: port)
        wire.send("HEAD /a HTTP/1.1\r\nHost: h\r\n\r\n")
        let head = try wire.answer(hasBody: false)
        #expect(head.header("content-length") == "12")
        wire.send("GET /none HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(try wire.answer(hasBody: false).status == 204)
        wire.send("GET /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        #expect(try wire.answer().text == "twelve bytes")
        #expect(try wire.rest() == "")
      })
  }

  @Test("a handler cannot break the answer's frame through a header")
  func injection() async throws {
    try await withServer(
      handle: { _ in
        HTTPServerResponse(
          status: 200,
          headers: [
            Header("x-evil", "a\r\nSet-Cookie: b\0c"), Header("content-length", "99"), Header("transfer-encoding", "x"),
          ], body: Array("ok".utf8))
      },
      client: { port in
        let wire = try Wire(port: port)
        wire.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        let answer = try wire.answer()
        #expect(answer.text == "ok")
        #expect(answer.header("x-evil") == "a  Set-Cookie: b c")
        #expect(answer.header("set-cookie") == nil && answer.header("transfer-encoding") == nil)
      })
  }
}
