import Domain
import HTTPClient
import HTTPServer
import Loop
import Support
import Synchronization
import Testing

@Suite("What becomes of requests that fail")
struct FailureTests {
  private func failure(
    _ request: HTTPClientRequest, _ adjust: @escaping @Sendable (inout HTTPClientSettings) -> Void = { _ in }
  ) async throws -> HTTPClientFailure {
    try await withLoop { loop in
      var settings = HTTPClientSettings()
      adjust(&settings)
      let client = HTTPClient(loop: loop, settings: settings)
      defer { client.close() }
      do throws(HTTPClientFailure) {
        let answer = try await client.send(request)
        Issue.record("answered with \(answer.status)")
        return HTTPClientFailure(reason: "", processed: true)
      } catch {
        return error
      }
    }
  }

  @Test("a refused connection and a name that does not exist were surely not processed")
  func unreachable() async throws {
    let port = try await withPair(handle: echo, body: { _, _, origin in origin })
    #expect(try await failure(HTTPClientRequest(url: port)).processed == false)
    let nowhere = try await failure(HTTPClientRequest(url: "http://nowhere.invalid/", timeout: 20_000))
    #expect(nowhere.processed == false)
    #expect(nowhere.reason.contains("nowhere.invalid"))
  }

  @Test("an unknown authority or another host's certificate ends it before anything is sent")
  func distrust() async throws {
    for (host, trusting) in [("localhost", false), ("other.example", true)] {
      let fault = try await withPair(
        tls: true, host: host,
        client: { settings in if !trusting { settings.caFile = nil } },
        handle: { _ in
          Issue.record("a request arrived")
          return HTTPServerResponse(status: 200)
        },
        body: { _, client, origin in
          do throws(HTTPClientFailure) {
            _ = try await client.send(HTTPClientRequest(url: origin))
            return HTTPClientFailure(reason: "answered", processed: true)
          } catch { return error }
        })
      #expect(fault.processed == false, "\(fault.reason)")
      #expect(fault.reason.contains("SSL") || fault.reason.contains("certificate"), "\(fault.reason)")
    }
  }

  @Test("a missing CA file is named")
  func missingAuthority() async throws {
    let fault = try await failure(HTTPClientRequest(url: "https://127.0.0.1:1/")) { $0.caFile = "/nonexistent/ca.pem" }
    #expect(fault.processed == false)
  }

  @Test("a peer that takes the request and never answers may have processed it")
  func timeout() async throws {
    let peer = ScriptedPeer { socket in
      ScriptedPeer.read(socket, until: "\r\n\r\n")
      // Until the client gives up.
      ScriptedPeer.read(socket, until: "never")
    }
    let fault = try await failure(HTTPClientRequest(url: "http://127.0.0.1:\(peer.port)/", timeout: 300))
    #expect(fault.processed)
    #expect(fault.reason.contains("timed out"))
  }

  @Test("a peer that never shakes hands cannot have processed it")
  func handshake() async throws {
    let peer = ScriptedPeer { socket in ScriptedPeer.read(socket, until: "never") }
    let fault = try await failure(HTTPClientRequest(url: "https://127.0.0.1:\(peer.port)/")) {
      $0.connectTimeout = 300
    }
    #expect(fault.processed == false, "\(fault.reason)")
  }

  @Test(
    "a peer that breaks off, or answers what is not HTTP, may have processed it",
    arguments: ["", "hello\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort"])
  func broken(answer: String) async throws {
    let peer = ScriptedPeer { socket in
      ScriptedPeer.read(socket, until: "\r\n\r\n")
      ScriptedPeer.write(socket, answer)
    }
    #expect(try await failure(HTTPClientRequest(method: "GET", url: "http://127.0.0.1:\(peer.port)/")).processed)
  }

  @Test("an endless head is refused")
  func head() async throws {
    let peer = ScriptedPeer { socket in
      ScriptedPeer.read(socket, until: "\r\n\r\n")
      let line = "x: \(String(repeating: "y", count: 10_000))\r\n"
      ScriptedPeer.write(socket, "HTTP/1.1 200 OK\r\n" + String(repeating: line, count: 20))
    }
    let fault = try await failure(HTTPClientRequest(method: "GET", url: "http://127.0.0.1:\(peer.port)/"))
    #expect(fault.reason == "the answer's head is larger than 65536 bytes")
  }

  @Test(
    "what would break the request's frame is never sent",
    arguments: [
      HTTPClientRequest(url: "http://127.0.0.1:1/", headers: [Header("x", "a\r\nEvil: b")]),
      HTTPClientRequest(url: "http://127.0.0.1:1/", headers: [Header("x", "a\0")]),
      HTTPClientRequest(url: "http://127.0.0.1:1/", headers: [Header("x: y\r\nz", "a")]),
      HTTPClientRequest(url: "http://127.0.0.1:1/", headers: [Header("", "a")]),
      HTTPClientRequest(url: "http://127.0.0.1:1/ HTTP/1.1\r\nEvil: b"),
      HTTPClientRequest(method: "GET /\r\n", url: "http://127.0.0.1:1/"),
    ])
  func injection(request: HTTPClientRequest) async throws {
    let fault = try await failure(request)
    #expect(!fault.processed)
    #expect(fault.reason.contains("malformed") || fault.reason.contains("control character"))
  }

  @Test("only http and https are spoken", arguments: ["file:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1/"])
  func protocols(url: String) async throws {
    let fault = try await failure(HTTPClientRequest(method: "GET", url: url))
    #expect(!fault.processed)
  }

  @Test(
    "what a kept connection took and did not answer goes out once: it may have been processed",
    arguments: [10, 200_000])
  func oneRequest(size: Int) async throws {
    let seen = Mutex(0)
    let take: @Sendable (Int32) -> Bool = { socket in
      guard ScriptedPeer.read(socket, until: "the end") != nil else { return false }
      seen.withLock { $0 += 1 }
      return true
    }
    let peer = ScriptedPeer(connections: 3) { socket in
      // The second request of a connection gets no answer.
      guard take(socket) else { return }
      ScriptedPeer.write(socket, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
      _ = take(socket)
    }
    let port = peer.port
    try await withLoop { loop in
      let client = HTTPClient(loop: loop, settings: HTTPClientSettings())
      defer { client.close() }
      let body = Array((String(repeating: "x", count: size) + "the end").utf8)
      let request = HTTPClientRequest(url: "http://127.0.0.1:\(port)/", body: body)
      let first = try await client.send(request)
      #expect(first.status == 200)
      do throws(HTTPClientFailure) {
        _ = try await client.send(request)
        Issue.record("the request went out again")
      } catch {
        #expect(error.processed && error.reason.contains("without an answer"), "\(error.reason)")
      }
      #expect(seen.withLock { $0 } == 2)
      // The next one finds a connection again.
      let next = try await client.send(request)
      #expect(next.status == 200)
    }
    withExtendedLifetime(peer) {}
  }

  @Test("closing fails what is at work, once, and nothing goes out after it")
  func closing() async throws {
    let peer = ScriptedPeer { socket in
      ScriptedPeer.read(socket, until: "\r\n\r\n")
      ScriptedPeer.read(socket, until: "never")
    }
    let port = peer.port
    try await withLoop { loop in
      let client = HTTPClient(loop: loop, settings: HTTPClientSettings())
      let ends = Ends()
      for _ in 0..<3 {
        client.send(HTTPClientRequest(url: "http://127.0.0.1:\(port)/")) { result in
          if case .failure(let fault) = result { ends.reasons.append(fault.reason) }
        }
      }
      #expect(ends.reasons.isEmpty)
      await loop.sleep(milliseconds: 50)
      client.close()
      client.close()
      #expect(ends.reasons == Array(repeating: "the client was closed", count: 3))
      do throws(HTTPClientFailure) {
        _ = try await client.send(HTTPClientRequest(url: "http://127.0.0.1:\(port)/"))
        Issue.record("sent after the close")
      } catch {
        #expect(!error.processed)
      }
    }
  }
}

private final class Ends { var reasons: [String] = [] }
