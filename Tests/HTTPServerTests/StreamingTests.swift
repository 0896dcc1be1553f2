import Domain
import HTTPServer
import Support
import Synchronization
import Testing

@Suite("Answers in pieces")
struct StreamingTests {
  /// How many pieces were made.
  private final class Made: Sendable {
    let count = Mutex(0)
    func next() -> Int {
      count.withLock {
        $0 += 1
        return $0
      }
    }
  }

  private static func piece(_ number: Int) -> [UInt8] { Array("piece \(number)\n".utf8) }
  private static let request = "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"

  /// The bodies of the chunks, and whether the last one came.
  private static func chunks(_ text: String) -> (body: String, complete: Bool) {
    let bytes = Array(text.utf8)
    guard let head = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return ("", false) }
    var rest = bytes[head.upperBound...]
    var body: [UInt8] = []
    while let end = rest.firstIndex(of: UInt8(ascii: "\r")) {
      guard let size = Int(String(decoding: rest[..<end], as: UTF8.self), radix: 16) else { break }
      if size == 0 { return (String(decoding: body, as: UTF8.self), true) }
      body += rest.dropFirst(end - rest.startIndex + 2).prefix(size)
      rest = rest.dropFirst(end - rest.startIndex + 2 + size + 2)
    }
    return (String(decoding: body, as: UTF8.self), false)
  }

  @Test("all pieces arrive in order, empty ones among them, and the end is told")
  func whole() async throws {
    let text = try await withServer(
      handle: { _ in
        let made = Made()
        return HTTPServerResponse(
          status: 200,
          pieces: BodyPieces { () throws(BodyPieces.Broken) in
            let number = made.next()
            if number > 20_000 { return nil }
            return number.isMultiple(of: 7) ? [] : Self.piece(number)
          })
      },
      client: { port in
        let wire = try Wire(port: port)
        wire.send(Self.request)
        return try wire.rest()
      })
    let (body, complete) = Self.chunks(text)
    let expected = (1...20_000).filter { !$0.isMultiple(of: 7) }.map { String(decoding: Self.piece($0), as: UTF8.self) }
    #expect(complete)
    #expect(body == expected.joined())
  }

  @Test("a body that cannot be made to its end is cut off, not ended")
  func broken() async throws {
    let text = try await withServer(
      handle: { _ in
        let made = Made()
        return HTTPServerResponse(
          status: 200,
          pieces: BodyPieces { () throws(BodyPieces.Broken) in
            let number = made.next()
            if number > 3 { throw BodyPieces.Broken() }
            return Self.piece(number)
          })
      },
      client: { port in
        let wire = try Wire(port: port)
        wire.send(Self.request)
        return try wire.rest()
      })
    let (body, complete) = Self.chunks(text)
    #expect(!complete)
    #expect(body == "piece 1\npiece 2\npiece 3\n")
  }

  @Test("for a client that does not read no more is made than fits between, and others are answered")
  func unread() async throws {
    let made = Made()
    try await withServer(
      handle: { request in
        guard request.path == "/endless" else { return HTTPServerResponse(status: 200) }
        return HTTPServerResponse(
          status: 200,
          pieces: BodyPieces { () throws(BodyPieces.Broken) in
            _ = made.next()
            return [UInt8](repeating: 0, count: 1 << 20)
          })
      },
      client: { port in
        let deaf = try Wire(port: port)
        deaf.send("GET /endless HTTP/1.1\r\nHost: h\r\n\r\n")
        let other = try Wire(port: port)
        for _ in 1...200 {
          other.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
          #expect(try other.answer().status == 200)
        }
      })
    #expect(made.count.withLock { $0 } < 64)
  }
}
