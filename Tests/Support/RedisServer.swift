import Glibc
package import RedisClient

/// A private Redis: a child process on a unix socket in a directory of its own, gone when this object or the test process
/// is. May be killed and started again with the same data. Not for use from several threads at once.
package final class RedisServer: @unchecked Sendable {
  package let directory: String
  private let arguments: [String]
  private let clock: (any FakeClock)?
  private var shell: pid_t = 0
  /// The shell below ends Redis when this closes, however that comes about.
  private var lifeline: Int32 = -1

  package var socketPath: String { "\(directory)/redis.sock" }
  package var endpoint: RedisEndpoint { RedisEndpoint(.unix(path: socketPath)) }

  /// `durable`: every write is on disk before its answer, so that `restart` finds it. `clock`: what it lives by; nil: the
  /// machine's.
  package init(durable: Bool = false, _ more: [String] = [], clock: (any FakeClock)? = nil) {
    self.clock = clock
    var template = Array("/tmp/ffredis.XXXXXX".utf8CString)
    precondition(mkdtemp(&template) != nil, "no temporary directory")
    directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    arguments =
      [
        "--port", "0", "--unixsocket", "\(directory)/redis.sock", "--dir", directory, "--save", "",
        "--logfile", "\(directory)/redis.log", "--pidfile", "\(directory)/redis.pid", "--maxmemory-policy",
        "noeviction", "--appendonly",
        durable ? "yes" : "no", "--appendfsync", durable ? "always" : "no",
      ] + more
    start()
  }

  /// Of the running Redis.
  package var processID: Int32 {
    let file = open("\(directory)/redis.pid", O_RDONLY | O_CLOEXEC)
    defer { close(file) }
    var text = [UInt8](repeating: 0, count: 16)
    let count = read(file, &text, text.count)
    guard let id = pid_t(String(decoding: text.prefix(max(0, count)).prefix { $0 > 0x20 }, as: UTF8.self)) else {
      preconditionFailure("Redis has left no process id in \(directory)")
    }
    return id
  }

  package func signal(_ number: Int32) { kill(processID, number) }

  /// A port of this machine that nobody listens on.
  package static func freePort() -> Int {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let port: UInt16? = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0
      } ? UInt16(bigEndian: $0.pointee.sin_port) : nil
    }
    guard let port else { preconditionFailure("no port is free") }
    return Int(port)
  }

  deinit {
    stop()
    for name in ["redis.sock", "redis.log"] { unlink("\(directory)/\(name)") }
    run("/bin/rm", ["-rf", directory])
  }

  /// Starts Redis and waits until it listens.
  package func start() {
    precondition(shell == 0, "this Redis runs already")
    var ends: [Int32] = [0, 0]
    precondition(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
    lifeline = ends[1]
    // A file that may not grow is an error of its write, as on a full disk, and not the end of Redis.
    let words = (clock?.environment ?? [:]).map { "\($0.key)='\($0.value)' " }.joined()
    let script = "trap '' XFSZ; \(words)redis-server \"$@\" & child=$!; read line; kill -9 $child"
    let started = spawn("/bin/sh", ["-c", script, "sh"] + arguments, input: ends[0])
    close(ends[0])
    guard let started else { preconditionFailure("cannot start a shell") }
    shell = started
    for _ in 0..<5_000 {
      if listens { return }
      usleep(2_000)
    }
    preconditionFailure("redis-server did not start: see \(directory)/redis.log")
  }

  /// Kills Redis as a crash would.
  package func stop() {
    guard shell != 0 else { return }
    clock?.tidy(processID)
    close(lifeline)
    var status: Int32 = 0
    waitpid(shell, &status, 0)
    shell = 0
    unlink(socketPath)
  }

  package func restart() {
    stop()
    start()
  }

  /// Copies its append-only files as they are now, as a backup or a replica that lags behind has them.
  package func copy() {
    run("/bin/rm", ["-rf", "\(directory)/copy"])
    run("/bin/cp", ["-a", "\(directory)/appendonlydir", "\(directory)/copy"])
  }

  /// Kills Redis and starts it with the copy: what was written since is lost.
  package func restartFromCopy() {
    stop()
    run("/bin/rm", ["-rf", "\(directory)/appendonlydir"])
    run("/bin/cp", ["-a", "\(directory)/copy", "\(directory)/appendonlydir"])
    start()
  }

  /// Ends the former server, and from now on is found where that one was.
  package func takeOver(from former: RedisServer) {
    former.stop()
    precondition(rename(socketPath, former.socketPath) == 0, "no socket to take over with")
  }

  private var listens: Bool {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(socketPath.utf8)) }
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    } == 0
  }
}

private func run(_ path: String, _ arguments: [String]) {
  let null = open("/dev/null", O_RDONLY | O_CLOEXEC)
  let child = spawn(path, arguments, input: null)
  close(null)
  guard let child else { preconditionFailure("cannot start \(path)") }
  var status: Int32 = 0
  waitpid(child, &status, 0)
}
