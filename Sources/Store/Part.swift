import Domain
import RedisClient

/// What one partition gets of a message: the arguments of the `addPart` fragment, and the streams they name.
struct Part {
  let partition: Int
  /// From the count on; id, channel and partition come before.
  private(set) var arguments: [[UInt8]]
  private(set) var streams: [String]

  init(
    partition: Int, targets: [SubmissionTarget], urgency: Urgency, targetsPerJob: Int
  ) {
    self.partition = partition
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
        list.append(.init(device: target.device, credential: nil, provider: provider))
        let record = DeliveryRecord(state: .final(outcome, reason: reason, providerID: nil), provider: provider)
        ended.append(Array(String(index).utf8))
        ended.append(record.head)
        ended.append(CounterName(provider: provider, outcome: outcome, reason: reason).field)
      case .queue(let credential):
        list.append(.init(device: target.device, credential: credential, provider: provider))
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
    for _ in 0..<(try reader.int()) { streams.append(try reader.text()) }
    for _ in 0..<(try reader.int()) { arguments.append(try reader.blob()) }
  }

  func scriptArguments(id: MessageID, channel: String) -> [RedisArgument] {
    [.bytes(id.raw), .text(channel), .number(Int64(partition))] + arguments.map { .bytes($0) }
  }
}

/// The field of a counter of final deliveries.
struct CounterName {
  var provider: ProviderName?
  var outcome: Outcome
  var reason: String?

  private static let separator: UInt8 = 1

  var field: [UInt8] {
    var bytes = [UInt8(ascii: "k")]
    bytes += (provider?.rawValue ?? "").utf8
    bytes.append(Self.separator)
    bytes += outcome.rawValue.utf8
    bytes.append(Self.separator)
    bytes += (reason ?? "").utf8.filter { $0 != Self.separator }
    return bytes
  }

  init(provider: ProviderName?, outcome: Outcome, reason: String?) {
    self.provider = provider
    self.outcome = outcome
    self.reason = reason
  }

  init?(field: [UInt8]) {
    guard field.first == UInt8(ascii: "k") else { return nil }
    let parts = field.dropFirst().split(separator: Self.separator, maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, let outcome = Outcome(rawValue: String(decoding: parts[1], as: UTF8.self)) else {
      return nil
    }
    self.outcome = outcome
    provider = parts[0].isEmpty ? nil : ProviderName(rawValue: String(decoding: parts[0], as: UTF8.self))
    reason = parts[2].isEmpty ? nil : String(decoding: parts[2], as: UTF8.self)
  }
}
