package import Domain
package import Loop

/// Commands to one Redis, pipelined over one connection that comes back by itself. Commands are never queued while it is
/// away and never resent: `RedisFault` tells what is known. Loop thread only.
package final class Redis {
  private struct Waiting {
    var done: ((Result<RedisReply, RedisFault>) -> Void)?
    var deadline: Instant
    var sent: Instant
    var size: Int
  }

  private let loop: EventLoop
  private let endpoint: RedisEndpoint
  private let settings: RedisSettings
  private let scripts: [RedisScript]
  private let link: RedisLink
  private var waiting = FIFO<Waiting>()
  private var bytesInFlight = 0
  private var watch: Timer?
  private var hashes: [String: String] = [:]
  private var handshake = 0

  /// Connected, authenticated, scripts loaded.
  package private(set) var isReady = false
  /// Counts the connections that became ready.
  package private(set) var generation = 0
  /// Why the last handshake was refused, in Redis' words.
  package private(set) var lastRefusal: RedisRefusal?
  /// When Redis last said anything.
  package private(set) var heardAt: Instant
  /// Called on the loop when `isReady` changes.
  package var onChange: (Bool) -> Void = { _ in }

  /// Connects in the background. `scripts` are loaded on each connect.
  package init(
    loop: EventLoop, endpoint: RedisEndpoint, settings: RedisSettings = RedisSettings(), scripts: [RedisScript] = []
  ) {
    self.loop = loop
    self.endpoint = endpoint
    self.settings = settings
    self.scripts = scripts
    heardAt = loop.now
    link = RedisLink(loop: loop, endpoint: endpoint, settings: settings)
    link.onUp = { [weak self] in self?.shakeHands() }
    link.onReply = { [weak self] in self?.answered($0) }
    link.onDown = { [weak self] in self?.fail() }
    link.connect()
  }

  /// What waits fails as `lost`.
  package func close() {
    link.close()
    fail()
  }

  /// Gives the connection up and looks for Redis anew; what waits fails as `lost`.
  package func reconnect() { link.restart() }

  /// Set when the endpoint can never work.
  package var fault: String? { link.fault }
  /// Why there is no connection, as far as known, behind the address.
  package var trouble: String? { isReady ? nil : link.trouble.map { "\(endpoint.place.text): \($0)" } }

  // MARK: Commands

  /// `done` is called on the loop, maybe at once. `timeout` in milliseconds; nil: the settings'.
  package func send(
    _ command: RedisCommand, timeout: Int64? = nil, _ done: @escaping (Result<RedisReply, RedisFault>) -> Void
  ) {
    guard isReady else {
      if let fault = link.fault { return done(.failure(.unusable(fault))) }
      return done(.failure(.disconnected))
    }
    guard bytesInFlight < settings.bytesInFlight else { return done(.failure(.overloaded)) }
    enqueue(command, timeout: timeout ?? settings.commandMilliseconds, done)
  }

  /// Runs a script by its hash; if Redis has lost it meanwhile, once by its text.
  package func send(
    _ script: RedisScript, keys: [String], _ arguments: [RedisArgument], timeout: Int64? = nil,
    _ done: @escaping (Result<RedisReply, RedisFault>) -> Void
  ) {
    send(script, ScriptRun(keys: keys, arguments), timeout: timeout, done)
  }

  /// The same with the run's bytes made before. Where the hash is not known, the text is sent at once.
  package func send(
    _ script: RedisScript, _ run: ScriptRun, timeout: Int64? = nil,
    _ done: @escaping (Result<RedisReply, RedisFault>) -> Void
  ) {
    guard let hash = hashes[script.name] else {
      return send(Self.eval("EVAL", script.source, run), timeout: timeout, done)
    }
    send(Self.eval("EVALSHA", hash, run), timeout: timeout) { [weak self] result in
      guard let self, case .failure(.refused(let refusal)) = result, refusal.code == .noScript else {
        return done(result)
      }
      send(Self.eval("EVAL", script.source, run), timeout: timeout, done)
    }
  }

  /// For a task on the loop. Cancelling the task neither ends the command nor the wait. `timeout` in milliseconds.
  package func call(_ command: RedisCommand, timeout: Int64? = nil) async throws(RedisFault) -> RedisReply {
    let result: Result<RedisReply, RedisFault> = await withUnsafeContinuation { waiter in
      send(command, timeout: timeout) { waiter.resume(returning: $0) }
    }
    return try result.get()
  }

  /// A script by its hash, else by its text. `timeout` in milliseconds, for each of the two.
  package func call(
    _ script: RedisScript, keys: [String], _ arguments: [RedisArgument], timeout: Int64? = nil
  ) async throws(RedisFault) -> RedisReply {
    let result: Result<RedisReply, RedisFault> = await withUnsafeContinuation { waiter in
      send(script, keys: keys, arguments, timeout: timeout) { waiter.resume(returning: $0) }
    }
    return try result.get()
  }

  /// All in one pipeline, the answers in order; throws the first fault. What came after a fault may have been done.
  package func call(_ commands: [RedisCommand]) async throws(RedisFault) -> [RedisReply] {
    try await begin(commands).replies()
  }

  /// The same, to be awaited later: what is sent until then Redis does after it.
  package func begin(_ commands: [RedisCommand]) -> RedisPipeline {
    let pipeline = RedisPipeline()
    for command in commands { send(command, pipeline.expect()) }
    pipeline.close()
    return pipeline
  }
  /// One script several times. `next` makes one run after the other, until it answers nil: Redis has the first while later ones
  /// are being made.
  package func begin(_ script: RedisScript, _ next: () -> ScriptRun?) -> RedisPipeline {
    let pipeline = RedisPipeline()
    while let run = next() { send(script, run, pipeline.expect()) }
    pipeline.close()
    return pipeline
  }

  private static func eval(_ verb: String, _ body: String, _ run: ScriptRun) -> RedisCommand {
    var command = RedisCommand()
    command.reserve(bytes: body.utf8.count + run.keys.size + run.arguments.size + 48)
    command.append(verb)
    command.append(body)
    command.append(run.keys.count)
    command.append(run.keys)
    command.append(run.arguments)
    return command
  }

  private func enqueue(
    _ command: RedisCommand, timeout: Int64, _ done: @escaping (Result<RedisReply, RedisFault>) -> Void
  ) {
    let size = link.send(command)
    bytesInFlight += size
    let now = loop.now
    waiting.append(Waiting(done: done, deadline: now + timeout, sent: now, size: size))
    if watch == nil { armWatch() }
  }

  // MARK: Answers

  private func answered(_ reply: RedisReply) {
    guard let first = waiting.popFirst() else { return link.restart() }
    heardAt = loop.now
    bytesInFlight -= first.size
    guard let done = first.done else { return }
    if case .error(let refusal) = reply { done(.failure(.refused(refusal))) } else { done(.success(reply)) }
  }

  private func fail() {
    setReady(false)
    if let watch { loop.cancel(watch) }
    watch = nil
    bytesInFlight = 0
    let lost = waiting.takeAll()
    for entry in lost { entry.done?(.failure(.lost)) }
  }

  private func armWatch() {
    watch = loop.after(milliseconds: Self.watchMilliseconds) { [weak self] in
      guard let self else { return }
      watch = nil
      expire()
    }
  }
  /// How exactly deadlines are kept.
  private static let watchMilliseconds: Int64 = 50

  private func expire() {
    guard let oldest = waiting.first else { return }
    let now = loop.now
    if oldest.sent + settings.stallMilliseconds < now { return link.restart() }
    var late: [(Result<RedisReply, RedisFault>) -> Void] = []
    waiting.change { entry in
      guard entry.deadline <= now, let done = entry.done else { return }
      // Its place stays: the answer may still come and must not be taken for another's.
      entry.done = nil
      late.append(done)
    }
    for done in late { done(.failure(.timedOut)) }
    if watch == nil, waiting.first != nil { armWatch() }
  }

  // MARK: Handshake

  private func shakeHands() {
    var steps: [(RedisCommand, (RedisReply) -> Void)] = []
    if let password = endpoint.password {
      let words = ["AUTH"] + (endpoint.username.map { [$0] } ?? []) + [password]
      steps.append((RedisCommand(words: words), { _ in }))
    }
    if endpoint.database != 0 { steps.append((RedisCommand("SELECT", String(endpoint.database)), { _ in })) }
    for script in scripts {
      let load = RedisCommand("SCRIPT", "LOAD", script.source)
      steps.append((load, { [weak self] in self?.hashes[script.name] = $0.text }))
    }
    steps.append((RedisCommand("PING"), { _ in }))
    handshake = steps.count
    for (command, take) in steps {
      enqueue(command, timeout: settings.commandMilliseconds) { [weak self] in self?.shook($0, take) }
    }
  }

  private func shook(_ result: Result<RedisReply, RedisFault>, _ take: (RedisReply) -> Void) {
    switch result {
    case .success(let reply):
      take(reply)
      handshake -= 1
      guard handshake == 0 else { return }
      lastRefusal = nil
      link.settled()
      setReady(true)
    case .failure(.refused(let refusal)):
      lastRefusal = refusal
      link.restart()
    case .failure(.timedOut): link.restart()
    case .failure: break
    }
  }

  private func setReady(_ ready: Bool) {
    guard isReady != ready else { return }
    isReady = ready
    if ready { generation += 1 }
    onChange(ready)
  }
}
