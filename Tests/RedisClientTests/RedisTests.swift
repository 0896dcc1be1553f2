import Domain
import Glibc
import Loop
import RedisClient
import Support
import Testing

@Suite("The Redis client")
struct RedisTests {
  @Test("a thousand commands of one turn come back in order, whatever their bytes")
  func pipelining() async throws {
    let server = RedisServer()
    try await withLoop { loop in
      let redis = try await connected(loop, server)
      var commands: [RedisCommand] = []
      for number in 0..<1000 {
        var echo = RedisCommand("ECHO")
        echo.append([0, 13, 10, UInt8(number & 255)] + Array(String(number).utf8))
        commands.append(echo)
      }
      var empty = RedisCommand("ECHO")
      empty.append([UInt8]())
      commands.append(empty)
      let replies = try await redis.call(commands)
      for number in 0..<1000 {
        #expect(replies[number].bytes == [0, 13, 10, UInt8(number & 255)] + Array(String(number).utf8))
      }
      #expect(replies[1000] == .bytes([]))
      redis.close()
    }
  }

  @Test("more than a socket holds: Redis has the first while the last is being made, and answers in order")
  func long() async throws {
    let server = RedisServer()
    try await withLoop { loop in
      let script = RedisScript("length", "redis.call('INCR', KEYS[1]) return #ARGV[1] + ARGV[2]")
      let redis = try await connected(loop, server, scripts: [script])
      let filler = [UInt8](repeating: 7, count: 20_000)
      var made = 0
      let pipeline = redis.begin(script) {
        made += 1
        guard made <= 1_000 else { return nil }
        // The loop is held up here: Redis gets no more than what it was sent by now.
        if made == 500 { #expect(Self.appears("n", server), "Redis has nothing of it yet") }
        return ScriptRun(keys: ["n"], [.bytes(filler), .number(Int64(made))])
      }
      #expect(pipeline.count == 1_000)
      let replies = try await pipeline.replies()
      #expect(replies == (1...1_000).map { .integer(Int64(20_000 + $0)) })
      // Nothing is left of it that would come before or between.
      #expect(try await redis.call(RedisCommand("GET", "n")).integer == 1_000)
      redis.close()
    }
  }

  /// Waits for it, but not for ever. It asks again and again, as the loop that could be told is held up.
  private static func appears(_ key: String, _ server: RedisServer) -> Bool {
    (0..<60_000).contains { _ in
      if exists(key, server) { return true }
      usleep(1_000)
      return false
    }
  }

  /// Asked over a connection of its own, without a loop.
  private static func exists(_ key: String, _ server: RedisServer) -> Bool {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: server.socketPath.utf8) }
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    let connected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
    let question = Array("EXISTS \(key)\r\n".utf8)
    precondition(connected && write(descriptor, question, question.count) == question.count, "no Redis")
    var answer = [UInt8](repeating: 0, count: 16)
    return read(descriptor, &answer, answer.count) > 1 && answer[1] == UInt8(ascii: "1")
  }

  @Test("every shape of answer is owned, errors are classified")
  func shapes() async throws {
    let server = RedisServer()
    try await withLoop { loop in
      let redis = try await connected(loop, server)
      #expect(try await redis.call(RedisCommand("SET", "a", "1")) == .status("OK"))
      #expect(try await redis.call(RedisCommand("INCR", "a")) == .integer(2))
      #expect(try await redis.call(RedisCommand("GET", "none")) == .null)
      let nested = try await redis.call(RedisCommand("EVAL", "return {1,{'x',{}},false}", "0"))
      #expect(nested == .array([.integer(1), .array([.bytes([120]), .array([])]), .null]))
      await #expect(throws: RedisFault.self) { try await redis.call(RedisCommand("LPUSH", "a", "1")) }
      let result = await outcome { () async throws(RedisFault) in try await redis.call(RedisCommand("LPUSH", "a", "1"))
      }
      guard case .failure(.refused(let refusal)) = result else { return #expect(Bool(false), "no refusal") }
      #expect(refusal.code == .wrongType)
      #expect(RedisRefusal(text: "LOADING Redis is loading").code == .loading)
      #expect(RedisRefusal(text: "LEASE lost").code == .other)
      redis.close()
    }
  }

  @Test("a script that Redis forgot is sent once by its text")
  func forgottenScript() async throws {
    let server = RedisServer()
    try await withLoop { loop in
      let script = RedisScript("double", "return ARGV[1] * 2")
      let redis = try await connected(loop, server, scripts: [script])
      #expect(try await redis.call(script, keys: [], [21]) == .integer(42))
      _ = try await redis.call(RedisCommand("SCRIPT", "FLUSH"))
      #expect(try await redis.call(script, keys: [], [4]) == .integer(8))
      redis.close()
    }
  }

  @Test("what waits when Redis dies is lost, never resent; the client comes back by itself")
  func lostAndBack() async throws {
    let server = RedisServer(durable: true)
    try await withLoop { loop in
      let redis = try await connected(loop, server)
      _ = try await redis.call(RedisCommand("INCR", "n"))
      let waiting = Waiter<Result<RedisReply, RedisFault>>()
      redis.send(RedisCommand("BLPOP", "nothing", "0")) { waiting.give($0) }
      await loop.sleep(milliseconds: 20)
      server.stop()
      #expect(await waiting.value() == .failure(.lost))
      #expect(!redis.isReady)
      let refused = await outcome { () async throws(RedisFault) in try await redis.call(RedisCommand("INCR", "n")) }
      #expect(refused == .failure(.disconnected))
      let back = Waiter<Bool>()
      redis.onChange = { if $0 { back.give(true) } }
      server.start()
      #expect(await back.value())
      #expect(try await redis.call(RedisCommand("GET", "n")).integer == 1)
      redis.close()
    }
  }

  @Test("a command without an answer in time fails; later answers still find their own")
  func deadline() async throws {
    let server = RedisServer()
    try await withLoop { loop in
      let redis = try await connected(loop, server)
      let other = try await connected(loop, server)
      let late = await outcome { () async throws(RedisFault) in
        try await redis.call(RedisCommand("BLPOP", "list", "0"), timeout: 60)
      }
      #expect(late == .failure(.timedOut))
      let behind = Waiter<Result<RedisReply, RedisFault>>()
      redis.send(RedisCommand("ECHO", "me")) { behind.give($0) }
      _ = try await other.call(RedisCommand("LPUSH", "list", "x"))
      #expect(await behind.value() == .success(.bytes(Array("me".utf8))))
      redis.close()
      other.close()
    }
  }

  @Test("too many bytes in flight are refused at once")
  func overloaded() async throws {
    let server = RedisServer()
    try await withLoop { loop in
      var settings = RedisSettings()
      settings.bytesInFlight = 1 << 16
      let redis = try await connected(loop, server, settings: settings)
      let big = String(repeating: "x", count: 40_000)
      let outcomes = Waiter<[RedisFault?]>()
      var seen: [RedisFault?] = []
      for _ in 0..<4 {
        redis.send(RedisCommand("ECHO", big)) { result in
          if case .failure(let fault) = result { seen.append(fault) } else { seen.append(nil) }
          if seen.count == 4 { outcomes.give(seen) }
        }
      }
      #expect(await outcomes.value() == [.overloaded, .overloaded, nil, nil])
      redis.close()
    }
  }

  @Test("a wrong password is reported in Redis' words")
  func password() async throws {
    let server = RedisServer(["--requirepass", "right"])
    try await withLoop { loop in
      var endpoint = server.endpoint
      endpoint.password = "wrong"
      let redis = Redis(loop: loop, endpoint: endpoint)
      while redis.lastRefusal == nil { await loop.sleep(milliseconds: 2) }
      #expect(redis.lastRefusal?.code == .wrongPassword)
      redis.close()
      endpoint.password = "right"
      let good = try await connected(loop, endpoint)
      #expect(try await good.call(RedisCommand("PING")) == .status("PONG"))
      good.close()
    }
  }

  @Test("a subscription comes back after a restart and says so")
  func subscription() async throws {
    let server = RedisServer()
    try await withLoop { loop in
      let ready = Waiter<Bool>()
      let heard = Waiter<[UInt8]>()
      var connects = 0
      let again = Waiter<Bool>()
      let subscriber = RedisSubscriber(loop: loop, endpoint: server.endpoint, channels: ["bell", "other"]) { event in
        switch event {
        case .reconnected:
          connects += 1
          if connects == 1 { ready.give(true) } else { again.give(true) }
        case .message(_, let payload): heard.give(payload)
        }
      }
      #expect(await ready.value())
      server.restart()
      #expect(await again.value())
      let redis = try await connected(loop, server)
      _ = try await redis.call(RedisCommand("PUBLISH", "bell", "ding"))
      #expect(await heard.value() == Array("ding".utf8))
      redis.close()
      subscriber.close()
    }
  }

  @Test("over TCP by name as well")
  func tcp() async throws {
    let port = freePort()
    let server = RedisServer(["--port", String(port)])
    try await withLoop { loop in
      let redis = try await connected(
        loop, RedisEndpoint(.tcp(host: "localhost", port: port, tls: false, caFile: nil)))
      #expect(try await redis.call(RedisCommand("PING")) == .status("PONG"))
      redis.close()
      _ = server
    }
  }
}

/// A value that arrives once, or has.
final class Waiter<Value: Sendable> {
  private var given: Value?
  private var waiter: UnsafeContinuation<Value, Never>?
  func give(_ value: Value) {
    if let waiter {
      self.waiter = nil
      waiter.resume(returning: value)
    } else {
      given = value
    }
  }
  func value() async -> Value {
    if let given { return given }
    return await withUnsafeContinuation { waiter = $0 }
  }
}

func connected(
  _ loop: EventLoop, _ endpoint: RedisEndpoint, settings: RedisSettings = RedisSettings(),
  scripts: [RedisScript] = []
) async throws -> Redis {
  let redis = Redis(loop: loop, endpoint: endpoint, settings: settings, scripts: scripts)
  if !redis.isReady {
    let ready = Waiter<Bool>()
    redis.onChange = { if $0 { ready.give(true) } }
    _ = await ready.value()
    redis.onChange = { _ in }
  }
  return redis
}

func connected(
  _ loop: EventLoop, _ server: RedisServer, settings: RedisSettings = RedisSettings(), scripts: [RedisScript] = []
) async throws -> Redis {
  try await connected(loop, server.endpoint, settings: settings, scripts: scripts)
}

func outcome<Value, Failure>(_ body: () async throws(Failure) -> Value) async -> Result<Value, Failure> {
  do throws(Failure) { return .success(try await body()) } catch { return .failure(error) }
}
