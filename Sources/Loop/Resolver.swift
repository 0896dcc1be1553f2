import Glibc

/// A resolved network address, ready for `connect`.
package struct SocketAddress: Hashable, Sendable {
  /// The bytes of a `sockaddr_in` or `sockaddr_in6`.
  package let bytes: [UInt8]
  package let family: Int32
}

/// `reason`: `getaddrinfo`'s own text, without the host.
package struct ResolveFailure: Error, Sendable { package let reason: String }

extension EventLoop {
  /// Asks the system's resolver anew, on a thread of its own as it blocks; `done` is called on the loop, never at once.
  package func resolve(
    host: String, port: Int, _ done: @escaping (Result<[SocketAddress], ResolveFailure>) -> Void
  ) {
    let request = Resolution(host: host, port: port, loop: self, done: done)
    var thread = pthread_t()
    let result = pthread_create(
      &thread, nil,
      { @Sendable context in
        Unmanaged<Resolution>.fromOpaque(context!).takeRetainedValue().run()
        return nil
      }, Unmanaged.passRetained(request).toOpaque())
    precondition(result == 0, "no thread left to resolve a name")
    pthread_detach(thread)
  }
}

/// Crosses to the resolver's thread and back; `done` is only called on the loop.
private final class Resolution: @unchecked Sendable {
  private let host: String
  private let port: Int
  private let loop: EventLoop
  private let done: (Result<[SocketAddress], ResolveFailure>) -> Void

  init(
    host: String, port: Int, loop: EventLoop, done: @escaping (Result<[SocketAddress], ResolveFailure>) -> Void
  ) {
    self.host = host
    self.port = port
    self.loop = loop
    self.done = done
  }

  func run() {
    let result = lookUp()
    loop.post { self.done(result) }
  }

  /// `localhost` is the loopback address whatever the system's resolver knows of it (RFC 6761, section 6.3).
  private static let loopback = ["127.0.0.1", "::1"]

  private func lookUp() -> Result<[SocketAddress], ResolveFailure> {
    guard host == "localhost" else { return ask(host, flags: AI_ADDRCONFIG) }
    return .success(Self.loopback.flatMap { (try? ask($0, flags: AI_NUMERICHOST).get()) ?? [] })
  }

  private func ask(_ host: String, flags: Int32) -> Result<[SocketAddress], ResolveFailure> {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    hints.ai_flags = flags
    var list: UnsafeMutablePointer<addrinfo>?
    let code = getaddrinfo(host, String(port), &hints, &list)
    guard code == 0 else { return .failure(ResolveFailure(reason: String(cString: gai_strerror(code)))) }
    defer { freeaddrinfo(list) }
    var found: [SocketAddress] = []
    var next = list
    while let entry = next {
      let bytes = UnsafeRawBufferPointer(start: entry.pointee.ai_addr, count: Int(entry.pointee.ai_addrlen))
      found.append(SocketAddress(bytes: Array(bytes), family: entry.pointee.ai_family))
      next = entry.pointee.ai_next
    }
    return .success(found)
  }
}
