import Domain
import RedisClient

/// Ties a lease to the history of Redis that granted it. A Redis that comes back without its last writes (a failover, an older
/// file) may still hold the same lease: what tells the two apart is a number that each script of the owner leaves in it. The
/// owner shows the highest one that was confirmed to it, and a lease that knows less is void.
final class LeaseFence {
  let lease: Lease
  private let owner: String
  private var last: UInt64 = 0
  private(set) var confirmed: UInt64 = 0

  init(_ lease: Lease) {
    self.lease = lease
    owner = lease.owner
  }

  /// Renewed or not, it is the same lease.
  func isOf(_ other: Lease) -> Bool { lease.epoch == other.epoch && lease.nonce == other.nonce }

  /// The word of Redis' refusal when it has lost writes.
  static let historyWord = "HISTORY"

  /// For the next script: what `fence` takes (`Lua/Parts`), and its number.
  func next() -> (text: String, number: UInt64) {
    last += 1
    return ("\(owner) \(confirmed) \(last)", last)
  }
  /// The script of this number has been done.
  func confirm(_ number: UInt64) { confirmed = max(confirmed, number) }
}

extension StorePart {
  /// A script of the owner: what it is fenced with comes before `arguments`.
  func ask(
    _ script: RedisScript, keys: [String], _ arguments: [RedisArgument], under lease: Lease
  ) async throws(StoreError) -> RedisReply {
    let fence = fence(lease)
    let (text, number) = fence.next()
    do throws(RedisFault) {
      let reply = try await redis.call(script, keys: keys, [.text(text)] + arguments)
      fence.confirm(number)
      return reply
    } catch {
      throw refused(error, lease)
    }
  }

  /// The same, several times.
  func ask(_ script: RedisScript, _ runs: [ScriptRun], under lease: Lease) async throws(StoreError) -> [RedisReply] {
    let fence = fence(lease)
    var rest = runs[...]
    var last: UInt64 = 0
    let pipeline = redis.begin(script) {
      guard let run = rest.popFirst() else { return nil }
      let (fenced, number) = fence.fenced(run)
      last = number
      return fenced
    }
    do throws(RedisFault) {
      let replies = try await pipeline.replies()
      fence.confirm(last)
      return replies
    } catch {
      throw refused(error, lease)
    }
  }

  func fence(_ lease: Lease) -> LeaseFence {
    if let known = session.fences[lease.partition], known.isOf(lease) { return known }
    return LeaseFence(lease)
  }

  /// A script of an owner failed. What was claimed under its lease is void, if that is what it failed for.
  func refused(_ fault: RedisFault, _ lease: Lease) -> StoreError {
    let error = StoreError(fault, lease.partition)
    if case .leaseLost = error { session.forget(lease.partition) }
    if case .refused(let refusal) = fault, refusal.word == LeaseFence.historyWord { session.onHistoryEnd(refusal.text) }
    return error
  }
}

extension LeaseFence {
  func fenced(_ run: ScriptRun) -> (run: ScriptRun, number: UInt64) {
    let (text, number) = next()
    var fenced = ScriptRun()
    fenced.keys = run.keys
    fenced.arguments.reserve(bytes: run.arguments.size + text.utf8.count + 16)
    fenced.arguments.append(text)
    fenced.arguments.append(run.arguments)
    return (fenced, number)
  }
}

extension JobID {
  /// Its entry in the stream: its place, and a mark of the message that stands there.
  func entry(of message: MessageID) -> String { Self.entry(sequence, message) }
  static func entry(_ sequence: UInt64, _ message: MessageID) -> String {
    "\(sequence)-\(UInt32(truncatingIfNeeded: message.low))"
  }
}
