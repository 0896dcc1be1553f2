import Domain
import HTTP2
import Loop
import Support
import TLS
import Testing

@Suite("Requests over HTTP/2")
struct ExchangeTests {
  @Test("a request arrives as it was sent, and its answer comes back with status, headers and body")
  func one() async throws {
    try await withLoop { loop in
      let signal = Signal(loop)
      let responder = try Responder(loop, signal)
      var seen: HTTP2ServerRequest?
      responder.answer = { responder, request in
        seen = request
        responder.server.respond(
          request.stream, status: 410, headers: [Header("apns-id", "5d1c6a1e-3c1b-4d0e-9a5e-0d7c2f4b9a10")],
          body: Array(#"{"reason":"Unregistered"}"#.utf8))
      }
      let client = await Client.connected(loop, signal, port: responder.server.port)
      #expect(client.connection.streamLimit == 1000)
      client.send(
        7, path: "/3/device/0a0b",
        headers: [
          Header("authorization", "bearer x"), Header("apns-topic", "com.example.app"),
          Header("apns-id", "5d1c6a1e-3c1b-4d0e-9a5e-0d7c2f4b9a10", indexed: false),
        ], body: Array("{\"aps\":{}}".utf8))
      #expect(client.connection.openStreams == 1)
      await signal.until("answered") { client.outcomes == 1 }
      let request = try #require(seen)
      #expect(request.method == "POST")
      #expect(request.path == "/3/device/0a0b")
      #expect(request.authority == "127.0.0.1:\(responder.server.port)")
      #expect(request.header("authorization") == "bearer x")
      #expect(request.header("content-length") == "10")
      #expect(request.body == Array("{\"aps\":{}}".utf8))
      let answer = try #require(client.answers[7])
      #expect(answer.status == 410)
      #expect(answer.header("apns-id") == "5d1c6a1e-3c1b-4d0e-9a5e-0d7c2f4b9a10")
      #expect(answer.body == Array(#"{"reason":"Unregistered"}"#.utf8))
      #expect(client.connection.openStreams == 0)
    }
  }

  @Test("thousands of requests through a hundred streams are each answered once, with their own answer")
  func many() async throws {
    try await withLoop { loop in
      let signal = Signal(loop)
      var settings = HTTP2ServerSettings()
      settings.maximumConcurrentStreams = 100
      let responder = try Responder(loop, signal, settings: settings)
      let client = await Client.connected(loop, signal, port: responder.server.port)
      var next: UInt64 = 0
      client.pump = { client in
        while client.connection.openable > 0, next < 5_000 {
          client.send(
            next, headers: [Header("apns-id", "\(next)", indexed: false)], body: Array("body \(next)".utf8))
          next += 1
        }
      }
      client.pump?(client)
      #expect(client.connection.openStreams == 100)
      await signal.until("all answered") { client.outcomes == 5_000 }
      for tag in 0..<UInt64(5_000) {
        #expect(client.answers[tag]?.body == Array("body \(tag)".utf8))
        #expect(client.answers[tag]?.header("apns-id") == "\(tag)")
      }
    }
  }

  @Test("bodies far beyond every flow-control window go both ways whole")
  func bigBodies() async throws {
    try await withLoop { loop in
      let signal = Signal(loop)
      var serverSettings = HTTP2ServerSettings()
      serverSettings.maximumBody = 4 << 20
      let responder = try Responder(loop, signal, settings: serverSettings)
      var settings = HTTP2Settings()
      settings.maximumAnswerBody = 4 << 20
      let client = await Client.connected(loop, signal, port: responder.server.port, settings: settings)
      let bodies = (0..<2).map { seed in (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ seed) } }
      for (tag, body) in bodies.enumerated() { client.send(UInt64(tag), body: body) }
      await signal.until("all answered") { client.outcomes == bodies.count }
      for (tag, body) in bodies.enumerated() { #expect(client.answers[UInt64(tag)]?.body == body) }
    }
  }

  @Test("a name with several addresses is tried at each of them")
  func addresses() async throws {
    try await withLoop { loop in
      let signal = Signal(loop)
      let responder = try Responder(loop, signal)
      // Where localhost is ::1 first, nobody listens there.
      let client = Client(loop, signal, port: responder.server.port, host: "localhost")
      await signal.until("connected") { client.connected || client.ended != nil }
      #expect(client.ended == nil)
    }
  }

  @Test("headers beyond their limit fail their stream only; a body beyond its own is cut off, and its status counts")
  func limits() async throws {
    try await withLoop { loop in
      let signal = Signal(loop)
      let responder = try Responder(loop, signal)
      responder.answer = { responder, request in
        let bomb = (0..<40).map { Header("x-filler-\($0)", String(repeating: "x", count: 1_000)) }
        switch request.path {
        case "/headers": responder.server.respond(request.stream, status: 200, headers: bomb, body: [])
        case "/body":
          let body = [UInt8](repeating: 1, count: 200_000)
          responder.server.respond(request.stream, status: 200, headers: [], body: body)
        default: responder.echo(request)
        }
      }
      let client = await Client.connected(loop, signal, port: responder.server.port)
      client.send(1, path: "/headers")
      client.send(2, path: "/body")
      client.send(3)
      await signal.until("three outcomes") { client.outcomes == 3 }
      if case .unknown(let reason) = client.failures[1] {
        #expect(reason.contains("exceeds"))
      } else {
        Issue.record("\(String(describing: client.failures[1]))")
      }
      #expect(client.answers[2]?.status == 200)
      #expect(client.answers[2]?.body == [UInt8](repeating: 1, count: HTTP2Settings().maximumAnswerBody))
      #expect(client.answers[3]?.status == 200)
      client.send(4)
      await signal.until("the connection still works") { client.answers[4] != nil }
    }
  }
}
