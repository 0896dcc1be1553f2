import Domain
import Testing

@testable import HTTP2

@Suite("HTTP/1.1 of a server")
struct HTTP1Tests {
  private func made(_ change: (inout HTTP2ServerSettings) -> Void = { _ in }) -> HTTP1Machine {
    var settings = HTTP2ServerSettings()
    change(&settings)
    return HTTP1Machine(settings: settings)
  }
  private func text(_ machine: inout HTTP1Machine) -> String {
    var bytes: [UInt8] = []
    while true {
      let piece = machine.take(1 << 16)
      if piece.isEmpty { return String(decoding: bytes, as: UTF8.self) }
      bytes += piece
    }
  }
  /// Hands the text over in pieces of so many bytes, and answers the requests that come of it.
  private func requests(_ machine: inout HTTP1Machine, _ text: String, pieces: Int) -> [HTTP2ServerRequest] {
    var found: [HTTP2ServerRequest] = []
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let piece = Array(rest.prefix(pieces))
      rest = rest.dropFirst(pieces)
      #expect(piece.withUnsafeBytes { machine.receive($0) })
      while let request = machine.next(on: 7) {
        found.append(request)
        machine.respond(status: 200, headers: [], body: Array("ok".utf8), filler: 0)
      }
    }
    return found
  }

  @Test("requests come whole however they are cut: by length, in chunks, without a body", arguments: [1, 3, 100_000])
  func whole(_ pieces: Int) {
    var machine = made()
    let found = requests(
      &machine,
      "POST /a?b=c HTTP/1.1\r\nHost: one\r\nContent-Length: 5\r\nX-Two:  words here \r\n\r\nhello"
        + "POST /b HTTP/1.1\r\nHost: one\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\nT: x\r\n\r\n"
        + "GET https://elsewhere/c HTTP/1.1\r\nHost: elsewhere\r\nConnection: close\r\n\r\n", pieces: pieces)
    #expect(found.map(\.path) == ["/a?b=c", "/b", "/c"])
    #expect(found.map { String(decoding: $0.body, as: UTF8.self) } == ["hello", "abc0123456789", ""])
    #expect(found.map(\.stream.stream) == [1, 2, 3])
    #expect(found[0].header("x-two") == "words here")
    let answers = text(&machine)
    #expect(answers.components(of: "HTTP/1.1 200 OK\r\n") == 3)
    #expect(answers.hasSuffix("content-length: 2\r\nconnection: close\r\n\r\nok"))
    #expect(machine.isOver)
  }

  @Test("one request at a time: the next one waits for the answer to the one before")
  func order() {
    var machine = made()
    let two = Array("GET /1 HTTP/1.1\r\n\r\nGET /2 HTTP/1.1\r\n\r\n".utf8)
    #expect(two.withUnsafeBytes { machine.receive($0) })
    #expect(machine.next(on: 1)?.path == "/1")
    #expect(machine.next(on: 1) == nil)
    machine.respond(status: 204, headers: [], body: [], filler: 0)
    #expect(machine.next(on: 1)?.path == "/2")
    #expect(text(&machine) == "HTTP/1.1 204 No Content\r\n\r\n")
  }

  @Test("a client that expects 100 is told to go on, once; HEAD gets no body")
  func expectation() {
    var machine = made()
    let head = Array("PUT / HTTP/1.1\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n".utf8)
    #expect(head.withUnsafeBytes { machine.receive($0) })
    #expect(machine.next(on: 1) == nil)
    #expect(text(&machine) == "HTTP/1.1 100 Continue\r\n\r\n")
    #expect(Array("o".utf8).withUnsafeBytes { machine.receive($0) })
    #expect(machine.next(on: 1) == nil)
    #expect(text(&machine).isEmpty)
    #expect(requests(&machine, "k", pieces: 1).count == 1)
    #expect(text(&machine).hasSuffix("\r\n\r\nok"))
    #expect(requests(&machine, "HEAD / HTTP/1.1\r\n\r\n", pieces: 100).count == 1)
    #expect(text(&machine) == "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n")
  }

  @Test(
    "what cannot be a request is refused with its status, and the connection ends",
    arguments: [
      ("GET /\r\n\r\n", 400), ("GET / HTTP/2.0\r\n\r\n", 400), ("GET nowhere HTTP/1.1\r\n\r\n", 400),
      ("GET / HTTP/1.1\r\nno colon\r\n\r\n", 400), ("POST / HTTP/1.1\r\nContent-Length: 1, 2\r\n\r\n", 400),
      ("POST / HTTP/1.1\r\nContent-Length: +1\r\n\r\n", 400),
      ("POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n", 400),
      ("POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
      ("POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
      ("POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", 501),
      ("POST / HTTP/1.1\r\nContent-Length: 1001\r\n\r\n", 413),
      ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n7FFFFFFFFFFFFFFF\r\n", 413),
      ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n", 400),
      ("GET / HTTP/1.1\r\nX: \(String(repeating: "x", count: 2_000))\r\n\r\n", 431),
      (String(repeating: "x", count: 1_100), 431),
    ])
  func refused(_ request: String, _ status: Int) {
    var machine = made {
      $0.maximumBody = 1_000
      $0.maximumHeaderBytes = 1_000
    }
    #expect(requests(&machine, request, pieces: 100_000).isEmpty)
    let answer = text(&machine)
    #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(answer)")
    #expect(answer.contains("connection: close\r\n"))
    #expect(machine.isOver)
  }
}

extension String {
  /// How often the part stands here.
  fileprivate func components(of part: String) -> Int {
    split(separator: part, omittingEmptySubsequences: false).count - 1
  }
}
