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

  /// Called on the loop with what belongs in the log when Redis' condition changes, or clocks begin or cease to
  /// disagree. Takes the place of `onCondition` and `onClockSkew`.
  package func onNews(
    _ tell: @escaping (_ isFault: Bool, _ word: String, _ fields: KeyValuePairs<String, String>) -> Void
  ) {
    onCondition { tell($0 != .ready, $0.word, ["detail": $0.detail]) }
    onClockSkew { skew in
      if let skew { tell(true, "clock_skew", ["detail": skew.text]) } else { tell(false, "clock_agrees", [:]) }
    }
  }

  /// Called on the loop when clocks begin to disagree, and with nil when they agree again; at once if they disagree
  /// now.
  package func onClockSkew(_ changed: @escaping (ClockSkew?) -> Void) {
    probe.onSkew = changed
    if let skew = probe.skew { changed(skew) }
  }
}
