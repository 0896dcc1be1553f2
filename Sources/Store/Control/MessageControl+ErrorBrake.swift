package import Domain
import Loop
import RedisClient

/// A message that was paused because too many of its deliveries failed.
package struct ErrorBraked: Hashable, Sendable {
  package var message: MessageID
  package var failed: Int
  package var decided: Int
}

/// The error brake: counted over all partitions by the owner of the message's home.
extension MessageControl {
  /// Why a message is paused that the brake paused.
  package static let brakeReason = "error_brake"
  /// One that is not stored by then never will be.
  private static let unknownAfter: Int64 = 60_000
  private static let watchedPerSweep = 200

  /// Before it is stored, so that none is missed; one that is not stored after all is forgotten.
  func watch(_ id: MessageID) async throws(StoreError) {
    var command = RedisCommand("ZADD", keys.watched(keys.home(id)), String(loop.wallNow.milliseconds))
    command.append(id.raw)
    _ = try await ask(command)
  }

  /// Pauses messages whose failures are too many: of those that are watched some with each call, all of them in turn. What had failed when one was resumed counts no more, so that the
  /// operator's word stands until so many have failed again.
  package func sweepBrakes(_ lease: Lease) async throws(StoreError) -> [ErrorBraked] {
    let watched = keys.watched(lease.partition)
    let first = session.owned.brakesLooked[lease.partition] ?? 0
    let all =
      try await ask(
        RedisCommand("ZRANGE", watched, String(first), String(first + Self.watchedPerSweep - 1), "WITHSCORES")
      ).array ?? []
    // The next ones come with the next sweep. Those that are forgotten meanwhile move some to the next round.
    session.owned.brakesLooked[lease.partition] =
      all.count < 2 * Self.watchedPerSweep ? nil : first + Self.watchedPerSweep
    var braked: [ErrorBraked] = []
    for place in stride(from: 0, to: all.count - 1, by: 2) {
      guard let id = all[place].bytes.flatMap({ MessageID(raw: $0) }) else { continue }
      let fields = try await ask(RedisCommand("HMGET", keys.message(id), "app", "eb", "ctl", "ebs")).array ?? []
      guard fields.count == 4, let app = fields[0].text, let brake = fields[1].text.flatMap({ ErrorBrake(packed: $0) })
      else {
        let since = all[place + 1].text.flatMap { Double($0) } ?? 0
        if Double(loop.wallNow.milliseconds) - since > Double(Self.unknownAfter) { try await forget(id, watched) }
        continue
      }
      let control = fields[2].text.flatMap { Control(packed: $0) } ?? Control(.running, version: 0)
      guard control.word != .cancelled else {
        try await forget(id, watched)
        continue
      }
      guard control.word == .running,
        let report = try await MessageReports(session).report(id, app: AppID(rawValue: app))
      else { continue }
      let (failed, decided) = report.decided
      let since = (fields[3].text ?? "0,0").split(separator: ",").map { StoredNumber.read(Array($0.utf8)) ?? 0 }
      guard since.count == 2, brake.trips(failed: failed - since[0], decided: decided - since[1]) else { continue }
      let answer = try await self.change(id, .paused, reason: Self.brakeReason, answering: control.version)
      if answer == .changed {
        braked.append(ErrorBraked(message: id, failed: failed - since[0], decided: decided - since[1]))
      }
    }
    return braked
  }

  /// Before a paused message is resumed: what has failed by then, what was at work as it was paused too, counts no more.
  func forgiveFailures(_ id: MessageID, app: AppID) async throws(StoreError) {
    guard try await ask(RedisCommand("HEXISTS", keys.message(id), "eb")).integer == 1,
      let (failed, decided) = try await MessageReports(session).report(id, app: app)?.decided
    else { return }
    _ = try await ask(RedisCommand("HSET", keys.message(id), "ebs", "\(failed),\(decided)"))
  }

  private func forget(_ id: MessageID, _ watched: String) async throws(StoreError) {
    var command = RedisCommand("ZREM", watched)
    command.append(id.raw)
    _ = try await ask(command)
  }
}

extension MessageReport {
  /// What a provider, or the lack of its answer, has decided; skipped, superseded and expired deliveries say nothing.
  var decided: (failed: Int, all: Int) {
    var sums: [Outcome: Int] = [:]
    for (key, count) in counts { sums[key.outcome, default: 0] += count }
    let failed = sums[.failed, default: 0]
    return (failed, failed + sums[.accepted, default: 0] + sums[.dead, default: 0])
  }
}

extension ErrorBrake {
  /// As it is stored: share and minimum.
  fileprivate init?(packed: String) {
    let parts = packed.split(separator: ",")
    guard parts.count == 2, let share = Double(parts[0]), let minimum = Int(parts[1]) else { return nil }
    self.init(share: share, minimum: minimum)
  }
}
