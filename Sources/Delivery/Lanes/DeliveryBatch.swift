import Domain
import HTTP2
import Loop
import Store

/// Deliveries of one message at one credential that were claimed together. A row of it goes to its provider without an
/// object of its own, and without a lane unless another delivery meets it at its token. Whoever is not accepted at once
/// becomes a `Delivery`.
///
/// The rows are members of an audience (`MemberBatch`) or targets of a direct send (`DirectBatch`), known by their place.
class DeliveryBatch {
  let message: LoadedMessage
  let partition: Partition
  let job: JobAtWork
  let urgency: Urgency
  unowned let sender: Sender
  /// As `LaneKey.owner`, of its tokens.
  let owner: UInt64
  /// Its rows are those of a `DirectBatch`.
  let isDirect: Bool
  let count: Int
  /// Their quiet hours begin then: who has not been sent by then is looked at again. Nil: they have none.
  let until: WallTime?
  /// Rows that have not been sent, or wait once more.
  private(set) final var waiting: Int
  /// It stands among the batches of its sender, or is parked.
  final var isQueued = false
  /// When the first of them was sent.
  final var firstAttempt: WallTime?
  final var prepared: RequestFrames.Prepared?
  /// Those from `next` to `end` are to be sent for the first time.
  private final var next = 0
  private final var end: Int
  /// Sent, and not looked at by the peer: they go once more.
  private final var again: [Int] = []
  /// Who was in `again` once takes the slow path, which knows how often and when.
  private final var returned: Set<Int> = []

  fileprivate init(
    _ count: Int, waiting: Int, isDirect: Bool, _ message: LoadedMessage, _ partition: Partition, _ job: JobAtWork,
    urgency: Urgency,
    _ sender: Sender, until: WallTime? = nil
  ) {
    self.count = count
    self.isDirect = isDirect
    self.message = message
    self.partition = partition
    self.job = job
    self.urgency = urgency
    self.sender = sender
    self.until = until
    owner = LaneKey.owner(message.app, sender.provider)
    end = count
    self.waiting = waiting
  }

  // MARK: Rows, by their place

  /// The batch as what it is.
  var asMembers: MemberBatch? { nil }
  var asDirect: DirectBatch? { nil }
  /// The delivery's name.
  func id(at place: Int) -> DeliveryID { preconditionFailure("a batch without rows") }
  /// Replaces `bytes` by the token's; false: it cannot be read.
  func token(at place: Int, into bytes: inout [UInt8]) -> Bool { preconditionFailure("a batch without rows") }
  /// It shares the frame of `prepared` with the others.
  func isAlike(_ place: Int, _ prepared: RequestFrames.Prepared) -> Bool { preconditionFailure("a batch without rows") }
  /// As `RequestFrames.Prepared.route`.
  func route(at place: Int) -> [UInt8] { [] }
  func address(at place: Int) -> Address? { preconditionFailure("a batch without rows") }
  /// What it gets; nil: its facts cannot be read.
  func rendering(at place: Int, _ account: any ProviderAccount) -> Result<Rendering, Unrenderable>? {
    preconditionFailure("a batch without rows")
  }
  /// What the slow path needs. Nil: it has to be read anew. `wholly`: not without the facts.
  func target(at place: Int, wholly: Bool = true) -> ClaimedTarget? { preconditionFailure("a batch without rows") }
  /// Enough to say how it ended without a request.
  func bare(at place: Int) -> ClaimedTarget { preconditionFailure("a batch without rows") }
  /// The row leaves the batch by another way than its turn.
  fileprivate func isGone(_ place: Int) -> Bool { false }

  // MARK: Turns

  /// The place of the next to be sent; some must be waiting.
  final func takeNext() -> Int {
    waiting -= 1
    if let place = again.popLast() { return place }
    while isGone(next) { next += 1 }
    next += 1
    return next - 1
  }

  /// The place of the one that came last.
  final func takeLast() -> Int {
    guard waiting > again.count else { return takeNext() }
    waiting -= 1
    while isGone(end - 1) { end -= 1 }
    end -= 1
    return end
  }

  final func takeWaiting() -> [Int] {
    let places = again + (next..<end).filter { !isGone($0) }
    (next, again, waiting) = (end, [], 0)
    return places
  }

  /// One that was sent waits once more, if it has not before.
  final func requeue(_ place: Int) -> Bool {
    guard returned.insert(place).inserted else { return false }
    again.append(place)
    waiting += 1
    return true
  }

  fileprivate final func came() { waiting += 1 }
  fileprivate final func left() { waiting -= 1 }

  /// Something speaks against sending its next row: `BatchSettler.stop` tells what.
  final func mayStop(now: WallTime) -> Bool {
    message.isStopped || message.startBy < now || until.map { $0 <= now } ?? false
  }
}

/// Members of an audience, as their records stand in the store. They have no order to keep.
final class MemberBatch: DeliveryBatch {
  let members: ClaimedMembers
  /// What those have in common that share a request of many recipients.
  var like: Like?

  struct Like {
    /// As `RequestFrames.Prepared.route`.
    var route: [UInt8]
    /// Of one of them.
    var address: Address
    let recipientClass: String
  }

  init(
    _ members: ClaimedMembers, _ message: LoadedMessage, _ partition: Partition, _ job: JobAtWork, _ sender: Sender,
    until: WallTime? = nil
  ) {
    self.members = members
    super.init(
      members.count, waiting: members.count, isDirect: false, message, partition, job, urgency: .bulk, sender,
      until: until)
  }

  override var asMembers: MemberBatch? { self }
  override func id(at place: Int) -> DeliveryID { members.id(at: place) }
  override func token(at place: Int, into bytes: inout [UInt8]) -> Bool {
    members.member(at: place).token(into: &bytes)
  }
  override func isAlike(_ place: Int, _ prepared: RequestFrames.Prepared) -> Bool {
    members.member(at: place).isOn(prepared.route)
  }
  override func route(at place: Int) -> [UInt8] { members.member(at: place).route }
  override func address(at place: Int) -> Address? { members.member(at: place).address }
  override func rendering(at place: Int, _ account: any ProviderAccount) -> Result<Rendering, Unrenderable>? {
    members.member(at: place).facts.map { message.rendering(account, 0, for: $0) }
  }
  override func target(at place: Int, wholly: Bool) -> ClaimedTarget? { members.target(at: place, wholly: wholly) }
  override func bare(at place: Int) -> ClaimedTarget { members.bare(at: place) }

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
}

/// Targets of a direct send. Each that waits here stands in the `LaneIndex`, where another delivery to its token finds
/// it: the two keep their order in a lane.
final class DirectBatch: DeliveryBatch {
  let targets: [ClaimedTarget]
  /// Their numbers in the `LaneIndex`. `gone`: it takes the slow path, or has ended.
  private var numbers: [Int32]
  private static let gone: Int32 = -1

  /// Without a row at first: `wait` lets them in.
  init(
    _ targets: [ClaimedTarget], _ message: LoadedMessage, _ partition: Partition, _ job: JobAtWork, urgency: Urgency,
    _ sender: Sender
  ) {
    self.targets = targets
    numbers = Array(repeating: Self.gone, count: targets.count)
    super.init(targets.count, waiting: 0, isDirect: true, message, partition, job, urgency: urgency, sender)
  }

  /// A target waits for its turn under this number.
  func wait(_ place: Int, _ number: Int) {
    numbers[place] = Int32(number)
    came()
  }
  /// A target that waits leaves the batch.
  func leave(_ place: Int) {
    numbers[place] = Self.gone
    left()
  }
  /// Of one that waits, or was taken just now.
  func number(at place: Int) -> Int { Int(numbers[place]) }
  override fileprivate func isGone(_ place: Int) -> Bool { numbers[place] == Self.gone }

  override var asDirect: DirectBatch? { self }
  override func id(at place: Int) -> DeliveryID { targets[place].delivery }
  override func token(at place: Int, into bytes: inout [UInt8]) -> Bool {
    guard targets[place].address != nil else { return false }
    bytes.removeAll(keepingCapacity: true)
    bytes.append(contentsOf: targets[place].address!.token.utf8)
    return true
  }
  override func isAlike(_ place: Int, _ prepared: RequestFrames.Prepared) -> Bool {
    targets[place].address.map(prepared.serves) ?? false
  }
  override func address(at place: Int) -> Address? { targets[place].address }
  override func rendering(at place: Int, _ account: any ProviderAccount) -> Result<Rendering, Unrenderable>? {
    message.rendering(account, 0, for: targets[place].facts)
  }
  override func target(at place: Int, wholly: Bool) -> ClaimedTarget? { targets[place] }
  override func bare(at place: Int) -> ClaimedTarget { targets[place] }
}
