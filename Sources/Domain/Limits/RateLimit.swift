/// A token bucket as configured: it holds `quota` tokens at most, and as many come again, evenly, in each `window`.
package struct RateLimit: Hashable, Sendable {
  package static let quotas: ClosedRange<Int> = 1...1_000_000_000_000_000
  /// Milliseconds: one second to 90 days.
  package static let windows: ClosedRange<Int64> = 1_000...(90 * 86_400_000)

  package let quota: Int
  /// Milliseconds, whole seconds.
  package let window: Int64

  /// Traps outside of `quotas` and `windows`.
  package init(quota: Int, window: Int64) {
    precondition(Self.quotas.contains(quota) && Self.windows.contains(window) && window % 1_000 == 0)
    (self.quota, self.window) = (quota, window)
  }

  /// Milliseconds in which so many tokens come, rounded up; those of the whole window at most.
  package func time(for tokens: Int) -> Int64 {
    Int64((Double(window) * Double(min(max(0, tokens), quota)) / Double(quota)).rounded(.up))
  }
}

/// What tokens are spent on. The raw values stand in settings, headers, metrics and names of keys.
package enum LimitedUse: String, CaseIterable, Sendable {
  case requests
  /// Accepted ones: a token for each device.
  case deliveries
  /// A token for each device that is registered, anew or again.
  case registrations
  /// Of the bodies of requests.
  case bytes

  package var index: Int {
    switch self {
    case .requests: 0
    case .deliveries: 1
    case .registrations: 2
    case .bytes: 3
    }
  }
}

/// The buckets of one key or one app; nil: that is not limited.
package struct RateLimits: Hashable, Sendable {
  private var limits = [RateLimit?](repeating: nil, count: LimitedUse.allCases.count)

  package init() {}

  package subscript(use: LimitedUse) -> RateLimit? {
    get { limits[use.index] }
    set { limits[use.index] = newValue }
  }
}

/// What the keys of an app and the app as a whole may use. Rates are buckets that all processes share; stocks are counted
/// where they lie.
package struct TenantLimits: Hashable, Sendable {
  /// Of each key; keys whose only scope is `register` have limits of their own.
  package var keys = RateLimits()
  package var registerKeys = RateLimits()
  package var app = RateLimits()
  /// Counts and dry runs that are at work in a process at a time, of a key and of an app; nil: any number.
  package var countsOfKey: Int? = 10
  /// Of an app.
  package var countsOfApp: Int? = 20
  /// What an app may have stored; nil: any number. Devices count until nothing is left of them, a retention time after
  /// they were deleted.
  package var devices: Int?
  /// Different ones.
  package var tags: Int?
  package var scheduled: Int?

  /// Those of each key. Keys whose only scope is `register` have their own.
  package func limits(ofKeyThatOnlyRegisters isRegister: Bool) -> RateLimits { isRegister ? registerKeys : keys }

  /// The shipped defaults: only `register` keys, which stand in every copy of an app, are limited.
  package init() {
    registerKeys[.requests] = RateLimit(quota: 6_000, window: 60_000)
    registerKeys[.registrations] = RateLimit(quota: 3_000, window: 60_000)
  }
}
