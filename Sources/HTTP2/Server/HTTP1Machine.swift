import Domain

/// The server's side of one HTTP/1.1 connection: bytes in, whole requests out, one at a time; answers in, bytes out. Pure.
struct HTTP1Machine {
  private let settings: HTTP2ServerSettings
  private var input: [UInt8] = []
  private var output: [UInt8] = []
  /// Bytes of a body that follow `output`, made while they are sent.
  private var filler = 0
  private var flood: Flood?
  private var request: HTTP1Request
  /// Counts the requests from 1; the last one handed over.
  private(set) var number: Int32 = 0
  /// A request was handed over and is not answered.
  private(set) var isAtWork = false
  private var isHead = false
  /// No further request is taken; the connection ends when all is written.
  private(set) var isEnding = false

  /// Bytes that a client may send ahead of the answer to its request.
  private static let maximumAhead = 1 << 20

  init(settings: HTTP2ServerSettings) {
    self.settings = settings
    request = HTTP1Request(maximumHead: settings.maximumHeaderBytes, maximumBody: settings.maximumBody)
  }

  /// The connection has nothing more to do.
  var isOver: Bool { isEnding && !isAtWork && output.isEmpty && filler == 0 && flood == nil }
  var hasOutput: Bool { !output.isEmpty || filler > 0 || flood != nil }

  /// False if the client has sent far more than it may: the connection ends.
  mutating func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
    if isEnding, !isAtWork { return true }
    input.append(contentsOf: bytes)
    return !isAtWork || input.count <= Self.maximumAhead
  }

  /// The next request, once it is whole and the one before is answered.
  mutating func next(on connection: UInt64) -> HTTP2ServerRequest? {
    guard !isAtWork, !isEnding, !input.isEmpty else { return nil }
    do throws(HTTP1Request.Refusal) {
      let waited = request.awaitsContinue
      try request.read(&input)
      if request.awaitsContinue, !waited, !request.isWhole { output += Array("HTTP/1.1 100 Continue\r\n\r\n".utf8) }
    } catch {
      isEnding = true
      input = []
      write(error.status, [], bodyCount: 0)
      return nil
    }
    guard request.isWhole else { return nil }
    let whole = request
    request = HTTP1Request(maximumHead: settings.maximumHeaderBytes, maximumBody: settings.maximumBody)
    number = number == .max ? 1 : number + 1
    isAtWork = true
    isHead = whole.method == "HEAD"
    if whole.isLast { isEnding = true }
    return HTTP2ServerRequest(
      stream: HTTP2ServerStream(connection: connection, stream: number), method: whole.method, path: whole.target,
      authority: whole.authority, headers: whole.headers, body: whole.body)
  }

  // MARK: Answers

  mutating func respond(status: Int, headers: [Header], body: [UInt8], filler: Int) {
    isAtWork = false
    write(status, headers, bodyCount: body.count + filler)
    guard !isHead, Self.hasBody(status) else { return }
    output += body
    self.filler = filler
  }

  private mutating func write(_ status: Int, _ headers: [Header], bodyCount: Int) {
    var text = "HTTP/1.1 \(status) \(Self.phrases[status] ?? "Status \(status)")\r\n"
    for header in headers { text += "\(header.name): \(header.value)\r\n" }
    if Self.hasBody(status) { text += "content-length: \(bodyCount)\r\n" }
    if isEnding { text += "connection: close\r\n" }
    output += Array((text + "\r\n").utf8)
  }

  private static func hasBody(_ status: Int) -> Bool { status != 204 && status != 304 }

  private static let phrases = [
    200: "OK", 201: "Created", 202: "Accepted", 204: "No Content", 400: "Bad Request", 401: "Unauthorized",
    403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed", 410: "Gone", 413: "Content Too Large",
    429: "Too Many Requests", 431: "Request Header Fields Too Large", 500: "Internal Server Error",
    501: "Not Implemented", 503: "Service Unavailable",
  ]

  /// No further request is taken; without one at work the connection ends.
  mutating func end() { isEnding = true }

  /// The request at work is not answered, and the connection ends.
  mutating func drop() {
    isAtWork = false
    isEnding = true
  }

  // MARK: Faults

  private struct Flood {
    /// Bytes of header lines still to come; nil: no end.
    var left: Int?
    static let line = Array("x: \(String(repeating: "a", count: 1000))\r\n".utf8)
  }

  mutating func floodHeaders(bytes: Int?) {
    isAtWork = false
    output += Array("HTTP/1.1 200 OK\r\n".utf8)
    flood = Flood(left: bytes)
  }

  mutating func respondMalformed() {
    drop()
    output += Array("200 this is no status line\r\n\r\n".utf8)
  }

  // MARK: Output

  /// The next bytes to send, about as many as there is room for; empty if there are none.
  mutating func take(_ room: Int) -> [UInt8] {
    if !output.isEmpty {
      let taken = output
      output = []
      return taken
    }
    if filler > 0 {
      let count = min(filler, max(1, room))
      filler -= count
      return [UInt8](repeating: UInt8(ascii: "x"), count: count)
    }
    guard var flooding = flood else { return [] }
    if let left = flooding.left, left <= 0 {
      flood = nil
      return Array("content-length: 0\r\n\r\n".utf8)
    }
    flooding.left = flooding.left.map { $0 - Flood.line.count }
    flood = flooding
    return Flood.line
  }
}
