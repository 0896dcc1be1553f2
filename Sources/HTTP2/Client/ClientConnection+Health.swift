import CNGHTTP2
import Domain
import Loop

/// Carries out what `ConnectionHealth` decides.
extension HTTP2ClientConnection {
  /// Looks at that time, if not before.
  func lookAtHealth(by due: Instant) {
    if let healthTimer {
      guard due < healthTimer.due else { return }
      loop.cancel(healthTimer.timer)
    }
    let timer = loop.after(milliseconds: max(0, due - loop.now)) { [unowned self] in checkHealth(due: due) }
    healthTimer = (timer, due)
  }

  private func checkHealth(due: Instant) {
    healthTimer = nil
    let now = loop.now
    let newest = table.last.map { table[$0].deadline + -settings.answerTimeout }
    switch health.look(due: due, now: now, newest: newest, settings) {
    case .look(let time): lookAtHealth(by: time)
    case .ping: ping(now)
    case .fellSilent:
      events.append(.silence(true))
      scheduleFlush()
      checkHealth(due: now)
    case .dead: end(.lost("no answer to a PING in \(settings.pingTimeout) ms"))
    }
  }

  func ping(_ now: Instant) {
    health.pinged(now: now)
    nghttp2_submit_ping(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil)
    lookAtHealth(by: now + settings.pingTimeout / 3)
    scheduleFlush()
  }
}
