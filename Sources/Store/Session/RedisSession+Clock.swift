package import Domain
import Loop
import RedisClient

extension RedisSession {
  /// Milliseconds by which this machine's clock is ahead of Redis' (negative: behind), exact to half a round trip.
  /// Rates go by Redis' clock; due times, expirations and signatures by this machine's; leases by neither, but by
  /// clocks that nobody sets.
  package func clockOffset() async throws(StoreError) -> Int64 {
    let asked = loop.wallNow
    let time = try await ask(RedisCommand("TIME"))
    return HealthProbe.offset(of: time, asked: asked, answered: loop.wallNow) ?? 0
  }

  /// As last measured with the probe; nil before the first.
  package var lastClockOffset: Int64? { probe.clockOffset }
  /// Nil: the clocks agree, as far as is known.
  package var clockSkew: ClockSkew? { probe.skew }

  /// Called on the loop when clocks begin to disagree, and with nil when they agree again; at once if they disagree
  /// now.
  package func onClockSkew(_ changed: @escaping (ClockSkew?) -> Void) {
    probe.onSkew = changed
    if let skew = probe.skew { changed(skew) }
  }
}
