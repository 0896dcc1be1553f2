import Domain

/// Whether the peer of a connection is still there. A PING asks when nothing has come for a while: soon where a request waits that went
/// after the last sign of life, as then the peer had reason to speak; and rarely otherwise. Whatever comes is a sign of life.
struct ConnectionHealth {
  enum Action: Hashable {
    case look(at: Instant)
    case ping
    /// No PING's answer in time for more streams. It may still come: nothing at work is lost yet.
    case fellSilent
    case dead
  }

  private(set) var lastHeard = Instant(nanoseconds: 0)
  /// The same without what came after a PING, which shows that the peer lives and not that it answers.
  private(set) var lastSpoken = Instant(nanoseconds: 0)
  /// When the first request went since then.
  private var began: Instant?
  private(set) var pingSent: Instant?
  private(set) var isSilent = false
  /// Who looks so much later than was asked for stood still: what the peer has said meanwhile is not read yet.
  private static let late: Int64 = 500

  mutating func began(at time: Instant) { if began == nil { began = time } }

  /// Something came; true: it was silent before.
  @discardableResult mutating func heard(now: Instant) -> Bool {
    lastHeard = now
    if pingSent == nil { lastSpoken = now }
    began = nil
    pingSent = nil
    defer { isSilent = false }
    return isSilent
  }

  mutating func pinged(now: Instant) { pingSent = now }

  /// It is time, `due`, to look: what is to be done.
  mutating func look(due: Instant, now: Instant, _ settings: HTTP2Settings) -> Action {
    guard let sent = pingSent else {
      let ask = min(
        lastHeard + settings.pingAfter, began.map { $0 + settings.pingAtWork } ?? lastHeard + settings.pingAfter)
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
