import Domain
import HTTP2
import Loop
import TLS
import Telemetry

/// The HTTP/2 connections of one credential: carries out what `PoolPlan` decides.
final class HTTP2Pool: Transport, HTTP2ClientDelegate {
  weak var owner: (any TransportOwner)?
  private let loop: EventLoop
  private let origin: Origin
  private let tls: TLSContext
  private let settings: HTTP2Settings
  private let pool: PoolSettings
  private let log: Log
  private var plan: PoolPlan
  private var open: [PoolPlan.ConnectionSlot: HTTP2ClientConnection] = [:]
  private var connectionSlots: [ObjectIdentifier: PoolPlan.ConnectionSlot] = [:]
  private var retry: (timer: Timer, due: Instant)?
  private var closing = false
  private var lines = RateLimit(perSecond: 1)

  init(
    loop: EventLoop, origin: Origin, tls: TLSContext, maximum: Int, cautious: Bool, settings: HTTP2Settings,
    pool: PoolSettings, log: Log
  ) {
    self.loop = loop
    self.origin = origin
    self.tls = tls
    self.settings = settings
    self.pool = pool
    self.log = log
    plan = PoolPlan(maximum: maximum, cautious: cautious, settings: pool)
  }

  var connections: Int { plan.usable }
  var streams: Int { open.reduce(0) { $0 + (plan.isAside($1.key) ? 0 : $1.value.streamLimit) } }

  func connectionSlot(avoiding: Int?, reserve: Double) -> Int? {
    plan.connectionSlot(avoiding: avoiding, reserve: reserve, room: room)
  }
  private func room(_ connectionSlot: Int) -> (free: Int, limit: Int) {
    guard let connection = open[connectionSlot] else { return (0, 0) }
    return (connection.openable, connection.streamLimit)
  }

  func asideSlot(together: Int) -> Int? { plan.asideSlot(together: together, room: room) }
  func demandAside(waiting: Int) {
    guard !closing else { return }
    while true {
      let action = plan.demandedAside(waiting: waiting, now: loop.now)
      carryOut(action)
      guard case .connect = action else { return }
    }
  }
  func restAside() { for connectionSlot in plan.idleAsides { retire(connectionSlot) } }
  func wantsAnother(connectionSlot: Int) -> Bool { plan.wantsAnother(connectionSlot) }
  func requests(olderThan milliseconds: Int64) -> Int {
    open.reduce(0) { $0 + (plan.isAside($1.key) ? 0 : $1.value.streams(olderThan: milliseconds)) }
  }

  func demand() {
    guard !closing else { return }
    carryOut(plan.demanded(now: loop.now))
  }

  func hurry() { plan.hurry() }

  private func carryOut(_ action: PoolPlan.Action) {
    switch action {
    case .none: break
    case .connect(let connectionSlot):
      let connection = HTTP2ClientConnection(loop: loop, origin: origin, tls: tls, settings: settings)
      open[connectionSlot] = connection
      connectionSlots[ObjectIdentifier(connection)] = connectionSlot
      connection.delegate = self
    case .wait(let until): look(at: until)
    }
  }

  private func look(at time: Instant) {
    if let retry {
      if retry.due <= time { return }
      loop.cancel(retry.timer)
    }
    let timer = loop.after(milliseconds: max(1, time - loop.now)) { [weak self] in
      self?.retry = nil
      self?.owner?.hasRoom()
    }
    retry = (timer, time)
  }

  func send(_ request: ProviderRequest, tag: Int, connectionSlot: Int) {
    guard let connection = open[connectionSlot] else { preconditionFailure("a berth without a connection") }
    plan.submitted(connectionSlot, now: loop.now)
    connection.submit(request, tag: UInt64(tag))
  }

  var takesPrepared: Bool { true }
  func prepare(_ frame: PushFrame) -> PreparedPush? { PreparedPush(frame, origin: origin) }

  func room(at connectionSlot: Int, reserve: Double) -> Int {
    guard let connection = open[connectionSlot] else { return 0 }
    return plan.room(at: connectionSlot, reserve: reserve, (connection.openable, connection.streamLimit))
  }

  func push(_ push: PreparedPush, token: [UInt8], id: UUIDBytes, body: [UInt8], tag: Int, connectionSlot: Int) {
    guard let connection = open[connectionSlot] else { preconditionFailure("a berth without a connection") }
    plan.submitted(connectionSlot, now: loop.now)
    connection.submit(push, token: token, id: id, body: body, tag: UInt64(tag))
  }

  func retire(_ connectionSlot: Int) {
    guard let connection = open[connectionSlot] else { return }
    plan.left(connectionSlot)
    // Not from inside one of its calls.
    loop.atEndOfTurn { connection.drain() }
  }

  func headerChanges(interval milliseconds: Int64) {
    for connectionSlot in plan.headerChanges(interval: milliseconds, now: loop.now) { retire(connectionSlot) }
  }

  private func retireSurplus() { for connectionSlot in plan.surplus { retire(connectionSlot) } }

  func drain() {
    closing = true
    if let retry { loop.cancel(retry.timer) }
    for connectionSlot in open.keys { retire(connectionSlot) }
  }
  var isDone: Bool { open.isEmpty }

  func close() {
    closing = true
    if let retry { loop.cancel(retry.timer) }
    for connection in open.values { connection.close() }
  }

  // MARK: What connections tell

  func connected(_ connection: HTTP2ClientConnection) {
    guard let connectionSlot = connectionSlots[ObjectIdentifier(connection)] else { return }
    plan.connected(connectionSlot)
    guard !closing else { return }
    owner?.reached()
    owner?.hasRoom()
  }

  func answered(_ connection: HTTP2ClientConnection, _ tag: UInt64, _ answer: ProviderAnswer) {
    if let connectionSlot = connectionSlots[ObjectIdentifier(connection)] {
      // A refused authorization proves nothing: the next request goes alone again.
      plan.ended(connectionSlot, answered: answer.status != 401 && answer.status != 403)
      retireSurplus()
    }
    owner?.answered(Int(tag), answer)
  }

  func succeeded(_ connection: HTTP2ClientConnection, _ answers: [(tag: UInt64, body: [UInt8])]) {
    if let connectionSlot = connectionSlots[ObjectIdentifier(connection)] {
      plan.ended(connectionSlot, answered: true, count: answers.count)
      retireSurplus()
    }
    owner?.succeeded(answers)
  }

  func failed(_ connection: HTTP2ClientConnection, _ tag: UInt64, _ failure: StreamFailure) {
    let connectionSlot = connectionSlots[ObjectIdentifier(connection)]
    if let connectionSlot {
      plan.ended(connectionSlot, answered: false)
      retireSurplus()
    }
    switch failure {
    case .notProcessed(let reason): owner?.failed(Int(tag), .notProcessed(reason))
    case .unknown(let reason): owner?.failed(Int(tag), .unknown(reason))
    case .lost(let reason, let beside): owner?.failed(Int(tag), .lost(reason, beside: beside))
    case .silent(let reason):
      // Who is silent to all is asked no more.
      if let connectionSlot { retire(connectionSlot) }
      owner?.failed(Int(tag), .silent(reason))
    case .unsendable(let reason): owner?.failed(Int(tag), .unsendable(reason))
    }
  }

  func capacityChanged(_ connection: HTTP2ClientConnection) { if !closing { owner?.hasRoom() } }

  func silenceChanged(_ connection: HTTP2ClientConnection, isSilent: Bool) {
    guard let connectionSlot = connectionSlots[ObjectIdentifier(connection)] else { return }
    plan.silenceChanged(connectionSlot, isSilent: isSilent)
    retireSurplus()
    if isSilent { report(.warning, "connection_silent", "no answer to a PING") }
    if !closing { owner?.hasRoom() }
  }

  func draining(_ connection: HTTP2ClientConnection, reason: String?) {
    guard let connectionSlot = connectionSlots[ObjectIdentifier(connection)] else { return }
    plan.left(connectionSlot)
    report(.info, "connection_draining", reason ?? "none")
    demand()
  }

  func closed(_ connection: HTTP2ClientConnection, _ end: ConnectionEnd) {
    guard let connectionSlot = connectionSlots.removeValue(forKey: ObjectIdentifier(connection)) else { return }
    open[connectionSlot] = nil
    var failed = false
    switch end {
    case .finished: break
    case .lost(let reason): report(.warning, "connection_lost", reason)
    case .unreachable(let reason):
      failed = true
      report(.warning, "connection_failed", reason)
      if !closing, plan.backoff.failures + 1 == pool.failuresToReport { owner?.unreachable(reason) }
    }
    plan.closed(connectionSlot, failed: failed, now: loop.now, jitter: .random(in: 0...1))
    if !closing { owner?.hasRoom() }
  }

  private func report(_ level: Log.Level, _ event: String, _ reason: String) {
    guard let skipped = lines.pass(now: loop.now) else { return }
    log(level, event, ["peer": origin.authority, "reason": reason, "skipped": String(skipped)])
  }
}
