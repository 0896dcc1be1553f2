import Domain
import Glibc

/// One client's connection: its deadline, and the request on it. Kept by libmicrohttpd's socket context from start to
/// close.
final class Connection {
  enum Phase {
    /// Nothing has come yet, or the head is coming. Exits: `body`, `handler`, `answer` (refused), closed.
    case head
    /// Exits: `handler`, `answer` (refused), closed.
    case body
    /// The handler has the request, or makes the next piece of the answer; libmicrohttpd has suspended the connection.
    /// Exit: `answer`.
    case handler
    /// Exits: `idle`, `handler` (the next piece of a streamed body), closed.
    case answer
    /// Between requests. Exits: `head`, closed.
    case idle
  }

  let raw: OpaquePointer
  let socket: Int32
  let peer: String
  var phase = Phase.head
  var deadline: Instant?
  var exchange: Exchange?
  /// The last request was cut short: what the client still sends must be drained, or it loses the answer.
  var wasCutShort = false
  /// Its place in the server's list.
  var index = 0

  init(raw: OpaquePointer, socket: Int32, peer: String, deadline: Instant) {
    self.raw = raw
    self.socket = socket
    self.peer = peer
    self.deadline = deadline
  }

  /// Ends both directions, so that libmicrohttpd reads the end and closes.
  func abort() {
    deadline = nil
    wasCutShort = true
    shutdown(socket, Int32(SHUT_RDWR))
  }

  /// Writes an answer past libmicrohttpd, where that could not give one. Only on plain connections, and only before
  /// anything of an answer was sent. It goes out as far as the socket takes it at once.
  func answerDirectly(_ response: HTTPServerResponse) {
    guard let bytes = response.closingBytes else { return }
    _ = bytes.withUnsafeBytes {
      send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
    }
  }
}

/// One request as it gathers.
final class Exchange {
  let target: [UInt8]
  /// Where libmicrohttpd keeps the version if the target ends where its C string does.
  let targetEnd: UnsafeRawPointer
  var head: RequestHead?
  var body: [UInt8] = []
  /// A body beyond the limit on a TLS connection: dropped to its end, then answered.
  var refusal: HTTPRefusal?
  var dropped = 0

  /// `target` lies in libmicrohttpd's buffer and ends at a NUL, which a hostile client may have put there.
  init(target: UnsafePointer<CChar>) {
    let bytes = UnsafeRawBufferPointer(start: target, count: strlen(target))
    self.target = Array(bytes)
    targetEnd = UnsafeRawPointer(target) + bytes.count + 1
  }
}

extension HTTPServerResponse {
  /// The whole answer as HTTP/1.1, closing the connection; nil for a body in pieces.
  var closingBytes: [UInt8]? {
    guard case .whole(let body) = body else { return nil }
    var text = "HTTP/1.1 \(status) \(status == 408 ? "Request Timeout" : "Content Too Large")\r\n"
    for header in permittedHeaders { text += "\(header.name): \(header.value)\r\n" }
    text += "content-length: \(body.count)\r\nconnection: close\r\n\r\n"
    return Array(text.utf8) + body
  }

  private static let controls = ByteSet { $0 < 0x20 || $0 == 0x7F }
  private static let reservedLengths = [0, 4, 10, 14, 17]

  /// The headers an owner may set, without anything that could end a line.
  var permittedHeaders: [Header] {
    headers.compactMap { header in
      // Most names have another length than these, and are not copied to be compared.
      switch Self.reservedLengths.contains(header.name.utf8.count) ? header.name.lowercased() : nil {
      case "content-length", "transfer-encoding", "connection", "date", "": return nil
      default:
        var header = header
        if Self.controls.holdsSome(of: header.value) {
          header.value = String(decoding: header.value.utf8.map { $0 < 0x20 || $0 == 0x7F ? 0x20 : $0 }, as: UTF8.self)
        }
        return header
      }
    }
  }
}
