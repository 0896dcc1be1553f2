import Domain
import HTTP2
import Loop
import Store

/// Members of an audience that were claimed together and take the fast path: no object of their own, no lane unless their
/// token has something else at work, no record of the attempt. Whoever is not accepted at once becomes a `Delivery`
/// like any other.
final class DeliveryBatch {
  let members: ClaimedMembers
  let message: LoadedMessage
  let partition: Partition
  let job: JobAtWork
  /// Their quiet hours begin then: who has not been sent by then is looked at again. Nil: they have none.
  let until: WallTime?
  /// Of the app, for the hashes of its tokens.
  let owner: UInt64
  /// The next to be sent for the first time.
  private var next = 0
  /// Sent, and not looked at by the peer: they go once more.
  private var again: [Int] = []
  /// Who was in `again` once takes the slow path, which knows how often and when.
  private var returned: Set<Int> = []
  /// When the first of them was sent.
  var firstAttempt: WallTime?
  var prepared: Prepared?
  /// What those have in common that share a request.
  var like: Like?

  struct Like {
    /// As `Prepared.route`.
    var route: [UInt8]
    /// Of one of them.
    var address: Address
    let recipientClass: String
  }

  /// What all requests share, as long as the account is the same.
  struct Prepared {
    var push: PreparedPush
    var rendering: Rendering
    /// `ClaimedMembers.Member.route` for which it holds.
    var route: [UInt8]
    var header: String
    var generation: Int
  }

  init(
    _ members: ClaimedMembers, _ message: LoadedMessage, _ partition: Partition, _ job: JobAtWork,
    until: WallTime? = nil
  ) {
    self.members = members
    self.until = until
    self.message = message
    self.partition = partition
    self.job = job
    owner = LaneKey.owner(message.app)
  }

  var waiting: Int { members.count - next + again.count }

  /// The place of the next to be sent; some must be waiting.
  func takeNext() -> Int {
    if let place = again.popLast() { return place }
    next += 1
    return next - 1
  }
  func takeWaiting() -> [Int] {
    defer { (next, again) = (members.count, []) }
    return again + (next..<members.count)
  }
  /// One that was sent waits once more, if it has not before.
  func requeue(_ place: Int) -> Bool {
    guard returned.insert(place).inserted else { return false }
    again.append(place)
    return true
  }

  /// The member shares requests with the others that are in `like`.
  func isLike(_ member: ClaimedMembers.Member, token: String, _ account: any ProviderAccount) -> Bool {
    guard like != nil, member.isOn(like!.route) else { return false }
    like!.address.token = token
    return account.recipientClass(of: like!.address) == like!.recipientClass
  }
  /// Of all that were gathered, but for the token.
  var commonAddress: Address {
    guard let like else { preconditionFailure("a member was gathered that is like no other") }
    return like.address
  }
  /// Something speaks against sending its next member: `MemberSettler.stop` tells what.
  func mayStop(now: WallTime) -> Bool {
    message.isStopped || message.startBy < now || until.map { $0 <= now } ?? false
  }
}

/// Requests at work of members that take the fast path.
struct InFlightMembers {
  struct InFlightRequest {
    var batch: DeliveryBatch
    /// The member's place in it.
    var place: Int
    var hash: UInt64
    var began: Instant
    var at: WallTime
    var connectionSlot: Int
    var generation: Int
    /// A lane that was opened for its token meanwhile: this one counts as at work there.
    var lane: Int?
  }

  private var slots: [InFlightRequest?] = []
  private var vacant: [Int] = []
  private(set) var tokens = TokenTable()
  var count: Int { slots.count - vacant.count }

  /// Tags of transports with this bit name a request in flight here.
  static let mark = 1 << 40
  static func isOne(_ tag: Int) -> Bool { tag & mark != 0 }

  mutating func begin(_ inFlight: InFlightRequest) -> Int {
    let number: Int
    if let free = vacant.popLast() {
      number = free
      slots[free] = inFlight
    } else {
      number = slots.count
      slots.append(inFlight)
    }
    tokens.insert(inFlight.hash, inFlight: number)
    return number | Self.mark
  }

  func batch(of tag: Int) -> DeliveryBatch {
    guard let batch = slots[tag & ~Self.mark]?.batch else { preconditionFailure("a member that is not at work") }
    return batch
  }

  func place(of tag: Int) -> Int {
    guard let place = slots[tag & ~Self.mark]?.place else { preconditionFailure("a member that is not at work") }
    return place
  }
  func hasLane(_ tag: Int) -> Bool { slots[tag & ~Self.mark]?.lane != nil }

  mutating func end(_ tag: Int) -> InFlightRequest {
    let number = tag & ~Self.mark
    guard let inFlight = slots[number].take() else { preconditionFailure("an answer to no request") }
    vacant.append(number)
    tokens.remove(inFlight.hash)
    return inFlight
  }

  /// A lane is opened for a token that may be at work here; true: it is, and counts there from now on.
  mutating func join(_ lane: Int, _ key: LaneKey) -> Bool {
    guard tokens.count > 0, let number = tokens.inFlight(key.hash), slots[number]?.lane == nil else { return false }
    slots[number]?.lane = lane
    return true
  }
}
