import Domain
import RedisClient

@testable import Store

extension FuzzTarget {
  /// What Redis keeps in packed form: the first byte chooses a record, in the order below, the others are its bytes. What can be read is
  /// written and read again as the same bytes.
  static let records = FuzzTarget("records") { bytes in
    var input = FuzzInput(bytes)
    let read = input.pick(FuzzRecords.all)
    try? read(input.bytes())
  }
}

/// A reader of each kind of record. New ones go behind the others: corpora name them by their places.
private enum FuzzRecords {
  typealias Read = @Sendable ([UInt8]) throws -> Void

  static let all: [Read] = [
    device, bucket, head, user,
    { bytes in
      try same(bytes, { try Intent(packed: $0) }, \.packed)
      for change in try Intent(packed: bytes).sets.flatMap(\.changes) { _ = change.words }
    },
    { try same($0, { try TriedRecord(packed: $0) }, \.packed) },
    { try same($0, { try WorkerReport(serial: 1, packed: $0) }, \.packed) },
    { try same($0, { try Snapshot(packed: $0, most: 4_096) }, \.packed) },
    { bytes in
      try same(bytes, { try VariantSplit(packed: $0) }, \.packed)
      for device in ["", "d-1", "d-2"] { _ = try VariantSplit(packed: bytes).name(of: DeviceID(rawValue: device)) }
    },
    { try same($0, { try Labels(packed: $0) }, \.packed) },
    { bytes in
      try same(bytes, { try MessageShard(partition: 0, packed: $0) }, \.packed)
      _ = try MessageShard(partition: 0, packed: bytes).waiting
    },
    {
      try same(
        $0, { try Flush.Prune(held: $0, DeviceID(rawValue: "d"), CredentialID(rawValue: "c"), app: app) }, \.packed)
    },
    { try same($0, { try APIKey(packed: $0, id: "k", app: app) }, \.packed) },
    { _ = try FormerKeys.key($0, [1]) },
    { _ = KeyOwner(packed: $0)?.packed },
    { try same($0, { try PackedAudit.entries($0, at: FuzzWorld.now) }, { PackedAudit.pack($0, at: FuzzWorld.now) }) },
    { bytes in
      try same(bytes, { try DeliveryRecord(packed: $0) }, { $0.head + $0.attempts.packed })
    },
    { inlineMessage($0, hasEnded: false) },
    { inlineMessage($0, hasEnded: true) },
    { try same($0, { try TargetList(packed: $0) }, \.packed) },
    { try same($0, { try StoredSlice(message: message, partition: 0, number: 0, packed: $0) }, \.packed) },
    { _ = try PackedTarget.readAll($0) },
    { _ = try ScriptList.read($0) },
    texts, sets,
  ]

  private static let app = FuzzWorld.app
  private static let message = MessageID(acceptedAt: FuzzWorld.now, partition: 3, random: 5)

  private static let words: StringTable = {
    var words = StringTable()
    for (number, word) in ["apns", "device", "ios", "de", "com.example.shop"].enumerated() { words.learn(word, number) }
    return words
  }()

  /// Reading, writing and reading again ends with the bytes that were written.
  private static func same<Record>(
    _ bytes: [UInt8], _ read: ([UInt8]) throws -> Record, _ packed: (Record) -> [UInt8]
  ) throws {
    let written = packed(try read(bytes))
    do {
      demand(packed(try read(written)) == written, "\(Record.self) is written alike")
    } catch {
      fatalError("\(Record.self) does not read as it was written")
    }
  }

  private static let device: Read = { bytes in
    try same(bytes, { try DeviceRecord(packed: $0, words) }, { $0.packed(words) })
    let record = try DeviceRecord(packed: bytes, words)
    record.forEachSet { _ = ($0.text, $0.bucket.text) }
    // Who sends looks at the head alone.
    let header = try DeviceRecordHeader(bytes, bytes.indices)
    demand(try header.deviceID(bytes) == record.stored.device.id, "the head has the record's id")
    var own = record.stored.device.address
    own.liveActivityToken = nil
    demand(try header.address(bytes, words) == own, "the head has the record's address")
    demand(try header.facts(bytes, words).attributes == record.stored.device.attributes, "the head has the attributes")
  }

  private static let head: Read = { bytes in
    let header = try DeviceRecordHeader(bytes, bytes.indices)
    var token: [UInt8] = []
    _ = try? header.deviceID(bytes)
    _ = try? header.token(bytes, into: &token)
    _ = try? header.address(bytes, words)
    _ = try? header.zone(bytes)
    _ = try? header.facts(bytes, words)
  }

  private static let bucket: Read = { bytes in
    let bucket = RecordBucket(bytes: bytes)
    bucket.forEachPart { part in
      _ = bytes[part.entry]
      try? head(Array(bytes[part.record]))
    }
    for number in 0..<16 { _ = bucket.part(of: number) }
  }

  private static let user: Read = { bytes in
    let entry = UserEntry(packed: bytes)
    var head: [UInt8] = []
    entry.append(to: &head)
    demand(UserEntry(packed: head).places.count == entry.places.count, "a user's devices read as they are written")
  }

  private static func inlineMessage(_ bytes: [UInt8], hasEnded: Bool) {
    guard let message = try? InlineMessage(packed: bytes, hasEnded: hasEnded) else { return }
    _ = StoredMessageHashes(message, home: 1)
    guard !hasEnded else { return }
    demand((try? InlineMessage(packed: message.packed, hasEnded: false))?.packed == message.packed, "written alike")
  }

  /// What is kept as words with spaces between.
  private static let texts: Read = { bytes in
    let text = String(decoding: bytes, as: UTF8.self)
    _ = Braked(stored: text)
    _ = PruneNorm(stored: text)
    if let control = Control(packed: text) {
      demand(Control(packed: control.packed) == control, "a control is written as it is read")
    }
    _ = CounterName(field: bytes)
    _ = StreamID(partition: 1, name: text)
    _ = KeyFamily(of: text, prefix: "fanfare")
    var memory = MemoryWatch()
    memory.read(InfoFields(text))
    _ = (StoredNumber.read(bytes), StoredNumber.index(bytes), SetName(text: text)?.bucket.text)
  }

  private static let sets: Read = { bytes in
    let words = SetBlock.words(.bytes(bytes))
    let numbers = SetBlock.numbers(words)
    demand(numbers.count == SetBlock.count(words), "a set counts its numbers")
    _ = (SetBlock.words(bitmap: bytes), SetBlock.numbers(listed: bytes))
  }
}
