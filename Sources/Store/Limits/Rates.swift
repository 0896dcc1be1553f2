package import Domain
import RedisClient

/// A rate that all loops and workers share.
package struct RateBucket: Hashable, Sendable {
  let key: String
  package var perSecond: Double
  /// At most so many in any ten seconds, however they were granted and spent; 0: that is not counted.
  package var mostInTenSeconds = 0
  /// Milliseconds' worth that it holds for those who come late.
  package var burst: Int64 = 250
  /// Milliseconds in which the rate grows to the whole; 0: it is whole at once.
  package var ramp: Int64 = 0

  /// What it gives in the long run. One that is counted goes a little slower than its rate, by what a permission may be late:
  /// so what was granted before ten seconds began finds room in them.
  package var fill: Double {
    mostInTenSeconds > 0
      ? Double(mostInTenSeconds) * 1000 / Double(Self.cells * Self.cell) : perSecond
  }
  /// Milliseconds whose grants are counted together, and how many of these: each grant is counted for ten seconds, what
  /// it may be late, and a little for the way to the provider.
  static let cell = 100
  static let cells = 103
  /// The share of the rate with which a ramp begins: with none it would never.
  static let rampFloor = 0.02
  /// A permission may be spent so many milliseconds after it was asked for; who is later takes another one for it.
  package static let lateness: Int64 = 150

  static func counted(_ key: String, _ perSecond: Int) -> Self {
    Self(key: key, perSecond: Double(perSecond), mostInTenSeconds: perSecond * 10, burst: 1_000)
  }
}

/// Rates that all workers share: buckets in Redis (decision 0022). Holds nothing but its session, on whose loop it is used.
/// A permission that was granted cannot be given back.
package struct Rates: StorePart {
  let session: RedisSession

  init(_ session: RedisSession) { self.session = session }

  /// Of one message, at its home.
  package func rate(of message: MessageID, perSecond: Int) -> RateBucket {
    .counted(keys.rate(keys.home(message), "m:\(message)"), perSecond)
  }

  /// Of all messages of an app.
  package func rate(of app: AppID, perSecond: Int) -> RateBucket {
    .counted(keys.rate(keys.partition((app.rawValue, "")), "a:\(app.rawValue)"), perSecond)
  }

  /// Of a vendor's account, for all that send with it; `name` tells its rates apart.
  package func rate(of group: String, _ name: String, perSecond: Double, ramp: Int64 = 0) -> RateBucket {
    RateBucket(key: keys.rate(keys.partition((group, "")), "v:\(group):\(name)"), perSecond: perSecond, ramp: ramp)
  }

  /// At most so many permissions, from buckets of one place that must all have some; and the milliseconds until there is
  /// one more. They are taken for good.
  package func grant(_ count: Int, from buckets: [RateBucket]) async throws(StoreError) -> (count: Int, wait: Int64) {
    var arguments: [RedisArgument] = [.number(Int64(count))]
    for bucket in buckets {
      arguments += [
        .text(String(bucket.fill)), .number(bucket.burst), .number(bucket.ramp),
        .number(Int64(bucket.mostInTenSeconds)),
      ]
    }
    let reply = try await ask(Scripts.grant, keys: buckets.map(\.key), arguments).array ?? []
    guard reply.count == 2, let granted = reply[0].integer, let wait = reply[1].integer else {
      throw .unavailable("a rate was answered in an unknown form", retryAfter: 1)
    }
    return (Int(granted), wait)
  }
}
