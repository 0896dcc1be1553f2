import Domain

extension Quota {
  mutating func read(_ section: Section) {
    var section = section
    perMinute = section.integer("per_minute", in: 0...Self.most) ?? perMinute
    rampUp = section.duration("ramp_up", in: 0...3_600_000) ?? rampUp
    if timesSubscribers > 0 {
      timesSubscribers = section.integer("times_subscribers", in: 0...1_000) ?? timesSubscribers
    }
    section.close()
  }
  private static let most = 100_000_000
}
