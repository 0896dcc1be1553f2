import Glibc
import Loop
package import RedisClient
import Synchronization

/// Stands between a process and a Redis on a Unix socket and passes commands on one by one. After as many as it is told the process
/// has died as far as Redis can see, or it waits until it is let go on. It can lose an answer, or keep silent. Runs on a thread of
/// its own.
package final class RedisRelay: @unchecked Sendable {
  package enum Ending: Sendable { case dies, waits }
  /// What does not come through: the process' commands, or Redis' answers to them.
  package enum Silence: Sendable, CaseIterable { case commands, answers }

  package let path: String
  private let target: String
  private let loop = EventLoop(name: "stepped relay")
  private let thread: LoopThread
  private let listener: Int32
  // On the loop only.
  private var left = Int.max
  private var ending = Ending.dies
  private var hasEnded = false
  private var isSilent = false
  private var longestCommand = 0
  private var links: [Int32: (server: Int32, waiting: [UInt8], answers: [UInt8])] = [:]
  private let losing = Atomic<Bool>(false)
  private let lost = Atomic<Int>(0)

  package var endpoint: RedisEndpoint { RedisEndpoint(.unix(path: path)) }

  package init(to target: String) {
    self.target = target
    path = target + ".relay\(UInt16.random(in: 0 ... .max))"
    unlink(path)
    listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    let listener = listener
    precondition(Self.with(path) { bind(listener, $0, $1) } == 0 && listen(listener, 16) == 0)
    thread = loop.start()
    loop.post { [self] in loop.watch(listener, [.readable]) { [self] _ in take() } }
  }

  package func stop() {
    loop.stop()
    thread.join()
    for (client, link) in links {
      close(client)
      close(link.server)
    }
    close(listener)
    unlink(path)
  }

  /// From now on so many commands, also of what waits, and then the end.
  package func pass(_ commands: Int, then ending: Ending) async {
    await onLoop {
      self.left = commands
      self.ending = ending
      self.hasEnded = false
      for client in Array(self.links.keys) { self.pump(client) }
    }
  }

  /// Passes on what waits, and all that comes.
  package func goOn() async {
    await onLoop {
      self.left = .max
      self.hasEnded = false
      self.isSilent = false
      for client in Array(self.links.keys) {
        self.pump(client)
        self.answer(client, [])
      }
    }
  }

  /// Until it is let go on.
  package func silence(_ silence: Silence) async {
    switch silence {
    case .commands: await pass(0, then: .waits)
    case .answers: await onLoop { self.isSilent = true }
    }
  }

  /// Loses the next answer: what was asked is done, and the connection ends.
  package func loseReply() { losing.store(true, ordering: .releasing) }

  /// Answers lost so far.
  package var losses: Int { lost.load(ordering: .acquiring) }

  /// True once a command came that was not passed on.
  package func isAtEnd() async -> Bool { await onLoop { self.hasEnded } }

  /// Bytes of the longest command that was passed on.
  package func longest() async -> Int { await onLoop { self.longestCommand } }

  @discardableResult
  private func onLoop<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { waiter in loop.post { waiter.resume(returning: body()) } }
  }

  private func take() {
    let client = accept(listener, nil, nil)
    guard client >= 0 else { return }
    let server = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard !(hasEnded && ending == .dies), Self.with(target, { connect(server, $0, $1) }) == 0 else {
      close(client)
      close(server)
      return
    }
    links[client] = (server, [], [])
    loop.watch(client, [.readable]) { [self] _ in
      guard let bytes = read(client) else { return end(client) }
      links[client]?.waiting += bytes
      pump(client)
    }
    loop.watch(server, [.readable]) { [self] _ in
      guard let bytes = read(server) else { return end(client) }
      answer(client, bytes)
    }
  }

  private func pump(_ client: Int32) {
    while let link = links[client], let length = Self.command(link.waiting) {
      guard left > 0 else {
        hasEnded = true
        if ending == .dies { for client in Array(links.keys) { end(client) } }
        return
      }
      left -= 1
      longestCommand = max(longestCommand, length)
      guard write(link.waiting[..<length], to: link.server) else { return end(client) }
      links[client]?.waiting.removeFirst(length)
    }
  }

  private func answer(_ client: Int32, _ bytes: [UInt8]) {
    links[client]?.answers += bytes
    guard !isSilent, let link = links[client], !link.answers.isEmpty else { return }
    if losing.exchange(false, ordering: .acquiringAndReleasing) {
      lost.add(1, ordering: .releasing)
      return end(client)
    }
    links[client]?.answers = []
    if !write(link.answers[...], to: client) { end(client) }
  }

  /// Bytes of the first command, `*n` and then n times `$length`; nil: it is not all there.
  private static func command(_ bytes: [UInt8]) -> Int? {
    var at = 0
    func line() -> Int? {
      guard let end = bytes[at...].firstIndex(of: UInt8(ascii: "\n")) else { return nil }
      defer { at = end + 1 }
      return Int(String(decoding: bytes[(at + 1)..<(end - 1)], as: UTF8.self))
    }
    guard !bytes.isEmpty, let count = line() else { return nil }
    for _ in 0..<count {
      guard at < bytes.count, let length = line(), at + length + 2 <= bytes.count else { return nil }
      at += length + 2
    }
    return at
  }

  private func read(_ descriptor: Int32) -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = Glibc.read(descriptor, &buffer, buffer.count)
    return count > 0 ? Array(buffer.prefix(count)) : nil
  }
  private func write(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) -> Bool {
    var rest = bytes
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }

  private func end(_ client: Int32) {
    guard let link = links.removeValue(forKey: client) else { return }
    for descriptor in [client, link.server] {
      loop.unwatch(descriptor)
      close(descriptor)
    }
  }

  private static func with<Result>(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
    }
  }
}
