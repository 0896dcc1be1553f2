import Domain
import Foundation
import HTTPClient
import HTTPServer
import Loop
import Support
import Synchronization
import TLS
import Testing

/// What was turned away, from the loop.
private final class TurnedAway: Sendable {
  private let causes = Mutex<[HTTPTurnedAway]>([])
  func add(_ cause: HTTPTurnedAway) { causes.withLock { $0.append(cause) } }
  var all: [HTTPTurnedAway] { causes.withLock { $0 } }
}

@Suite("A request is admitted before its body is read")
struct AdmissionTests {
  /// Admits paths below `/open` at once, below `/known` after a while, refuses `/closed` at once and all else after a while.
  private static func admit(_ request: HTTPServerRequest) -> HTTPAdmission {
    func verdict() -> HTTPVerdict {
      request.path.hasPrefix("/open") || request.path.hasPrefix("/known")
        ? .take(permit: nil, key: request.header("x-key") ?? "")
        : .answer(HTTPServerResponse(status: 401, body: Array("no key".utf8)))
    }
    if request.path.hasPrefix("/open") || request.path.hasPrefix("/closed") { return .now(verdict()) }
    return .later {
      await Task.yield()
      return verdict()
    }
  }

  private func asking<Value: Sendable>(
    _ settings: HTTPServerSettings = HTTPServerSettings(), turnedAway: TurnedAway = TurnedAway(),
    handle: @escaping @Sendable (HTTPServerRequest) async -> HTTPServerResponse = echo,
    _ client: @escaping @Sendable (Int) async throws -> Value
  ) async throws -> Value {
    try await withServer(
      settings, turnedAway: { cause, _ in turnedAway.add(cause) }, admit: Self.admit, handle: handle, client: client)
  }

  private static let megabyte = [UInt8](repeating: 0x61, count: 1 << 20)

  @Test(
    "refused at once or later, a body in any form is not read, and the client has its answer",
    arguments: ["/closed", "/unknown"], ["POST", "PUT", "PATCH", "DELETE"])
  func refusedBodies(path: String, method: String) async throws {
    for framing in ["Content-Length: 1048576", "Transfer-Encoding: chunked"] {
      let text = try await asking(
        handle: { request in
          Issue.record("the handler was asked for \(request.path)")
          return HTTPServerResponse(status: 200)
        },
        { port in
          let wire = try Wire(port: port)
          wire.send("\(method) \(path) HTTP/1.1\r\nHost: h\r\n\(framing)\r\n\r\n")
          let chunk =
            framing.hasPrefix("T") ? Array("100000\r\n".utf8) + Self.megabyte + Array("\r\n".utf8) : Self.megabyte
          wire.send(chunk)
          return try wire.rest()
        })
      #expect(text.hasPrefix("HTTP/1.1 401 Unauthorized\r\n"), "\(method) \(path) \(framing): \(text)")
      #expect(text.hasSuffix("no key"))
    }
  }

  @Test("a client that asks before it sends is told at once", arguments: ["/closed", "/unknown"])
  func expecting(path: String) async throws {
    let text = try await asking { port in
      let wire = try Wire(port: port)
      wire.send("POST \(path) HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 1048576\r\n\r\n")
      return try wire.rest()
    }
    #expect(text.hasPrefix("HTTP/1.1 401 "), "\(text)")
  }

  @Test(
    "an admitted one goes on after the look-up: with a body, in chunks, without, and after 100 Continue",
    arguments: ["/open", "/known"])
  func admitted(path: String) async throws {
    try await asking { port in
      let wire = try Wire(port: port)
      wire.send("POST \(path) HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc")
      #expect(try wire.answer().text == "abc")
      wire.send("PUT \(path) HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n")
      #expect(try wire.answer().text == "ab")
      wire.send("POST \(path) HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n")
      wire.send("3\r\nxyz\r\n0\r\n\r\n")
      #expect(try wire.answer().text == "xyz")
      wire.send("GET \(path) HTTP/1.1\r\nHost: h\r\n\r\n")
      #expect(try wire.answer().header("x-seen") == "GET \(path) 0")
      wire.send("POST \(path) HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
      #expect(try wire.answer().status == 100)
      wire.send("ok")
      #expect(try wire.answer().text == "ok")
    }
  }

  @Test("without a body a refused request keeps its connection, and requests behind it are answered in turn")
  func pipelined() async throws {
    try await asking { port in
      let wire = try Wire(port: port)
      wire.send(
        "GET /unknown HTTP/1.1\r\nHost: h\r\n\r\nGET /closed HTTP/1.1\r\nHost: h\r\n\r\n"
          + "POST /known HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nhi"
          + "POST /unknown HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nhi")
      #expect(try wire.answer().status == 401)
      #expect(try wire.answer().status == 401)
      #expect(try wire.answer().text == "hi")
      #expect(try wire.answer().status == 401)
      #expect(try wire.rest() == "")
    }
  }

  @Test("over TLS too, a refused client has its answer before its body is read, at once or later")
  func secured() async throws {
    let authority = CertificateAuthority(name: "Test")
    var settings = HTTPServerSettings()
    (settings.certificate, settings.key) = authority.issue(hosts: ["localhost"])
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("fanfare-ca-\(UUID().uuidString).pem")
    defer { try? FileManager.default.removeItem(at: file) }
    try Data(authority.certificatePEM).write(to: file)
    try await withLoop { [settings] loop in
      let server = try HTTPServer(loop: loop, settings: settings, admit: Self.admit, handle: echo)
      var trusting = HTTPClientSettings()
      trusting.caFile = file.path
      let client = HTTPClient(loop: loop, settings: trusting)
      for (path, status) in [("/closed", 401), ("/unknown", 401), ("/known", 200), ("/open", 200), ("/known", 200)] {
        for size in [0, 1_000, 1 << 20] {
          let answer = try await client.send(
            HTTPClientRequest(
              method: "POST", url: "https://localhost:\(server.port)\(path)", headers: [],
              body: [UInt8](repeating: 0x61, count: size), timeout: 20_000))
          #expect(answer.status == status, "\(path) \(size)")
          if status == 200 { #expect(answer.body.count == size) }
        }
      }
      client.close()
      await server.stop()
    }
  }

  @Test("bodies in flight are bounded: of all, of a key, of an address")
  func bytes() async throws {
    for (limits, status, cause) in [
      (ByteLimits(total: 100_000, perKey: .max, perAddress: .max), 503, HTTPTurnedAway.totalBytes),
      (ByteLimits(total: .max, perKey: 100_000, perAddress: .max), 429, .bytesOfKey),
      (ByteLimits(total: .max, perKey: .max, perAddress: 100_000), 429, .bytesOfAddress),
    ] {
      var settings = HTTPServerSettings()
      settings.bytes = limits
      let turnedAway = TurnedAway()
      try await asking(settings, turnedAway: turnedAway) { port in
        let slow = try Wire(port: port, from: "127.0.0.2")
        slow.send("POST /open HTTP/1.1\r\nHost: h\r\nX-Key: a\r\nContent-Length: 90000\r\n\r\nx")
        // It was admitted when this one, behind it in the loop, is answered.
        for framing in ["Content-Length: 60000", "Transfer-Encoding: chunked"] {
          let next = try Wire(port: port, from: "127.0.0.2")
          next.send("POST /open HTTP/1.1\r\nHost: h\r\nX-Key: a\r\n\(framing)\r\n\r\n")
          let body = [UInt8](repeating: 0x61, count: 60_000)
          next.send(framing.hasPrefix("T") ? Array("ea60\r\n".utf8) + body + Array("\r\n0\r\n\r\n".utf8) : body)
          #expect(try next.answer().status == status, "\(framing)")
        }
        #expect(turnedAway.all == [cause, cause])
        slow.send([UInt8](repeating: 0x61, count: 89_999))
        #expect(try slow.answer().status == 200)
        // What was held is given back.
        slow.send("POST /open HTTP/1.1\r\nHost: h\r\nX-Key: a\r\nContent-Length: 90000\r\n\r\n")
        slow.send([UInt8](repeating: 0x61, count: 90_000))
        #expect(try slow.answer().body.count == 90_000)
      }
    }
  }

  @Test(
    "an answer that finds no memory is replaced by a refusal; one that is not read is cut off and gives back its bytes")
  func answers() async throws {
    var settings = HTTPServerSettings()
    settings.bytes = ByteLimits(total: 12 << 20, perKey: .max, perAddress: .max)
    settings.transferWindow = 300
    settings.leastRate = 1 << 30
    let turnedAway = TurnedAway()
    try await asking(
      settings, turnedAway: turnedAway,
      handle: { _ in HTTPServerResponse(status: 200, body: [UInt8](repeating: 0x61, count: 10 << 20)) },
      { port in
        let deaf = try Wire(port: port)
        deaf.send("GET /open HTTP/1.1\r\nHost: h\r\n\r\n")
        var status = 0
        // As soon as the first one is held, others are refused; when it was cut off, one is served again.
        var seen: Set<Int> = []
        while !seen.isSuperset(of: [200, 503]) {
          let wire = try Wire(port: port)
          wire.send("GET /open HTTP/1.1\r\nHost: h\r\n\r\n")
          status = (try? wire.answer().status) ?? 0
          seen.insert(status)
        }
        #expect(turnedAway.all.contains(.totalBytes) && turnedAway.all.contains(.slow))
      })
  }

  @Test("a body that trickles is cut off with an answer, also of a client that sent much at first")
  func slowBodies() async throws {
    var settings = HTTPServerSettings()
    settings.transferWindow = 300
    let turnedAway = TurnedAway()
    try await asking(settings, turnedAway: turnedAway) { port in
      let wire = try Wire(port: port)
      wire.send("POST /open HTTP/1.1\r\nHost: h\r\nContent-Length: 1048576\r\n\r\n")
      wire.send([UInt8](repeating: 0x61, count: 900_000))
      let trickle = Task.detached {
        while !Task.isCancelled, wire.send("X") { try? await Task.sleep(for: .milliseconds(20)) }
      }
      defer { trickle.cancel() }
      #expect(try wire.answer().status == 408)
      #expect(turnedAway.all == [.slow])
    }
  }

  @Test("an address has so many connections, and a further one is closed at once; others are served")
  func connections() async throws {
    var settings = HTTPServerSettings()
    settings.connectionsPerAddress = 2
    let turnedAway = TurnedAway()
    try await asking(settings, turnedAway: turnedAway) { port in
      func asks(_ wire: Wire) throws -> Int {
        wire.send("GET /open HTTP/1.1\r\nHost: h\r\n\r\n")
        return try wire.answer().status
      }
      let held = try (0..<2).map { _ in try Wire(port: port, from: "127.0.0.2") }
      for wire in held { #expect(try asks(wire) == 200) }
      let third = try Wire(port: port, from: "127.0.0.2")
      #expect(((try? third.rest()) ?? "") == "")
      #expect(turnedAway.all == [.connections])
      #expect(try asks(try Wire(port: port, from: "127.0.0.3")) == 200)
      #expect(try asks(try Wire(port: port)) == 200)
      #expect(try asks(held[0]) == 200)
    }
  }
}
