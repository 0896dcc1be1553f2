/// What a message would come to if it were sent now: who is found, who of them gets nothing and why, and who is sent to.
package struct Forecast: Hashable, Sendable {
  /// One reason to get nothing.
  package struct Exclusion: Hashable, Sendable {
    /// How the delivery ends; nil: it is no target of the message, and has no delivery.
    package var outcome: Outcome?
    package var reason: String
    /// The reason in plain words, where more is known than the word says.
    package var note: String?

    /// `reason`: a word of `SkipReason`, or of what else keeps a device from being a target.
    package init(_ outcome: Outcome?, _ reason: String, note: String? = nil) {
      self.outcome = outcome
      self.reason = reason
      self.note = note
    }
  }

  /// How many get nothing, by reason.
  package private(set) var excluded: [Exclusion: Int] = [:]
  /// How many would be sent to.
  package private(set) var byProvider: [ProviderName: Int] = [:]
  /// How many devices were looked at one by one, where others are like them; nil: all of them.
  package var sample: Int?
  /// Who is in the holdout depends on the message's id, which it gets when it is sent.
  package var holdoutIsDrawn = false
  /// … and so does who gets a variant whose texts some devices lack an attribute for.
  package var variantsAreDrawn = false
  /// Of those who are sent to: who waits for a time, by the reason.
  package private(set) var waiting: [String: Waiting] = [:]
  /// Of those who are sent to: whose clock has passed the message's local time.
  package private(set) var passed = 0

  /// Devices that wait, and the first and the last time at which one of them is sent to.
  package struct Waiting: Hashable, Sendable {
    package var count: Int
    package var first: WallTime
    package var last: WallTime
  }

  /// Nobody looked at yet: all figures are 0.
  package init() {}

  package var wouldBeSent: Int { byProvider.values.reduce(0, +) }
  /// Deliveries that the message would have.
  package var targets: Int { wouldBeSent + excluded.reduce(0) { $0 + ($1.key.outcome == nil ? 0 : $1.value) } }
  /// All that the recipients of the message lead to.
  package var devices: Int { wouldBeSent + excluded.values.reduce(0, +) }
  /// Not every figure was counted: some are taken from a sample, or depend on chance.
  package var isEstimated: Bool {
    sample != nil || variantsAreDrawn
      || (holdoutIsDrawn && excluded.keys.contains { $0.reason == SkipReason.holdout.rawValue })
  }

  /// A count of 0 or less changes nothing.
  package mutating func exclude(_ exclusion: Exclusion, _ count: Int = 1) {
    if count > 0 { excluded[exclusion, default: 0] += count }
  }
  /// A count of 0 or less changes nothing.
  package mutating func send(by provider: ProviderName, _ count: Int = 1) {
    if count > 0 { byProvider[provider, default: 0] += count }
  }

  /// Of those who are sent to. `reason`: `quiet_hours` or `local_time`.
  package mutating func wait(for reason: String, until first: WallTime, _ last: WallTime, _ count: Int = 1) {
    guard count > 0 else { return }
    let known = waiting[reason] ?? Waiting(count: 0, first: first, last: last)
    waiting[reason] = Waiting(count: known.count + count, first: min(known.first, first), last: max(known.last, last))
  }
  /// Of those who are sent to. A count of 0 or less changes nothing.
  package mutating func pass(_ count: Int = 1) { passed += max(0, count) }

  /// Adds `total` devices of one provider of which `some` are a sample; without a sample they count as sent.
  package mutating func add(_ some: Forecast, ofProvider provider: ProviderName, scaledTo total: Int) {
    let looked = some.devices
    guard looked > 0 else { return send(by: provider, total) }
    let parts = some.excluded.sorted {
      ($0.key.outcome?.rawValue ?? "", $0.key.reason) < ($1.key.outcome?.rawValue ?? "", $1.key.reason)
    }
    var (seen, given) = (0, 0)
    // Rounded as running sums, so that the parts add up to the total.
    for (exclusion, count) in parts {
      seen += count
      let upTo = Int((Double(seen) * Double(total) / Double(looked)).rounded())
      exclude(exclusion, upTo - given)
      given = upTo
    }
    send(by: provider, total - given)
    func scaled(_ count: Int) -> Int { Int((Double(count) * Double(total) / Double(looked)).rounded()) }
    for (reason, some) in some.waiting { wait(for: reason, until: some.first, some.last, scaled(some.count)) }
    pass(scaled(some.passed))
  }
}
