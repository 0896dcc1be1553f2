import Domain

extension TenantLimits {
  /// `limits.keys`, `limits.register_keys` and `limits.apps`.
  mutating func read(in limits: inout Section) {
    var section = limits.section("keys")
    keys.read(&section)
    section.readCount("counts", into: &countsOfKey, 1_000)
    section.close()
    section = limits.section("register_keys")
    registerKeys.read(&section, [.requests, .registrations])
    section.close()
    readApp(limits.section("apps"))
  }

  /// Of all apps, or of one; what is left out stays as it was.
  mutating func readApp(_ section: Section) {
    var section = section
    app.read(&section)
    section.readCount("counts", into: &countsOfApp, 1_000)
    section.readCount("devices", into: &devices, 1_000_000_000)
    section.readCount("tags", into: &tags, 10_000)
    section.readCount("scheduled", into: &scheduled, 10_000_000)
    section.close()
  }
}

extension RateLimits {
  /// `requests: "600/60s", bytes: "1GiB/1d"`; what is left out stays as it was, and "off" ends it.
  fileprivate mutating func read(_ section: inout Section, _ uses: [LimitedUse] = LimitedUse.allCases) {
    for use in uses {
      if let setting = section.rateLimit(use.rawValue, inBytes: use == .bytes) { self[use] = setting.limit }
    }
  }
}

/// A token bucket as a setting says it.
struct RateLimitSetting {
  /// Nil: none.
  var limit: RateLimit?

  static let off = "off"

  /// `600/60s`, or `1GiB/1d`, or `off`. Nil: it says something else.
  init?(_ text: String, inBytes: Bool) {
    guard text != Self.off else { return }
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let window = Units.duration(String(parts[1])), RateLimit.windows.contains(window),
      window.isMultiple(of: 1_000),
      let quota = inBytes
        ? Units.size(String(parts[0])).map({ Int($0) }) : Whole.read(parts[0], in: RateLimit.quotas),
      RateLimit.quotas.contains(quota)
    else { return nil }
    limit = RateLimit(quota: quota, window: window)
  }
}

extension Section {
  /// 0: any number.
  fileprivate mutating func readCount(_ key: String, into count: inout Int?, _ most: Int) {
    if let number = integer(key, in: 0...most) { count = number == 0 ? nil : number }
  }

  /// Nil: it is not there, or is wrong.
  mutating func rateLimit(_ key: String, inBytes: Bool) -> RateLimitSetting? {
    guard let text = text(key) else { return nil }
    if let setting = RateLimitSetting(text, inBytes: inBytes) { return setting }
    faults.add(
      place(key), "\"\(text)\" is not a limit",
      fix: "Write how many in how long, such as \"\(inBytes ? "1GiB/1d" : "600/60s")\" (1s … 90d), or \"off\"")
    return nil
  }
}
