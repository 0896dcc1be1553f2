import Domain

/// Whether the peer of a connection is still there. A PING asks when nothing has come for a while: soon where a request waits that no
/// PING has asked about, and rarely otherwise. Whatever comes is a sign of life.
struct ConnectionHealth {
  enum Action: Hashable {
    case look(at: Instant)
    case ping
    /// A PING was not answered in time: no more streams are opened. What is at work is not lost yet, as the answer may
    /// still come.
    case fellSilent
    case dead
  }

  private(set) var lastHeard = Instant(nanoseconds: 0)
  /// The same without what came after a PING, which shows that the peer lives and not that it answers.
  private(set) var lastSpoken = Instant(nanoseconds: 0)
  /// When the first request went since the last PING; nil: none did, or none of them waits any more.
  private var began: Instant?
  private var lastPing = Instant(nanoseconds: 0)
  /// When the last PING went; nil: something has come since.
  private(set) var pingSent: Instant?
  private(set) var isSilent = false
  /// Milliseconds. Who looks so much later than was asked for has stood still, and has not read yet what the peer said
  /// meanwhile.
  private static let late: Int64 = 500

  mutating func began(at time: Instant) { if began == nil { began = time } }

  /// Something came; true: it was silent before.
  @discardableResult mutating func heard(now: Instant) -> Bool {
    lastHeard = now
    if pingSent == nil { lastSpoken = now }
    pingSent = nil
    defer { isSilent = false }
    return isSilent
  }

  mutating func pinged(now: Instant) {
    (pingSent, lastPing) = (now, now)
    began = nil
  }

  /// It is time, `due`, to look: what is to be done. `newest`: when the newest request went that still waits.
  mutating func look(due: Instant, now: Instant, newest: Instant?, _ settings: HTTP2Settings) -> Action {
    guard let sent = pingSent else {
      // One PING for each request: what waits for long, from a peer that lives, is not asked about again.
      if newest.map({ $0 <= lastPing }) ?? true { began = nil }
      let rarely = lastHeard + settings.pingAfter
      let ask = began.map { min(rarely, max($0, lastHeard) + settings.pingAtWork) } ?? rarely
      return ask <= now ? .ping : .look(at: ask)
    }
    if now - due > Self.late { pingSent = now }
    let doubt = (pingSent ?? sent) + settings.pingTimeout / 3
    let end = (pingSent ?? sent) + settings.pingTimeout
    if end <= now { return .dead }
    if isSilent || doubt > now { return .look(at: isSilent ? end : doubt) }
    isSilent = true
    return .fellSilent
  }
}
