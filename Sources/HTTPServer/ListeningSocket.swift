import Domain
import Glibc

/// Opens sockets to listen on, with errors that name address and port.
enum ListeningSocket {
  private static let backlog: Int32 = 1024

  /// The descriptor, not blocking, and its real port.
  static func open(address: String, port: Int) throws(HTTPServerFailure) -> (descriptor: Int32, port: Int) {
    let place = address.contains(":") ? "[\(address)]:\(port)" : "\(address):\(port)"
    guard (0...65_535).contains(port) else {
      throw HTTPServerFailure(reason: "cannot listen on \(place): no such port")
    }
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    hints.ai_flags = AI_PASSIVE
    var list: UnsafeMutablePointer<addrinfo>?
    let code = getaddrinfo(address, String(port), &hints, &list)
    guard code == 0, let entry = list else {
      throw HTTPServerFailure(reason: "cannot listen on \(place): \(String(cString: gai_strerror(code)))")
    }
    defer { freeaddrinfo(list) }
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    let descriptor = socket(entry.pointee.ai_family, kind, 0)
    var on: Int32 = 1
    guard descriptor >= 0,
      setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size)) == 0,
      bind(descriptor, entry.pointee.ai_addr, entry.pointee.ai_addrlen) == 0, listen(descriptor, backlog) == 0
    else {
      let reason = String(cString: strerror(errno))
      if descriptor >= 0 { close(descriptor) }
      throw HTTPServerFailure(reason: "cannot listen on \(place): \(reason)")
    }
    return (descriptor, self.port(of: descriptor))
  }

  private static func port(of descriptor: Int32) -> Int {
    var storage = sockaddr_storage()
    var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
    withUnsafeMutablePointer(to: &storage) { pointer in
      _ = pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
    }
    // IPv4 and IPv6 keep the port at the same place.
    return withUnsafeBytes(of: &storage) { Int($0[2]) << 8 | Int($0[3]) }
  }

  /// The address at the other end; nil: the client has gone already.
  static func peer(of descriptor: Int32) -> NetworkAddress? {
    var storage = sockaddr_storage()
    var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return withUnsafeMutablePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        getpeername(descriptor, address, &size) == 0 ? NetworkAddress(address) : nil
      }
    }
  }
}

extension NetworkAddress {
  /// Nil: neither IPv4 nor IPv6.
  init?(_ address: UnsafePointer<sockaddr>) {
    let bytes = UnsafeRawPointer(address)
    switch Int32(address.pointee.sa_family) {
    case AF_INET:
      self.init(ipv4: UInt32(bigEndian: bytes.load(fromByteOffset: 4, as: UInt32.self)))
    case AF_INET6:
      self.init(
        high: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)),
        low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self)))
    default: return nil
    }
  }
}
