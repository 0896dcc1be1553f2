import Domain

/// Which connections one credential keeps, and which takes the next stream (design D2, D14). Connections open on demand,
/// another one when those there are full; a draining one is replaced at once; failures wait longer each time.
struct PoolPlan {
  /// Names a connection; never used twice.
  typealias Berth = Int

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
  }

  enum Action: Hashable {
    case connect(Berth)
    /// Nothing before then.
    case wait(until: Instant)
    case none
  }

  private(set) var connections: [Berth: Connection] = [:]
  private var last: Berth = 0
  private(set) var backoff: Backoff
  private let maximum: Int
  private let cautious: Bool

  init(maximum: Int, cautious: Bool, settings: PoolSettings) {
    self.maximum = max(1, maximum)
    self.cautious = cautious
    backoff = Backoff(base: settings.reconnectBase, maximum: settings.reconnectMaximum)
  }

  private var lasting: Int { connections.values.count { $0.state != .leaving } }
  var isConnecting: Bool { connections.values.contains { $0.state == .connecting || $0.state == .proving } }
  var usable: Int { connections.values.count { $0.state == .ready || $0.state == .proving } }

  /// Work waits and no berth is free.
  mutating func demanded(now: Instant) -> Action {
    // While one connects or proves itself its streams may be all that is needed.
    guard lasting < maximum, !isConnecting else { return .none }
    if let until = backoff.until, now < until { return .wait(until: until) }
    last += 1
    connections[last] = Connection()
    return .connect(last)
  }

  /// The connection with the most room; `room` is what its peer allows now. Another than `avoiding`, if there is one.
  /// `reserve`: leave this share of the streams free.
  func berth(avoiding: Berth?, reserve: Double, room: (Berth) -> (free: Int, limit: Int)) -> Berth? {
    var best: (berth: Berth, free: Int)?
    var fallback: Berth?
    for (berth, connection) in connections {
      let usable = Self.usable(connection, room(berth), reserve: reserve)
      guard usable > 0 else { continue }
      if berth == avoiding {
        fallback = berth
      } else if usable > best?.free ?? 0 || (usable == best?.free && berth < best!.berth) {
        best = (berth, usable)
      }
    }
    return best?.berth ?? fallback
  }

  /// Streams that this connection may open now.
  func room(at berth: Berth, reserve: Double, _ room: (free: Int, limit: Int)) -> Int {
    connections[berth].map { Self.usable($0, room, reserve: reserve) } ?? 0
  }

  private static func usable(_ connection: Connection, _ room: (free: Int, limit: Int), reserve: Double) -> Int {
    switch connection.state {
    case .ready: room.free - (room.limit > 1 ? Int(Double(room.limit) * reserve) : 0)
    case .proving: connection.streams == 0 ? min(room.free, 1) : 0
    case .connecting, .leaving: 0
    }
  }

  mutating func connected(_ berth: Berth) {
    connections[berth]?.state = cautious ? .proving : .ready
  }

  mutating func submitted(_ berth: Berth) { connections[berth]?.streams += 1 }

  /// Streams ended; `answered`: by an answer that shows that the peer takes our requests.
  mutating func ended(_ berth: Berth, answered: Bool, count: Int = 1) {
    guard var connection = connections[berth] else { return }
    connection.streams -= count
    precondition(connection.streams >= 0, "more ends than streams")
    if answered {
      connection.useful = true
      if connection.state == .proving { connection.state = .ready }
      backoff.succeeded()
    }
    connections[berth] = connection
  }

  /// GOAWAY, or our own wish: no more streams on it.
  mutating func left(_ berth: Berth) { connections[berth]?.state = .leaving }

  /// The connection is gone. A connection that never was of use counts as a failure, whatever it ended by.
  mutating func closed(_ berth: Berth, failed: Bool, now: Instant, jitter: Double) {
    guard let connection = connections.removeValue(forKey: berth) else { return }
    if failed || (!connection.useful && connection.state != .leaving) { backoff.failed(now: now, jitter: jitter) }
  }
}
