import Domain
import Glibc
import Loop
import Processes
import RedisClient

/// A private Redis that is broken, restarted and followed by others. Main thread only.
final class MeasuredRedis {
  private(set) var socket: String
  /// Nil: it listens on its socket only.
  let port: Int?
  private let folder: String
  private let core: Int
  private let settings: [String]
  private var server: PrivateRedis

  /// `folder` may hold a dump to start with. `core` >= 0 pins it. `fsync`: what is written is kept in a file, synced so; nil:
  /// nothing is kept. `port`: where replicas follow it. `primary`: whom it follows.
  init(
    in folder: String, core: Int = -1, fsync: String? = nil, port: Int? = nil, following primary: MeasuredRedis? = nil
  ) throws(ChildProcess.StartFailure) {
    self.folder = folder
    self.core = core
    self.port = port
    settings = [
      "--port", String(port ?? 0), "--appendonly", fsync == nil ? "no" : "yes", "--appendfsync", fsync ?? "no",
      "--auto-aof-rewrite-min-size", "4mb", "--repl-diskless-sync-delay", "0",
    ]
    let following = (primary?.port).map { ["--replicaof", "127.0.0.1", String($0)] } ?? []
    server = try PrivateRedis(in: folder, core: core, settings: settings + following)
    socket = server.socket
  }

  var id: pid_t { server.child.id }
  var isRunning: Bool { server.child.isRunning }
  func stop() { server.stop() }
  func signal(_ number: Int32) { server.child.signal(number) }

  /// As a crash.
  func destroy() {
    server.child.destroy()
    unlink(socket)
  }

  /// After `destroy`, or when it has ended by itself.
  func startAgain() throws(ChildProcess.StartFailure) {
    unlink(socket)
    server = try PrivateRedis(in: folder, socket: socket, core: core, settings: settings)
  }

  /// A replica follows nobody from now on, and takes writes.
  func promote() throws { _ = try ask(RedisCommand("REPLICAOF", "NO", "ONE")) }

  /// Whoever looks for the former one finds this one.
  func takeOver(from former: MeasuredRedis) throws(ChildProcess.StartFailure) {
    former.destroy()
    guard rename(socket, former.socket) == 0 else {
      throw ChildProcess.StartFailure(reason: "\(socket) cannot be renamed to \(former.socket)")
    }
    socket = former.socket
  }

  /// A line of INFO.
  func info(_ section: String, _ name: String) throws -> String? {
    let text = try ask(RedisCommand("INFO", section)).text ?? ""
    return text.split(whereSeparator: \.isNewline).first { $0.hasPrefix(name + ":") }
      .map { String($0.dropFirst(name.count + 1)) }
  }

  private func ask(_ command: RedisCommand) throws -> RedisReply {
    let endpoint = RedisEndpoint(.unix(path: socket))
    return try Blocking.run { loop in
      let redis = Redis(loop: loop, endpoint: endpoint)
      defer { redis.close() }
      let deadline = loop.now + 5_000
      while !redis.isReady, loop.now < deadline { await loop.sleep(milliseconds: 2) }
      return try await redis.call(command)
    }
  }
}
