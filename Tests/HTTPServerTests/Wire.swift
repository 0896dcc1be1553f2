import Domain
import Glibc
import HTTPServer
import Loop
import Support

/// Runs a server on a loop of its own, and `body` beside it, which may block.
func withServer<Value: Sendable>(
  _ settings: HTTPServerSettings = HTTPServerSettings(),
  refuse: @escaping @Sendable (HTTPRefusal) -> HTTPServerResponse = { $0.plainAnswer },
  turnedAway: @escaping @Sendable (HTTPTurnedAway, NetworkAddress?) -> Void = { _, _ in },
  admit: @escaping @Sendable (HTTPServerRequest) -> HTTPAdmission = { _ in .now(.take(permit: nil, key: "")) },
  handle: @escaping @Sendable (HTTPServerRequest) async -> HTTPServerResponse = echo,
  client body: @escaping @Sendable (Int) async throws -> Value
) async throws -> Value {
  try await withLoop { loop in
    let server = try HTTPServer(
      loop: loop, settings: settings, refuse: refuse, turnedAway: turnedAway, admit: admit, handle: handle)
    let port = server.port
    let result = await Task.detached { () async -> Result<Value, any Error> in
      do { return .success(try await body(port)) } catch { return .failure(error) }
    }.value
    await server.stop()
    return try result.get()
  }
}

/// Answers with what was asked.
@Sendable func echo(_ request: HTTPServerRequest) async -> HTTPServerResponse {
  HTTPServerResponse(
    status: 200, headers: [.init("x-seen", "\(request.method) \(request.path) \(request.body.count)")],
    body: request.body)
}

struct WireFault: Error { var reason: String }

/// A blocking client that writes and reads bytes as they are.
final class Wire: @unchecked Sendable {
  struct Answer {
    var status: Int
    var headers: [(name: String, value: String)]
    var body: [UInt8]
    func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
    var text: String { String(decoding: body, as: UTF8.self) }
  }

  private let socket: Int32
  private var buffered: [UInt8] = []

  /// `from`: an address of this machine.
  init(port: Int, from source: String = "127.0.0.1") throws {
    socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var own = sockaddr_in()
    own.sin_family = sa_family_t(AF_INET)
    own.sin_addr.s_addr = inet_addr(source)
    let bound = withUnsafePointer(to: &own) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard bound == 0 else { throw WireFault(reason: String(cString: strerror(errno))) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var patience = timeval(tv_sec: 20, tv_usec: 0)
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard result == 0 else { throw WireFault(reason: String(cString: strerror(errno))) }
  }
  deinit { close(socket) }

  /// False if the server has closed meanwhile.
  @discardableResult
  func send(_ bytes: [UInt8]) -> Bool {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes {
        Glibc.send(socket, $0.baseAddress! + sent, $0.count - sent, Int32(MSG_NOSIGNAL))
      }
      if count <= 0 { return false }
      sent += count
    }
    return true
  }
  @discardableResult
  func send(_ text: String) -> Bool { send(Array(text.utf8)) }

  /// Ends the sending side.
  func endSending() { shutdown(socket, Int32(SHUT_WR)) }

  /// False at the end of the stream.
  private func fill() throws -> Bool {
    var piece = [UInt8](repeating: 0, count: 65_536)
    let count = recv(socket, &piece, piece.count, 0)
    guard count >= 0 else { throw WireFault(reason: String(cString: strerror(errno))) }
    buffered += piece[..<count]
    return count > 0
  }

  /// Waits for the end of the stream; gives what came before it.
  func rest() throws -> String {
    while try fill() {}
    defer { buffered = [] }
    return String(decoding: buffered, as: UTF8.self)
  }

  /// The next answer; its body ends by Content-Length.
  func answer(hasBody: Bool = true) throws -> Answer {
    let end = Array("\r\n\r\n".utf8)
    var headEnd: Int?
    while headEnd == nil {
      headEnd = buffered.firstRange(of: end)?.lowerBound
      if headEnd == nil, !(try fill()) {
        throw WireFault(reason: "the stream ended after \(buffered.count) bytes of an answer")
      }
    }
    let lines = String(decoding: buffered[..<headEnd!], as: UTF8.self).split(separator: "\r\n")
    buffered.removeFirst(headEnd! + 4)
    let headers = lines.dropFirst().map { line in
      let parts = line.split(separator: ":", maxSplits: 1)
      return (
        name: parts[0].lowercased(), value: parts.count > 1 ? String(parts[1].drop { $0 == " " }) : ""
      )
    }
    let status = Int(lines[0].split(separator: " ")[1]) ?? 0
    var answer = Answer(status: status, headers: headers, body: [])
    let length = hasBody && status >= 200 ? Int(answer.header("content-length") ?? "0") ?? 0 : 0
    while buffered.count < length {
      if !(try fill()) { throw WireFault(reason: "the stream ended inside a body") }
    }
    answer.body = Array(buffered[..<length])
    buffered.removeFirst(length)
    return answer
  }
}

/// Opens once; whoever waits goes on.
actor Gate {
  private var isOpen = false
  private var waiters: [CheckedContinuation<Void, Never>] = []
  func open() {
    isOpen = true
    for waiter in waiters { waiter.resume() }
    waiters = []
  }
  func passed() async {
    if isOpen { return }
    await withCheckedContinuation { waiters.append($0) }
  }
}
