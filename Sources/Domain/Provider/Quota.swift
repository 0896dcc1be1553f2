/// What a vendor lets one account send, shared by all workers.
package struct Quota: Hashable, Sendable {
  /// Requests; 0: no quota, and no ramp.
  package var perMinute: Int
  /// Milliseconds in which bulk grows to the whole quota; 0: it begins with that.
  package var rampUp: Int64
  /// Recipients in a quarter of an hour for each subscriber that is registered here; 0: any.
  package var timesSubscribers: Int

  /// Without arguments: no quota.
  package init(perMinute: Int = 0, rampUp: Int64 = 0, timesSubscribers: Int = 0) {
    self.perMinute = perMinute
    self.rampUp = rampUp
    self.timesSubscribers = timesSubscribers
  }
}
