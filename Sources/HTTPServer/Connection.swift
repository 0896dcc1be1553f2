import CMicroHTTPD
import Domain
import Glibc

/// One client's connection: its deadline, and the request on it. Kept by libmicrohttpd's socket context from start to
/// close.
final class Connection {
  enum Phase {
    /// Nothing has come yet, or the head is coming. Exits: `admission`, `body`, `answer` (refused), closed.
    case head
    /// Whether it is admitted is being found out; libmicrohttpd has suspended the connection. Exits: `body`, `answer`, closed.
    case admission
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
  /// Nil: it had gone before it could be asked.
  let peer: NetworkAddress?
  /// What its handshake shows: they live as long as it.
  private let credentials: ServerCredentials?
  var phase = Phase.head
  /// Of heads and idle connections, and of answers in pieces.
  var deadline: Instant?
  /// Of a body, or a whole answer.
  var pace: TransferPace?
  var exchange: Exchange?
  /// The last request was cut short: what the client still sends must be drained, or it loses the answer.
  var wasCutShort = false
  /// Its place in the server's list.
  var index = 0

  /// Before its handshake.
  init(
    raw: OpaquePointer, socket: Int32, peer: NetworkAddress?, credentials: ServerCredentials?, deadline: Instant
  ) {
    self.raw = raw
    self.socket = socket
    self.peer = peer
    self.credentials = credentials
    if let credentials { fanfare_mhd_use(raw, credentials.raw) }
    self.deadline = deadline
  }

  /// Ends both directions, so that libmicrohttpd reads the end and closes.
  func abort() {
    deadline = nil
    pace = nil
    wasCutShort = true
    shutdown(socket, Int32(SHUT_RDWR))
  }

  /// Writes an answer past libmicrohttpd, which takes none while a body comes. Only before anything of an answer was sent. It
  /// goes out as far as the socket takes it at once.
  func answerDirectly(_ response: HTTPServerResponse) {
    guard let bytes = response.closingBytes else { return }
    _ = bytes.withUnsafeBytes { fanfare_mhd_write(raw, $0.baseAddress, $0.count) }
  }
}

/// One request as it gathers.
final class Exchange {
  let target: [UInt8]
  /// Where libmicrohttpd keeps the version if the target ends where its C string does.
  let targetEnd: UnsafeRawPointer
  var head: RequestHead?
  /// From its head on. Without its body, which gathers in `body`.
  var request: HTTPServerRequest?
  var body: [UInt8] = []
  /// libmicrohttpd tells of the head again when a connection that waited for its verdict is resumed.
  var isToldAgain = false
  /// Of a request without a body that is refused by its head. libmicrohttpd would close the connection behind an answer that it
  /// is given before the end of the request.
  var answer: HTTPServerResponse?
  /// What it takes of the server's memory.
  var hold: ByteBudget.Hold?

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
    var text = "HTTP/1.1 \(status) \(String(cString: MHD_get_reason_phrase_for(UInt32(status))))\r\n"
    for header in headers {
      if let value = header.permittedValue { text += "\(header.name): \(value)\r\n" }
    }
    text += "content-length: \(body.count)\r\nconnection: close\r\n\r\n"
    return Array(text.utf8) + body
  }
}

extension Header {
  private static let controls = ByteSet { $0 < 0x20 || $0 == 0x7F }
  private static let reservedLengths = [0, 4, 10, 14, 17]

  /// What an owner may have said, without anything that could end a line. Nil: the server sets this header itself.
  var permittedValue: String? {
    // Most names have another length than these, and are not copied to be compared.
    switch Self.reservedLengths.contains(name.utf8.count) ? name.lowercased() : nil {
    case "content-length", "transfer-encoding", "connection", "date", "": return nil
    default:
      guard Self.controls.holdsSome(of: value) else { return value }
      return String(decoding: value.utf8.map { $0 < 0x20 || $0 == 0x7F ? 0x20 : $0 }, as: UTF8.self)
    }
  }
}
