package import Domain
import RedisClient

/// A rate that all loops and workers share.
package struct RateBucket: Hashable, Sendable {
  let key: String
  package var perSecond: Double
  /// Milliseconds' worth that it holds for those who come late.
  package var burst: Int64 = 250
  /// Milliseconds in which the rate grows to the whole; 0: it is whole at once.
  package var ramp: Int64 = 0
}

extension Store {
  /// Of one message, at its home.
  package func rate(of message: MessageID, perSecond: Int) -> RateBucket {
    RateBucket(key: keys.rate(keys.home(message), "m:\(message)"), perSecond: Double(perSecond))
  }

  /// Of all messages of an app.
  package func rate(of app: AppID, perSecond: Int) -> RateBucket {
    RateBucket(key: keys.rate(keys.partition((app.rawValue, "")), "a:\(app.rawValue)"), perSecond: Double(perSecond))
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
      arguments += [.text(String(bucket.perSecond)), .number(bucket.burst), .number(bucket.ramp)]
    }
    let reply = try await ask(Scripts.grant, keys: buckets.map(\.key), arguments).array ?? []
    guard reply.count == 2, let granted = reply[0].integer, let wait = reply[1].integer else {
      throw .unavailable("a rate was answered in an unknown form", retryAfter: 1)
    }
    return (Int(granted), wait)
  }
}
