import Domain
import RedisClient

/// What one partition gets of a message: the arguments of the `addPart` fragment, and the streams they name.
struct Part {
  let partition: Int
  /// From the count on; id, channel and partition come before.
  private(set) var arguments: [[UInt8]]
  private(set) var streams: [String]
  /// Deliveries.
  private(set) var count: Int

  init(
    partition: Int, targets: [SubmissionTarget], urgency: Urgency, targetsPerJob: Int
  ) {
    self.partition = partition
    count = targets.count
    var list: [TargetList.Entry] = []
    var ended: [[UInt8]] = []
    var jobs: [[UInt8]] = []
    var streams: [String] = []
    var open: [CredentialID: (indexes: [Int], targets: Packer)] = [:]
    var order: [CredentialID] = []

    func close(_ credential: CredentialID) {
      guard let job = open[credential], !job.indexes.isEmpty else { return }
      let name = StreamID(partition: partition, credential: credential, urgency: urgency).name
      let stream = streams.firstIndex(of: name) ?? streams.count
      if stream == streams.count { streams.append(name) }
      jobs.append(Array(String(stream).utf8))
      jobs.append(Array(name.utf8))
      jobs.append(Array(String(job.indexes[0]).utf8))
      jobs.append(job.indexes.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] })
      jobs.append(job.targets.bytes)
      open[credential] = ([], Packer())
    }

    for (index, target) in targets.enumerated() {
      let provider = target.address?.provider
      switch target.fate {
      case .ended(let outcome, let reason):
        list.append(.init(device: target.device, credential: nil, provider: provider, platform: target.platform))
        let record = DeliveryRecord(state: .final(outcome, reason: reason, providerID: nil), provider: provider)
        ended.append(Array(String(index).utf8))
        ended.append(record.head)
        ended.append(
          CounterName(
            provider: provider, outcome: outcome, reason: reason, platform: target.platform
          ).field)
      case .queue(let credential):
        list.append(.init(device: target.device, credential: credential, provider: provider, platform: target.platform))
        if open[credential] == nil {
          open[credential] = ([], Packer())
          order.append(credential)
        }
        open[credential]!.indexes.append(index)
        PackedTarget(index: index, device: target.device, address: target.registered ? nil : target.address)
          .write(to: &open[credential]!.targets)
        if open[credential]!.indexes.count >= targetsPerJob { close(credential) }
      }
    }
    for credential in order { close(credential) }
    arguments = [
      Array(String(targets.count).utf8), TargetList(list).packed, Array(String(ended.count / 3).utf8),
    ]
    arguments += ended
    arguments.append(Array(String(jobs.count / 5).utf8))
    arguments += jobs
    self.streams = streams
  }

  /// For the spread record at home.
  var packed: [UInt8] {
    var packer = Packer()
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
    for _ in 0..<(try reader.int()) { streams.append(try reader.text()) }
    for _ in 0..<(try reader.int()) { arguments.append(try reader.blob()) }
    guard reader.isAtEnd else { throw Corrupt() }
    try check()
  }

  /// What was read is what `init(partition:targets:…)` writes: each delivery has ended or is in one job.
  private mutating func check() throws(Corrupt) {
    var rest = arguments[...]
    func next() throws(Corrupt) -> [UInt8] {
      guard let argument = rest.popFirst() else { throw Corrupt() }
      return argument
    }
    func number(below limit: Int) throws(Corrupt) -> Int {
      guard let number = Int(String(decoding: try next(), as: UTF8.self)), (0..<limit).contains(number) else {
        throw Corrupt()
      }
      return number
    }
    count = try number(below: Int(UInt16.max) + 1)
    guard try TargetList(packed: try next()).entries.count == count else { throw Corrupt() }
    var seen: Set<Int> = []
    for _ in 0..<(try number(below: count + 1)) {
      let index = try number(below: count)
      _ = try DeliveryRecord(packed: try next())
      guard CounterName(field: try next()) != nil, seen.insert(index).inserted else { throw Corrupt() }
    }
    for _ in 0..<(try number(below: count + 1)) {
      let stream = try number(below: streams.count)
      let name = String(decoding: try next(), as: UTF8.self)
      let first = try number(below: count)
      let indexes = Self.indexes(try next())
      let targets = try PackedTarget.readAll(try next())
      guard name == streams[stream], StreamID(partition: partition, name: name) != nil, indexes.first == first,
        indexes == targets.map(\.index), indexes.allSatisfy({ $0 < count && seen.insert($0).inserted })
      else { throw Corrupt() }
    }
    guard rest.isEmpty, seen.count == count else { throw Corrupt() }
  }

  /// As scripts read them: two bytes each.
  static func indexes(_ packed: [UInt8]) -> [Int] {
    guard packed.count.isMultiple(of: 2) else { return [] }
    return stride(from: 0, to: packed.count, by: 2).map { Int(packed[$0]) << 8 | Int(packed[$0 + 1]) }
  }

  func scriptArguments(id: MessageID, channel: String, ttl: Int) -> [RedisArgument] {
    [.bytes(id.raw), .text(channel), .number(Int64(ttl)), .number(Int64(partition))] + arguments.map { .bytes($0) }
  }
}
