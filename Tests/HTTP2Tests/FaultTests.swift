import Domain
import HTTP2
import Loop
import Support
import TLS
import Testing

@Suite("HTTP/2 when something goes wrong")
struct FaultTests {
  @Test("GOAWAY in the middle: streams up to the last one are answered, all others are surely not processed")
  func goaway() async throws {
    try await withLoop { loop in
      let signal = Signal(loop)
      let responder = try Responder(loop, signal)
      responder.answer = { responder, request in
        if responder.requests == 50 {
          let debug = Array(#"{"reason": "Shutdown", "timestamp": 1}"#.utf8)
          responder.server.goaway(request.stream.connection, code: 0, debug: debug, lastStream: 59)
        }
        if request.stream.stream <= 59 { responder.echo(request) }
      }
      let client = await Client.connected(loop, signal, port: responder.server.port)
      for tag in 0..<UInt64(100) { client.send(tag) }
      await signal.until("closed") { client.ended != nil }
      #expect(client.drained == ["Shutdown"])
      #expect(client.ended == .finished)
      // Streams 1, 3 … 59 are the first 30 tags.
      #expect(client.answers.keys.sorted() == Array(UInt64(0)..<30))
      #expect(client.notProcessed == Array(UInt64(30)..<100))
      await signal.until("the server closed too") { responder.closed.count == 1 }
    }
  }

  @Test("a refused stream is not processed, any other reset is unknown, and the rest go on")
  func resets() async throws {
    try await withLoop { loop in
      let signal = Signal(loop)
      let responder = try Responder(loop, signal)
      responder.answer = { responder, request in
        switch request.path {
        case "/refused": responder.server.reset(request.stream, code: 7)
        case "/internal": responder.server.reset(request.stream, code: 2)
        default: responder.echo(request)
        }
      }
      let client = await Client.connected(loop, signal, port: responder.server.port)
      for tag in 0..<UInt64(30) { client.send(tag, path: ["/refused", "/internal", "/fine"][Int(tag % 3)]) }
      await signal.until("all") { client.outcomes == 30 }
      #expect(client.notProcessed == Array(stride(from: UInt64(0), to: 30, by: 3)))
      #expect(client.answers.keys.sorted() == Array(stride(from: UInt64(2), to: 30, by: 3)))
    }
  }

  @Test("a limit lowered to 1 below the open streams is obeyed, and so is its rise")
  func lowered() async throws {
    try await withLoop { loop in
      let signal = Signal(loop)
      let responder = try Responder(loop, signal)
      var held: [HTTP2ServerRequest] = []
      responder.answer = { held.append($1) }
      let client = await Client.connected(loop, signal, port: responder.server.port)
      for tag in 0..<UInt64(50) { client.send(tag) }
      await signal.until("all held") { held.count == 50 }
      responder.server.setMaximumConcurrentStreams(1, on: 1)
      let limit = { client.connection.streamLimit }
      while limit() != 1 { await loop.sleep(milliseconds: 1) }
      #expect(client.connection.openable == 0)
      #expect(client.connection.openStreams == 50)
      for request in held.prefix(49) { responder.echo(request) }
      await signal.until("49 answered") { client.outcomes == 49 }
      #expect(client.connection.openable == 0)
      responder.echo(held[49])
      await signal.until("the last one") { client.outcomes == 50 }
      #expect(client.connection.openable == 1)
      responder.server.setMaximumConcurrentStreams(200, on: 1)
      client.pump = { _ in signal.changed() }
      await signal.until("capacity told") { client.connection.openable == 200 }
      #expect(client.failures.isEmpty)
    }
  }

  @Test("a limit that falls and rises while requests flow costs no request and breaks no rule")
  func wavering() async throws {
    try await withLoop { loop in
      let signal = Signal(loop)
      let responder = try Responder(loop, signal)
      responder.answer = { responder, request in
        if responder.requests % 100 == 0 {
          let limit = responder.requests % 200 == 0 ? 1 : 300
          responder.server.setMaximumConcurrentStreams(limit, on: request.stream.connection)
        }
        responder.echo(request)
      }
      let client = await Client.connected(loop, signal, port: responder.server.port)
      var waiting = Array(0..<UInt64(2_000))
      client.pump = { client in
        while client.connection.openable > 0, let tag = waiting.popLast() { client.send(tag) }
      }
      // What the server refuses, because its limit fell while the request was under way, is sent again.
      client.onFailure = { client, tag, failure in
        guard case .notProcessed = failure else {
          Issue.record("\(tag): \(failure)")
          return
        }
        waiting.append(tag)
      }
      client.pump?(client)
      await signal.until("all answered") { client.answers.count == 2_000 || client.ended != nil }
      #expect(client.answers.count == 2_000)
      #expect(client.ended == nil)
    }
  }

  @Test("a server that closes in the middle: every tag ends once, and those never written are not processed")
  func closedMidWay() async throws {
    try await withLoop { loop in
      let signal = Signal(loop)
      let responder = try Responder(loop, signal)
      responder.answer = { responder, request in
        if responder.requests == 20 { return responder.server.close(request.stream.connection) }
        if responder.requests < 20 { responder.echo(request) }
      }
      let client = await Client.connected(loop, signal, port: responder.server.port)
      for tag in 0..<UInt64(500) { client.send(tag) }
      await signal.until("closed") { client.ended != nil }
      if case .lost = client.ended {} else { Issue.record("\(String(describing: client.ended))") }
      #expect(client.outcomes == 500)
      #expect(client.failures.count >= 480)
    }
  }

  @Test("close: what was written is unknown, what was only queued is not processed, and nobody is told inside the call")
  func closedByOwner() async throws {
    try await withLoop { loop in
      let signal = Signal(loop)
      let responder = try Responder(loop, signal)
      responder.answer = { _, _ in }
      let client = await Client.connected(loop, signal, port: responder.server.port)
      client.send(1)
      await signal.until("arrived") { responder.requests == 1 }
      client.send(2)
      client.connection.close()
      #expect(client.outcomes == 0 && client.ended == nil)
      await signal.until("closed") { client.ended != nil }
      #expect(client.ended == .finished)
      #expect(client.failures[1] == .unknown("the connection was closed"))
      #expect(client.failures[2] == .notProcessed("the connection was closed"))
      await signal.until("abandoned") { responder.closed.count == 1 }
      #expect(responder.abandoned.count == 1)
    }
  }

  @Test("drain opens no more streams and closes when the last one has ended")
  func drained() async throws {
    try await withLoop { loop in
      let signal = Signal(loop)
      let responder = try Responder(loop, signal)
      var held: [HTTP2ServerRequest] = []
      responder.answer = { held.append($1) }
      let client = await Client.connected(loop, signal, port: responder.server.port)
      client.send(1)
      await signal.until("arrived") { held.count == 1 }
      client.connection.drain()
      #expect(client.connection.openable == 0)
      responder.echo(held[0])
      await signal.until("closed") { client.ended != nil }
      #expect(client.answers[1]?.status == 200)
      #expect(client.ended == .finished)
      #expect(client.drained.isEmpty)
    }
  }

  @Test("used-up stream ids drain the connection and lose nothing")
  func usedUp() async throws {
    try await withLoop { loop in
      let signal = Signal(loop)
      let responder = try Responder(loop, signal)
      var settings = HTTP2Settings()
      settings.maximumRequests = 10
      let client = await Client.connected(loop, signal, port: responder.server.port, settings: settings)
      #expect(client.connection.openable == 10)
      for tag in 0..<UInt64(10) { client.send(tag) }
      #expect(client.connection.openable == 0)
      await signal.until("closed") { client.ended != nil }
      #expect(client.answers.count == 10)
      #expect(client.drained.count == 1)
      #expect(client.ended == .finished)
    }
  }

  @Test("a stalled peer: the answer times out as unknown, then the PING, and the connection is lost")
  func stalled() async throws {
    try await withLoop { loop in
      let signal = Signal(loop)
      let responder = try Responder(loop, signal)
      var settings = HTTP2Settings()
      settings.answerTimeout = 50
      settings.pingAfter = 150
      settings.pingTimeout = 100
      let client = await Client.connected(loop, signal, port: responder.server.port, settings: settings)
      await signal.until("opened") { responder.opened.count == 1 }
      responder.server.stall(1, true)
      client.send(1)
      await signal.until("timed out") { client.outcomes == 1 }
      #expect(client.failures[1] == .silent("no answer in 50 ms"))
      #expect(client.ended == nil)
      await signal.until("lost") { client.ended != nil }
      #expect(client.ended == .lost("no answer to a PING in 100 ms"))
      responder.server.stall(1, false)
      await signal.until("the server hears of the end") { responder.closed.count == 1 }
    }
  }

  @Test("a late stream times out alone; PINGs keep a quiet connection alive")
  func oneLate() async throws {
    try await withLoop { loop in
      let signal = Signal(loop)
      let responder = try Responder(loop, signal)
      responder.answer = { responder, request in
        if request.path != "/never" { responder.echo(request) }
      }
      var settings = HTTP2Settings()
      settings.answerTimeout = 400
      settings.pingAfter = 10
      settings.pingTimeout = 5_000
      let client = await Client.connected(loop, signal, port: responder.server.port, settings: settings)
      client.send(1, path: "/never")
      client.send(2)
      await signal.until("two outcomes") { client.outcomes == 2 }
      #expect(client.answers[2]?.status == 200)
      #expect(client.failures[1] == .unknown("no answer in 400 ms"))
      await signal.until("the server was told") { responder.abandoned.count == 1 }
      #expect(client.connection.openStreams == 0)
      client.send(3)
      await signal.until("the connection still works") { client.answers[3] != nil }
    }
  }
}
