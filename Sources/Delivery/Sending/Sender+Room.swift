import Domain
import Loop
import Store

/// What a credential still takes.
extension Sender {
  /// Deliveries this credential still takes. Members that wait for the rest of their slice do not count, as they wait
  /// for what is still to be claimed.
  var room: (free: Int, whole: Int) {
    let whole = context.settings.claim.room
    guard !isRemoved, usage.barriers < context.settings.claim.barriers else { return (0, whole) }
    return (whole - (usage.inMemory - slices.reuniting - usage.paced), whole)
  }

  /// A retry that comes back now would find a closed door, or no room: it had better wait where it is.
  var takesRetries: Bool {
    !isRemoved && gate.mayPass(now: context.loop.now) && room.free > -context.settings.claim.retriesAtOnce
  }
}
