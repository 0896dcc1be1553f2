package import Domain
import RedisClient

/// Pauses, resumes and cancels messages, by an operator's order or by the error brake (decision 0023). How far the brake has
/// looked stands in the session; used on its loop. It stops no request in flight, and other partitions learn of a change
/// later than the home partition.
package struct MessageControl: StorePart {
  let session: RedisSession

  init(_ session: RedisSession) { self.session = session }

  /// For ever: a cancelled message never goes on. Requests in flight are not stopped.
  package func cancel(_ id: MessageID, app: AppID) async throws(StoreError) -> Controlled {
    try await change(id, app: app, .cancelled)
  }

  /// Sets what is to become of a message; all workers learn of it within a second, most of them at once. Two operators
  /// at the same time: one comes first, and the later one's word holds everywhere. `reason`: of a pause.
  package func change(_ id: MessageID, app: AppID, _ word: Control.Word, reason: String = operatorsReason)
    async throws(StoreError) -> Controlled
  {
    guard let parts = try await MessageArchive(session).find([id])[0], parts.text("app") == app.rawValue else {
      return .unknown
    }
    let isCancelled = parts.text("can") != nil
    if parts.text("don") != nil { return isCancelled ? (word == .cancelled ? .unchanged : .cancelled) : .completed }
    if word == .running, parts.text("ctl")?.hasPrefix(Control.Word.paused.rawValue) == true {
      try await forgiveFailures(id, app: app)
    }
    return try await change(id, word, reason: reason, answering: nil)
  }

  /// `answering`: the version that is known; if there is a later one, nothing is done, and the answer is `unchanged`.
  func change(_ id: MessageID, _ word: Control.Word, reason: String, answering: Int64?) async throws(StoreError)
    -> Controlled
  {
    try await InlineMessages(session).unfold([id])
    let reply = try await ask(
      Scripts.control, keys: [keys.message(id), keys.controlled(keys.home(id))],
      [.text(word.rawValue), .bytes(id.raw), .text(reason), answering.map { .number($0) } ?? ""])
    switch reply.array?.first?.integer {
    case 1:
      try await spreadControl(id)
      return .changed
    case 2:
      // Whoever set it may not have come this far.
      try await spreadControl(id)
      return .unchanged
    case 3: return .cancelled
    case 4: return .unchanged
    default: return .completed
    }
  }

  /// Why a message is paused that an operator paused.
  package static let operatorsReason = "operator"

  /// Tells a message's partitions what holds at home. Repeatable, beside others too.
  func spreadControl(_ id: MessageID) async throws(StoreError) {
    let home = keys.home(id)
    let held = try await ask(RedisCommand("HMGET", keys.message(id), "ctl", "parts", "st", "told")).array ?? []
    let told = Set((held.last?.text ?? "").split(separator: ",").compactMap { StoredNumber.partition($0) })
    let control = held.first?.text.flatMap { Control(packed: $0) }
    if let control, control.word != .paused, held[2].text == MessageSchedule.waitingState {
      // It may not need to wait for its time any more.
      _ = try await ask(
        Scripts.hurry, keys: [keys.message(id), keys.scheduled(home)],
        [.bytes(id.raw), .text(keys.wakeup), .number(Int64(home))])
    }
    if let control {
      let partitions = (held[1].text ?? "").split(separator: ",").compactMap { StoredNumber.partition($0) }
      _ = try await ask(
        Scripts.controlShard,
        partitions.filter { !told.contains($0) && (0..<settings.partitions).contains($0) }
          .map { controlRun(id, control, $0) })
    }
    _ = try await ask(
      Scripts.controlKnown, keys: [keys.message(id), keys.controlled(home)],
      [.text(control?.packed ?? ""), .bytes(id.raw)])
  }

  private func controlRun(_ id: MessageID, _ control: Control, _ partition: Int) -> ([String], [RedisArgument]) {
    (
      [keys.work(partition, id), keys.starts(partition), keys.ends(partition)],
      [
        .text(keys.wakeup), .text(id.description), .bytes(id.raw), .number(Int64(partition)), .text(control.packed),
      ]
    )
  }

  /// One partition learns what its owner knows from elsewhere.
  package func apply(_ control: Control, to id: MessageID, _ lease: Lease) async throws(StoreError) {
    _ = try await ask(Scripts.controlShard, [controlRun(id, control, lease.partition)])
  }

  /// What holds in a partition, by message; nil for a message of which nothing is left to do there.
  package func controls(_ lease: Lease, of ids: [MessageID]) async throws(StoreError) -> [MessageID: Control?] {
    let replies = try await ask(ids.map { RedisCommand("HMGET", keys.work(lease.partition, $0), "c", "x", "l") })
    var found: [MessageID: Control?] = [:]
    for (id, reply) in zip(ids, replies) {
      let fields = reply.array ?? []
      guard fields.count == 3, !fields[2].isNull, fields[1].text != "0" else {
        found[id] = .some(nil)
        continue
      }
      found[id] = fields[0].text.flatMap { Control(packed: $0) } ?? Control(.running, version: 0)
    }
    return found
  }

  /// Messages whose control some partition may have missed.
  func sweepControls(_ lease: Lease) async throws(StoreError) {
    let command = RedisCommand("SRANDMEMBER", keys.controlled(lease.partition), String(Self.controlsPerSweep))
    for id in (try await ask(command).array ?? []).compactMap({ $0.bytes.flatMap { MessageID(raw: $0) } }) {
      try await spreadControl(id)
    }
  }
  private static let controlsPerSweep = 100
}
