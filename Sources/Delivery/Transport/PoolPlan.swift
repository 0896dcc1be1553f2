import Domain

/// Which connections one credential keeps, and which takes the next stream (design D2, D14). Connections open on
/// demand, another one when those there are full; a draining one is replaced at once; failures wait longer each time.
///
/// What was at work when a connection ended may have ended it: such suspects go over connections aside from the
/// others', whose end costs nobody else anything (decision 0049). A connection that ends is replaced at once, as long
/// as answers come at all.
struct PoolPlan {
  /// Names a connection; never used twice.
  typealias ConnectionSlot = Int

  struct Connection: Hashable {
    enum State: Hashable {
      /// Exits: `proving` or `ready` by `connected`, gone by `closed`.
      case connecting
      /// The first request goes alone. Exits: `ready` by its answer, `leaving`, gone.
      case proving
      /// Exits: `leaving` by GOAWAY or `retire`, gone.
      case ready
      /// No stream opens any more. Exit: gone.
      case leaving
    }
    var state = State.connecting
    /// Streams at work.
    var streams = 0
    /// An answer has come over it.
    var useful = false
    /// A request has gone over it.
    var used = false
    /// When the first request with the present header went over it.
    var headerSince: Instant?
    /// For suspects only; and this one for nobody beside the one at work.
    var isAside = false
    var isSole = false
    /// The peer has left a PING unanswered: nobody goes over it, and another may open in its place.
    var isSilent = false
    /// When the request went on which all others wait: the first of a connection, or one that goes alone.
    var provingSince: Instant?
  }

  enum Action: Hashable {
    case connect(ConnectionSlot)
    /// Nothing before then.
    case wait(until: Instant)
    case none
  }

  private(set) var connections: [ConnectionSlot: Connection] = [:]
  private var last: ConnectionSlot = 0
  private(set) var backoff: Backoff
  /// Waits between connections that come about and end with their first request, again and again.
  private(set) var refusals: Backoff
  /// The same of connections for suspects.
  private(set) var asideRefusals: Backoff
  /// Connections that ended with a request at work, in a row, while nothing was answered on any.
  private(set) var fruitless = 0
  /// First requests of connections since the last answer on any but those for suspects.
  private var firsts = 0
  private let maximum: Int
  private let cautious: Bool
  private let settings: PoolSettings

  init(maximum: Int, cautious: Bool, settings: PoolSettings) {
    self.maximum = max(1, maximum)
    self.cautious = cautious
    self.settings = settings
    backoff = Backoff(base: settings.reconnectBase, maximum: settings.reconnectMaximum)
    refusals = Backoff(base: settings.reconnectBase, maximum: min(settings.refusedMaximum, settings.reconnectMaximum))
    asideRefusals = Backoff(base: settings.reconnectBase, maximum: settings.reconnectMaximum)
  }

  var usable: Int { connections.values.count { $0.state == .ready || $0.state == .proving } }

  /// The next request goes alone, and had better be another than the one whose turn it is: those before it brought no
  /// answer. Each second time, as nobody knows on which side those stand that are to blame.
  func wantsAnother(_ connectionSlot: ConnectionSlot) -> Bool {
    connections[connectionSlot]?.state == .proving && !firsts.isMultiple(of: 2)
  }

  /// Its first request is not answered in time: others need not wait for that.
  private func isStuck(_ connection: Connection, now: Instant) -> Bool {
    guard connection.state == .proving || connection.isAside, let since = connection.provingSince else { return false }
    return now - since >= settings.provePatience
  }

  /// Work waits and no connection slot is free.
  mutating func demanded(now: Instant) -> Action {
    let others = connections.values.filter { !$0.isAside && $0.state != .leaving && !$0.isSilent }
    let stuck = others.count { isStuck($0, now: now) }
    guard stuck < settings.stuckMaximum else { return .none }
    // While one connects or proves itself its streams may be all that is needed.
    if let opening = others.first(where: {
      $0.state == .connecting || ($0.state == .proving && !isStuck($0, now: now))
    }) {
      return opening.provingSince.map { .wait(until: $0 + settings.provePatience) } ?? .none
    }
    guard others.count - stuck < maximum else { return .none }
    if let until = [backoff.until, refusals.until].compactMap({ $0 }).max(), now < until { return .wait(until: until) }
    return connect(isAside: false)
  }

  /// Nobody waits for the next connection.
  mutating func hurry() {
    backoff.hurry()
    refusals.hurry()
    asideRefusals.hurry()
  }

  /// So many suspects wait and none of them can go.
  mutating func demandedAside(waiting: Int, now: Instant) -> Action {
    let asides = connections.values.filter { $0.isAside && $0.state != .leaving }
    // Who waits for an answer for long leaves the others their turn.
    let stuck = asides.count { isStuck($0, now: now) }
    guard stuck < settings.asideStuckMaximum else { return .none }
    guard asides.count - stuck < settings.asideMaximum else {
      let next = asides.filter { !isStuck($0, now: now) }.compactMap(\.provingSince).min()
      return next.map { .wait(until: $0 + settings.provePatience) } ?? .none
    }
    guard asides.count(where: { $0.streams == 0 }) < waiting else { return .none }
    if let until = [backoff.until, asideRefusals.until].compactMap({ $0 }).max(), now < until {
      return .wait(until: until)
    }
    return connect(isAside: true)
  }

  private mutating func connect(isAside: Bool) -> Action {
    last += 1
    connections[last] = Connection(isAside: isAside)
    return .connect(last)
  }

  /// The connection with the most room; `room` is what its peer allows now. Another than `avoiding`, if there is one.
  /// `reserve`: leave this share of the streams free.
  func connectionSlot(avoiding: ConnectionSlot?, reserve: Double, room: (ConnectionSlot) -> (free: Int, limit: Int))
    -> ConnectionSlot?
  {
    var best: (connectionSlot: ConnectionSlot, free: Int)?
    var fallback: ConnectionSlot?
    for (connectionSlot, connection) in connections where !connection.isAside {
      let usable = Self.usable(connection, room(connectionSlot), reserve: reserve)
      guard usable > 0 else { continue }
      if connectionSlot == avoiding {
        fallback = connectionSlot
      } else if usable > best?.free ?? 0 || (usable == best?.free && connectionSlot < best!.connectionSlot) {
        best = (connectionSlot, usable)
      }
    }
    return best?.connectionSlot ?? fallback
  }

  /// A connection for one more suspect; `together`: how many may be at work on it.
  mutating func asideSlot(together: Int, room: (ConnectionSlot) -> (free: Int, limit: Int)) -> ConnectionSlot? {
    var best: ConnectionSlot?
    for (connectionSlot, connection) in connections where connection.isAside {
      guard
        connection.streams == 0 || (connection.streams < together && !connection.isSole),
        Self.usable(connection, room(connectionSlot), reserve: 0) > 0
      else { continue }
      // Its end must not become others': the emptiest, and of those the oldest.
      guard let known = best, let other = connections[known] else {
        best = connectionSlot
        continue
      }
      if (connection.streams, connectionSlot) < (other.streams, known) { best = connectionSlot }
    }
    if let best, connections[best]?.streams == 0 { connections[best]?.isSole = together == 1 }
    return best
  }

  /// Connections for suspects that have nothing to do.
  var idleAsides: [ConnectionSlot] {
    connections.filter { $0.value.isAside && $0.value.streams == 0 && $0.value.state != .leaving }.map(\.key)
  }
  func isAside(_ connectionSlot: ConnectionSlot) -> Bool { connections[connectionSlot]?.isAside ?? false }

  /// Streams that this connection may open now.
  func room(at connectionSlot: ConnectionSlot, reserve: Double, _ room: (free: Int, limit: Int)) -> Int {
    connections[connectionSlot].map { Self.usable($0, room, reserve: reserve) } ?? 0
  }

  private static func usable(_ connection: Connection, _ room: (free: Int, limit: Int), reserve: Double) -> Int {
    switch connection.state {
    case .ready: room.free - (room.limit > 1 ? Int(Double(room.limit) * reserve) : 0)
    case .proving: connection.streams == 0 ? min(room.free, 1) : 0
    case .connecting, .leaving: 0
    }
  }

  /// Behind connections that brought no answer the first request goes alone at every peer.
  mutating func connected(_ connectionSlot: ConnectionSlot) {
    guard var connection = connections[connectionSlot], connection.state == .connecting else { return }
    connection.state = cautious || fruitless > 0 || connection.isAside ? .proving : .ready
    connections[connectionSlot] = connection
  }

  mutating func submitted(_ connectionSlot: ConnectionSlot, now: Instant) {
    guard var connection = connections[connectionSlot] else { return }
    connection.streams += 1
    connection.used = true
    if connection.headerSince == nil { connection.headerSince = now }
    if connection.state == .proving || (connection.isAside && connection.streams == 1) { connection.provingSince = now }
    if connection.state == .proving, !connection.isAside { firsts &+= 1 }
    connections[connectionSlot] = connection
  }

  /// Streams ended; `answered`: by an answer that shows that the peer takes our requests.
  mutating func ended(_ connectionSlot: ConnectionSlot, answered: Bool, count: Int = 1) {
    guard var connection = connections[connectionSlot] else { return }
    connection.streams -= count
    precondition(connection.streams >= 0, "more ends than streams")
    if answered {
      connection.useful = true
      if connection.state == .proving { connection.state = .ready }
      if !connection.isAside { firsts = 0 }
      fruitless = 0
      backoff.succeeded()
      refusals.succeeded()
      asideRefusals.succeeded()
    }
    if connection.streams == 0 { connection.provingSince = nil }
    connections[connectionSlot] = connection
  }

  mutating func silenceChanged(_ connectionSlot: ConnectionSlot, isSilent: Bool) {
    connections[connectionSlot]?.isSilent = isSilent
  }

  /// Those beyond the maximum, once answers come: they opened in place of others that proved themselves late or were
  /// silent for a while.
  var surplus: [ConnectionSlot] {
    guard connections.count > maximum else { return [] }
    let free = connections.filter {
      !$1.isAside && !$1.isSilent && ($1.state == .ready || ($1.state == .proving && $1.streams == 0))
    }
    guard free.count > maximum, free.contains(where: { $1.state == .ready }) else { return [] }
    func use(_ connection: Connection) -> Int { connection.state == .ready ? connection.streams : -1 }
    let order = free.sorted { (use($0.value), $0.key) < (use($1.value), $1.key) }
    return order.prefix(free.count - maximum).map(\.key)
  }

  /// From now on requests go with another header: those that have carried the present one for less than so many
  /// milliseconds.
  mutating func headerChanges(interval milliseconds: Int64, now: Instant) -> [ConnectionSlot] {
    let tooYoung = connections.filter { _, connection in
      connection.state != .leaving && connection.headerSince.map { now - $0 < milliseconds } ?? false
    }
    for connectionSlot in connections.keys { connections[connectionSlot]?.headerSince = nil }
    return Array(tooYoung.keys)
  }

  /// GOAWAY, or our own wish: no more streams on it.
  mutating func left(_ connectionSlot: ConnectionSlot) { connections[connectionSlot]?.state = .leaving }

  /// The connection is gone. One that never was of use counts as a failure, whatever it ended by: without a request it
  /// was the peer's; with one it may have been the request's, and some of these are replaced at once.
  mutating func closed(_ connectionSlot: ConnectionSlot, failed: Bool, now: Instant, jitter: Double) {
    guard let connection = connections.removeValue(forKey: connectionSlot) else { return }
    if failed { return backoff.failed(now: now, jitter: jitter) }
    guard !connection.useful, connection.state != .leaving else { return }
    guard connection.used else { return backoff.failed(now: now, jitter: jitter) }
    fruitless += 1
    guard fruitless > settings.replacedAtOnce else { return }
    if connection.isAside {
      asideRefusals.failed(now: now, jitter: jitter)
    } else {
      refusals.failed(now: now, jitter: jitter)
    }
  }
}
