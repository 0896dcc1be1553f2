import Domain
import Glibc
import JSON

/// A plain HTTP/1.1 client on one blocking connection to loopback: it sends bytes as they are, wrong ones too.
final class Client {
  private let descriptor: Int32
  private var read: [UInt8] = []

  /// `source`: an address of this machine.
  init(port: Int, from source: String = "127.0.0.1") {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var own = sockaddr_in()
    own.sin_family = sa_family_t(AF_INET)
    own.sin_addr.s_addr = inet_addr(source)
    let bound = withUnsafePointer(to: &own) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    precondition(bound == 0, "this machine has no address \(source)")
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    let connected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    precondition(connected == 0, "nobody listens on port \(port)")
    var patience = timeval(tv_sec: 30, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
  }

  deinit { close(descriptor) }

  func send(_ method: String, _ path: String, _ headers: [String: String] = [:], _ body: [UInt8]? = nil) {
    var head = "\(method) \(path) HTTP/1.1\r\nhost: localhost\r\n"
    for (name, value) in headers { head += "\(name): \(value)\r\n" }
    if let body { head += "content-length: \(body.count)\r\n" }
    send(bytes: Array((head + "\r\n").utf8) + (body ?? []))
  }

  func send(bytes: [UInt8]) {
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      // A server may refuse a body before it has arrived whole.
      guard count > 0 else { return }
      sent += count
    }
  }

  func receive(hasBody: Bool = true) -> Reply {
    while true {
      if let end = endOfHead() {
        let lines = String(decoding: read[..<end], as: UTF8.self).split(separator: "\r\n")
        let status = lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        var headers: [Header] = []
        for line in lines.dropFirst() {
          guard let colon = line.firstIndex(of: ":") else { continue }
          let value = line[line.index(after: colon)...].drop { $0 == " " }
          headers.append(Header(line[..<colon].lowercased(), String(value)))
        }
        let length = headers.first { $0.name == "content-length" }.flatMap { Int($0.value) } ?? 0
        let bodyLength = hasBody && status != 204 ? length : 0
        let start = end + 4
        if hasBody, headers.contains(where: { $0.name == "transfer-encoding" && $0.value == "chunked" }) {
          read.removeFirst(start)
          return Reply(status: status, headers: headers, body: chunks())
        }
        while read.count < start + bodyLength {
          guard more() else { break }
        }
        let body = Array(read[start..<min(read.count, start + bodyLength)])
        read.removeFirst(min(read.count, start + bodyLength))
        return Reply(status: status, headers: headers, body: body)
      }
      guard more() else { return Reply(status: 0, headers: [], body: []) }
    }
  }

  /// A body in chunks, to its end or as far as it came.
  private func chunks() -> [UInt8] {
    var body: [UInt8] = []
    var place = 0
    while true {
      while !read[place...].contains(10) { guard more() else { return body } }
      let end = read[place...].firstIndex(of: 10)!
      let size = Int(String(decoding: read[place..<end - 1], as: UTF8.self), radix: 16) ?? 0
      while read.count < end + 1 + size + 2 { guard more() else { return body } }
      body += read[(end + 1)..<(end + 1 + size)]
      place = end + 1 + size + 2
      if size == 0 { break }
    }
    read.removeFirst(place)
    return body
  }

  private func endOfHead() -> Int? {
    guard read.count >= 4 else { return nil }
    return (0...(read.count - 4)).first {
      read[$0] == 13 && read[$0 + 1] == 10 && read[$0 + 2] == 13 && read[$0 + 3] == 10
    }
  }

  private func more() -> Bool {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    guard count > 0 else { return false }
    read += buffer[..<count]
    return true
  }
}

struct Reply {
  var status: Int
  var headers: [Header]
  var body: [UInt8]

  var text: String { String(decoding: body, as: UTF8.self) }
  var json: JSONValue { (try? JSON.parse(body)) ?? .null }
  func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }

  var code: String? { json["code"]?.string }
  /// `pointer code` of each violation.
  var violations: [String] {
    (json["violations"]?.array ?? []).map { "\($0["pointer"]?.string ?? "?") \($0["code"]?.string ?? "?")" }
  }
}
