import Domain
import HTTPServer
import Support
import Testing

@Suite("The life of connections to the HTTP server")
struct LifeTests {
  private func impatient() -> HTTPServerSettings {
    var settings = HTTPServerSettings()
    settings.headTimeout = 300
    settings.transferWindow = 300
    settings.idleTimeout = 300
    return settings
  }

  @Test("a head that never ends is told so, however steadily it trickles")
  func slowHead() async throws {
    let text = try await withServer(impatient()) { port in
      let wire = try Wire(port: port)
      wire.send("GET / HTTP/1.1\r\nHost: h\r\n")
      let trickle = Task.detached {
        while !Task.isCancelled, wire.send("X") { try? await Task.sleep(for: .milliseconds(20)) }
      }
      defer { trickle.cancel() }
      return try wire.answer()
    }
    #expect(text.status == 408)
  }

  @Test("a body that never ends is told so")
  func slowBody() async throws {
    let text = try await withServer(impatient()) { port in
      let wire = try Wire(port: port)
      wire.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc")
      return try wire.rest()
    }
    #expect(text.hasPrefix("HTTP/1.1 408 "))
  }

  @Test("an idle connection is closed without a word")
  func idle() async throws {
    let text = try await withServer(impatient()) { port in
      let wire = try Wire(port: port)
      wire.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
      #expect(try wire.answer().status == 200)
      return try wire.rest()
    }
    #expect(text == "")
  }

  @Test("at the limit of connections the next is served as soon as one has gone, long before any is idle too long")
  func freedConnection() async throws {
    var settings = HTTPServerSettings()
    settings.maximumConnections = 3
    try await withServer(settings) { port in
      func ask(_ wire: Wire) throws -> Int {
        wire.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        return try wire.answer().status
      }
      var held = try (0..<3).map { _ in try Wire(port: port) }
      for wire in held { #expect(try ask(wire) == 200) }
      for _ in 0..<3 {
        held.removeFirst()
        // It waits for at most 20 s; the others are idle for 60 s.
        held.append(try Wire(port: port))
        #expect(try ask(held[2]) == 200)
      }
    }
  }

  @Test("a client that does not read its answer is cut off, and holds up nobody")
  func unread() async throws {
    var settings = HTTPServerSettings()
    settings.maximumConnections = 2
    settings.transferWindow = 300
    settings.leastRate = 1 << 30
    try await withServer(
      settings,
      handle: { request in
        HTTPServerResponse(status: 200, body: [UInt8](repeating: 0, count: request.path == "/big" ? 64 << 20 : 1))
      },
      client: { port in
        let wire = try Wire(port: port)
        wire.send("GET /big HTTP/1.1\r\nHost: h\r\n\r\n")
        let other = try Wire(port: port)
        other.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(try other.answer().status == 200)
        // It gets the place of the one that was cut off: the other one may be idle for 60 s, longer than it waits.
        let next = try Wire(port: port)
        next.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(try next.answer().status == 200)
      })
  }

  @Test("a client that leaves while its handler runs harms nothing")
  func leaves() async throws {
    let (entered, gate) = (Gate(), Gate())
    try await withServer(
      handle: { request in
        if request.path == "/slow" {
          await entered.open()
          await gate.passed()
        }
        return HTTPServerResponse(status: 200, body: [UInt8](repeating: 1, count: 1 << 20))
      },
      client: { port in
        for reset in [false, true] {
          let wire = try Wire(port: port)
          wire.send("GET /slow HTTP/1.1\r\nHost: h\r\n\r\n" + (reset ? "GET /unread HTTP/1.1\r\nHost: h\r\n\r\n" : ""))
          await entered.passed()
        }
        await gate.open()
        let wire = try Wire(port: port)
        wire.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(try wire.answer().body.count == 1 << 20)
      })
  }

  @Test("an answer that cannot be sent ends the connection, and the handler is asked once")
  func impossible() async throws {
    let asked = Asked()
    let text = try await withServer(
      handle: { _ in
        await asked.again()
        return HTTPServerResponse(status: 7)
      },
      client: { port in
        let wire = try Wire(port: port)
        wire.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        return try wire.rest()
      })
    #expect(text == "")
    #expect(await asked.count == 1)
  }

  @Test("stopping answers what is at work and closes the rest")
  func stop() async throws {
    let (entered, gate) = (Gate(), Gate())
    let (port, working, idle) = try await withLoop { loop in
      let server = try HTTPServer(
        loop: loop, settings: HTTPServerSettings(),
        handle: { request in
          if request.path == "/slow" {
            await entered.open()
            await gate.passed()
          }
          return HTTPServerResponse(status: 200, body: Array("done".utf8))
        })
      let port = server.port
      let (working, idle) = try await Task.detached {
        let (working, idle) = (try Wire(port: port), try Wire(port: port))
        idle.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(try idle.answer().status == 200)
        working.send("GET /slow HTTP/1.1\r\nHost: h\r\n\r\n")
        await entered.passed()
        return (working, idle)
      }.value
      let opener = Task.detached {
        // The listening socket goes first.
        while (try? Wire(port: port)) != nil { await Task.yield() }
        await gate.open()
      }
      await server.stop()
      await server.stop()
      await opener.value
      return (port, working, idle)
    }
    #expect(try working.answer().text == "done")
    #expect(try working.rest() == "")
    #expect(try idle.rest() == "")
    #expect(throws: WireFault.self) { try Wire(port: port) }
  }

  @Test("an address that is taken, or is none, is named")
  func addresses() async throws {
    try await withServer { port in
      var settings = HTTPServerSettings()
      settings.port = port
      let taken = settings
      await #expect {
        try await withServer(taken) { _ in }
      } throws: { error in
        let reason = (error as? HTTPServerFailure)?.reason
        return reason == "cannot listen on 127.0.0.1:\(port): Address already in use"
      }
      settings.address = "300.1.1.1"
      let wrong = settings
      await #expect {
        try await withServer(wrong) { _ in }
      } throws: { ($0 as? HTTPServerFailure)?.reason.hasPrefix("cannot listen on 300.1.1.1:\(port): ") == true }
    }
  }
}

private actor Asked {
  private(set) var count = 0
  func again() { count += 1 }
}
