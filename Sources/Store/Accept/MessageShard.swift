import Domain
import RedisClient

/// What one partition gets of a message, or one step of it: the arguments of the `addShard` fragment, and the streams
/// they name.
struct MessageShard {
  let partition: Int
  /// Index of its first delivery among those of the partition.
  private(set) var first = 0
  /// What the fragment takes from the count on; whoever calls it puts id, channel and partition before.
  private(set) var arguments: [[UInt8]]
  private(set) var streams: [String]
  /// Deliveries.
  private(set) var count: Int

  init(
    partition: Int, targets: some Collection<SubmissionTarget>, from first: Int = 0, urgency: Urgency,
    targetsPerJob: Int
  ) {
    self.partition = partition
    self.first = first
    count = targets.count
    var list: [TargetList.Entry] = []
    var ended: [[UInt8]] = []
    var jobs: [[UInt8]] = []
    var streams: [String] = []
    // A message goes through few credentials: looking through them costs less than hashing their names.
    var open: [OpenJob] = []

    func close(_ place: Int) {
      let job = open[place]
      guard !job.indexes.isEmpty else { return }
      let name = StreamID(partition: partition, credential: job.credential, urgency: urgency).name
      let stream = streams.firstIndex(of: name) ?? streams.count
      if stream == streams.count { streams.append(name) }
      jobs.append(Self.digits(stream))
      jobs.append(Array(name.utf8))
      jobs.append(Self.digits(job.first))
      jobs.append(job.indexes)
      jobs.append(job.targets.bytes)
      open[place] = OpenJob(credential: job.credential)
    }

    for (offset, target) in targets.enumerated() {
      let index = first + offset
      let provider = target.address?.provider
      switch target.route {
      case .ended(let outcome, let reason):
        list.append(.init(device: target.device, credential: nil, provider: provider, platform: target.platform))
        let record = DeliveryRecord(state: .final(outcome, reason: reason, providerID: nil), provider: provider)
        ended.append(Self.digits(index))
        ended.append(record.head)
        ended.append(
          CounterName(
            provider: provider, outcome: outcome, reason: reason, platform: target.platform
          ).field)
      case .queue(let credential):
        list.append(.init(device: target.device, credential: credential, provider: provider, platform: target.platform))
        let place = open.firstIndex { $0.credential == credential } ?? open.count
        if place == open.count { open.append(OpenJob(credential: credential)) }
        open[place].add(
          PackedTarget(index: index, device: target.device, address: target.registered ? nil : target.address))
        if open[place].indexes.count >= 2 * targetsPerJob { close(place) }
      }
    }
    for place in open.indices { close(place) }
    arguments = [Self.digits(targets.count), TargetList(list).packed, Self.digits(ended.count / 3)]
    arguments += ended
    arguments.append(Self.digits(jobs.count / 5))
    arguments += jobs
    self.streams = streams
  }

  /// A job that takes more targets.
  private struct OpenJob {
    let credential: CredentialID
    /// Two bytes each, as scripts read them.
    private(set) var indexes: [UInt8] = []
    private(set) var first = 0
    private(set) var targets = Packer()
    init(credential: CredentialID) { self.credential = credential }

    mutating func add(_ target: PackedTarget) {
      if indexes.isEmpty {
        first = target.index
        targets.reserve(160)
      }
      indexes.append(UInt8(target.index >> 8))
      indexes.append(UInt8(target.index & 255))
      target.write(to: &targets)
    }
  }

  private static func digits(_ number: Int) -> [UInt8] { Array(String(number).utf8) }

  /// What one script takes, so that it stays well below a millisecond or two.
  static let targetsPerStep = 1_000
  static let bytesPerStep = 256 << 10

  /// All that a partition gets, in steps that one script each can take.
  static func steps(partition: Int, targets: [SubmissionTarget], urgency: Urgency, targetsPerJob: Int) -> [MessageShard]
  {
    var steps: [MessageShard] = []
    var rest = targets[...]
    repeat {
      var bytes = 0
      let some = rest.prefix(targetsPerStep).prefix { target in
        // In the list and in its job.
        let size = 2 * target.device.rawValue.utf8.count + (target.registered ? 0 : target.address?.size ?? 0) + 48
        defer { bytes += size }
        return bytes == 0 || bytes + size <= bytesPerStep
      }
      steps.append(
        MessageShard(
          partition: partition, targets: some, from: targets.count - rest.count, urgency: urgency,
          targetsPerJob: targetsPerJob))
      rest = rest.dropFirst(some.count)
    } while !rest.isEmpty
    return steps
  }

  /// In place of a step that cannot be read: nothing is known of its deliveries but how many they were.
  static func lost(partition: Int, from first: Int, count: Int) -> MessageShard {
    let target = SubmissionTarget(
      device: DeviceID(rawValue: ""), registered: false, address: nil,
      route: .ended(.failed, reason: CorruptRecords.reason))
    return MessageShard(
      partition: partition, targets: repeatElement(target, count: count), from: first, urgency: .bulk, targetsPerJob: 1)
  }

  /// For the spread record at home.
  var packed: [UInt8] {
    var packer = Packer()
    packer.number(first)
    packer.number(streams.count)
    for stream in streams { packer.text(stream) }
    packer.number(arguments.count)
    for argument in arguments { packer.blob(argument) }
    return packer.bytes
  }

  init(partition: Int, packed: [UInt8]) throws(Corrupt) {
    self.partition = partition
    streams = []
    arguments = []
    var reader = Unpacker(packed)
    count = 0
    first = try reader.int()
    guard first <= Int(UInt16.max) else { throw Corrupt() }
    for _ in 0..<(try reader.int()) { streams.append(try reader.text()) }
    for _ in 0..<(try reader.int()) { arguments.append(try reader.blob()) }
    guard reader.isAtEnd else { throw Corrupt() }
    try check()
  }

  /// Devices that are to be sent to.
  var waiting: [DeviceID] {
    guard arguments.count > 1, let list = try? TargetList(packed: arguments[1]) else { return [] }
    return list.entries.filter { $0.credential != nil }.map(\.device)
  }

  /// What was read is what `init(partition:targets:…)` writes: each delivery has ended or is in one job.
  private mutating func check() throws(Corrupt) {
    var rest = arguments[...]
    func next() throws(Corrupt) -> [UInt8] {
      guard let argument = rest.popFirst() else { throw Corrupt() }
      return argument
    }
    func number(below limit: Int) throws(Corrupt) -> Int {
      guard let number = StoredNumber.index(try next()), number < limit else {
        throw Corrupt()
      }
      return number
    }
    count = try number(below: Int(UInt16.max) + 1)
    guard try TargetList(packed: try next()).entries.count == count else { throw Corrupt() }
    let range = first..<first + count
    var seen: Set<Int> = []
    for _ in 0..<(try number(below: count + 1)) {
      let index = try number(below: range.upperBound)
      _ = try DeliveryRecord(packed: try next())
      guard CounterName(field: try next()) != nil, range.contains(index), seen.insert(index).inserted else {
        throw Corrupt()
      }
    }
    for _ in 0..<(try number(below: count + 1)) {
      let stream = try number(below: streams.count)
      let name = String(decoding: try next(), as: UTF8.self)
      let begin = try number(below: range.upperBound)
      let indexes = Self.indexes(try next())
      let targets = try PackedTarget.readAll(try next())
      guard name == streams[stream], StreamID(partition: partition, name: name) != nil, indexes.first == begin,
        indexes == targets.map(\.index), indexes.allSatisfy({ range.contains($0) && seen.insert($0).inserted })
      else { throw Corrupt() }
    }
    guard rest.isEmpty, seen.count == count else { throw Corrupt() }
  }

  /// As scripts read them: two bytes each.
  static func indexes(_ packed: [UInt8]) -> [Int] {
    guard packed.count.isMultiple(of: 2) else { return [] }
    return stride(from: 0, to: packed.count, by: 2).map { Int(packed[$0]) << 8 | Int(packed[$0 + 1]) }
  }

  /// As the `addShard` fragment takes it.
  func append(to command: inout RedisCommand, ttl: Int, app: AppID) {
    command.append(ttl)
    command.append(app.rawValue)
    for argument in arguments { command.append(argument) }
  }
  /// Bytes of that, about.
  var size: Int { arguments.reduce(16) { $0 + $1.count + 8 } }
}

extension Address {
  /// Bytes of it in a job, about.
  fileprivate var size: Int {
    token.utf8.count + (bundleID?.utf8.count ?? 0) + (liveActivityToken?.utf8.count ?? 0) + 40
  }
}
