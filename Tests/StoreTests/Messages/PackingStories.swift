import Domain
import Support
import Testing

@testable import Store

@Suite("Packed records")
struct PackingStories {
  private static let seeds = [UInt64.random(in: 0..<1 << 32), 11, 2026]

  @Test("what is packed comes back, whatever it holds", arguments: seeds)
  func roundTrips(seed: UInt64) throws {
    var random = Seeded(seed: seed)
    for _ in 0..<150 {
      let device = random.storedDevice()
      let born = WallTime(milliseconds: random.time())
      var record = DeviceRecord(device, bornAt: born)
      record.isOneOfSeveral = .random(using: &random)
      record.userVersion = device.device.user == nil ? 0 : .random(in: 0...Int(UInt32.max), using: &random)
      // Some of its texts are words, some are written out.
      var words = StringTable()
      record.forEachRepeatingText { if Bool.random(using: &random) { words.learn($0, words.count) } }
      #expect(try DeviceRecord(packed: record.packed(words), words) == record, "seed \(seed)")

      for text in [random.token(), random.text()] {
        var packer = Packer()
        packer.compact(text)
        var reader = Unpacker(packer.bytes)
        #expect(try reader.compact().utf8.elementsEqual(text.utf8) && reader.isAtEnd, "\(text), seed \(seed)")
        #expect(packer.bytes.count <= text.utf8.count + 2)
        var letters = Array("before".utf8)
        reader = Unpacker(packer.bytes)
        try reader.compact(into: &letters)
        #expect(letters == Array("before\(text)".utf8) && reader.isAtEnd, "\(text), seed \(seed)")
      }

      let delivery = random.deliveryRecord()
      let packed = delivery.head + delivery.attempts.packed
      let back = try DeliveryRecord(packed: packed)
      #expect(back.head == delivery.head && back.attempts == delivery.attempts, "seed \(seed)")
      #expect(back.slice == delivery.slice, "seed \(seed)")
      #expect(back.overtaken == delivery.overtaken && back.provider == delivery.provider, "seed \(seed)")

      let list = random.targetList()
      #expect(try TargetList(packed: list.packed).packed == list.packed, "seed \(seed)")

      let part = random.part()
      let read = try MessageShard(partition: part.partition, packed: part.packed)
      #expect(read.packed == part.packed && read.count == part.count, "seed \(seed)")

      let members = (0..<Int.random(in: 0..<9, using: &random)).map { _ in Int.random(in: 0..<70_000, using: &random) }
      let id = MessageID(acceptedAt: WallTime(milliseconds: 1), partition: 0, random: 1)
      let slice = StoredSlice(message: id, partition: 0, number: 3, revision: 2, members: members)
      #expect(try StoredSlice(message: id, partition: 0, number: 3, packed: slice.packed) == slice, "seed \(seed)")
    }
  }

  private static let somebody = MessageID(acceptedAt: WallTime(milliseconds: 1), partition: 0, random: 1)

  /// Every record kind, read again as bytes: what it reads as is packed once more. Nil: refused.
  private static let readers: [(name: String, read: @Sendable ([UInt8]) -> [UInt8]?)] = [
    ("device", { (try? DeviceRecord(packed: $0, StringTable())).map { $0.packed(StringTable()) } }),
    (
      "delivery",
      { (try? DeliveryRecord(packed: $0)).map { $0.head + $0.attempts.packed } }
    ),
    (
      "targets of a job",
      { packed in
        (try? PackedTarget.readAll(packed)).map { targets in
          var packer = Packer()
          for target in targets { target.write(to: &packer) }
          return packer.bytes
        }
      }
    ),
    ("target list", { (try? TargetList(packed: $0)).map(\.packed) }),
    ("part", { (try? MessageShard(partition: 0, packed: $0)).map(\.packed) }),
    ("snapshot", { (try? Snapshot(packed: $0)).map(\.packed) }),
    ("slice", { (try? StoredSlice(message: somebody, partition: 0, number: 3, packed: $0)).map(\.packed) }),
    (
      "held prune",
      { packed in
        let id = DeviceID(rawValue: "d")
        return (try? Flush.Prune(held: packed, id, CredentialID(rawValue: "c"), app: shop)).map(\.packed)
      }
    ),
    ("worker", { (try? WorkerReport(serial: 1, packed: $0)).map(\.packed) }),
    (
      "user",
      { packed in
        let entry = UserEntry(packed: packed)
        _ = entry.places.map(\.raw)
        return nil
      }
    ),
    (
      "records",
      {
        var count = 0
        RecordBucket(bytes: $0).forEachPart { _ in count += 1 }
        return count == 0 ? nil : $0
      }
    ),
    ("list of a script", { packed in (try? ScriptList.read(packed)).map { $0.flatMap { raw32($0.count) + $0 } } }),
  ]

  @Test(
    "random and damaged bytes never crash, and what is taken is whole: packed again it reads the same", arguments: seeds
  )
  func damage(seed: UInt64) {
    var random = Seeded(seed: seed)
    var taken = [String: Int]()
    for _ in 0..<500 {
      for (name, read) in Self.readers {
        let bytes = random.damaged(name)
        guard let again = read(bytes) else { continue }
        taken[name, default: 0] += 1
        let stable = read(again) == again
        #expect(stable, "\(name), seed \(seed), bytes \(bytes)")
      }
    }
    // A damage inside a text is still a text.
    print("seed \(seed): damaged records that still read: \(taken)")
  }

  @Test("no truncated record reads, nor one with bytes behind it", arguments: seeds)
  func truncated(seed: UInt64) {
    var random = Seeded(seed: seed)
    for _ in 0..<8 {
      for (name, read) in Self.readers
      where ["device", "target list", "part", "snapshot", "slice", "held prune", "worker"].contains(name) {
        let whole = random.valid(name)
        let same = read(whole) == whole
        #expect(same, "\(name), seed \(seed), bytes \(whole)")
        #expect(read(whole + [0]) == nil, "\(name), seed \(seed)")
        let taken = (0..<whole.count).first { read(Array(whole.prefix($0))) != nil }
        #expect(taken == nil, "\(name) cut, seed \(seed), bytes \(whole)")
      }
    }
  }

  @Test("numbers of any size come back; one that overflows is refused")
  func numbers() throws {
    for value in [0, 1, 127, 128, 16_383, 16_384, UInt64(Int64.max), .max] {
      var packer = Packer()
      packer.number(value)
      var reader = Unpacker(packer.bytes)
      #expect(try reader.number() == value && reader.isAtEnd)
    }
    var over = Unpacker([UInt8](repeating: 0xff, count: 9) + [0x02])
    #expect(throws: Corrupt.self) { try over.number() }
    var endless = Unpacker([UInt8](repeating: 0x80, count: 20))
    #expect(throws: Corrupt.self) { try endless.number() }
    var long = Unpacker([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f])
    #expect(throws: Corrupt.self) { try long.blob() }
  }
}

extension Seeded {
  mutating func time() -> Int64 { .random(in: 0..<4_102_444_800_000, using: &self) }

  mutating func text(_ longest: Int = 40) -> String {
    let letters = Array("abcXYZ019-_:./ \u{1}\u{7f}äß漢🇦🇹")
    let count = Int.random(in: 0...longest, using: &self)
    return String((0..<count).map { _ in letters.randomElement(using: &self)! })
  }

  private mutating func maybe<Value>(_ make: (inout Seeded) -> Value) -> Value? {
    Bool.random(using: &self) ? make(&self) : nil
  }

  /// Of the vendors' forms, and others.
  mutating func token() -> String {
    let bytes = (0..<32).map { _ in UInt8.random(in: 0...255, using: &self) }
    let letters = (0..<Int.random(in: 120..<170, using: &self)).map { _ in
      Digits.base64Letters.randomElement(using: &self)!
    }
    switch Int.random(in: 0..<5, using: &self) {
    case 0: return Digits.hexText(bytes)
    case 1: return String(decoding: letters.prefix(22) + [UInt8(ascii: ":")] + letters.dropFirst(22), as: UTF8.self)
    case 2: return UUIDBytes(high: .random(in: 0...UInt64.max, using: &self), low: 7).description
    case 3: return ":" + String(decoding: letters, as: UTF8.self) + "::"
    default: return text(200)
    }
  }

  private mutating func address() -> Address {
    Address(
      provider: ProviderName(rawValue: text(8)), token: token(),
      tokenKind: TokenKind.allCases.randomElement(using: &self)!,
      environment: Environment.allCases.randomElement(using: &self)!, bundleID: maybe { $0.text() })
  }

  private mutating func value() -> JSONValue {
    switch Int.random(in: 0..<6, using: &self) {
    case 0: .null
    case 1: .bool(.random(using: &self))
    case 2: .integer(.random(in: .min ... .max, using: &self))
    case 3: .unsigned(.random(in: .min ... .max, using: &self))
    case 4: .double(.random(in: -1e300...1e300, using: &self))
    default: .string(text())
    }
  }

  mutating func storedDevice() -> StoredDevice {
    var device = Device(
      id: DeviceID(rawValue: text()), address: address(), registeredAt: WallTime(milliseconds: time()))
    device.enabled = .random(using: &self)
    device.lastSeen = maybe { WallTime(milliseconds: $0.time()) }
    device.platform = maybe { $0.text() }
    device.appVersion = maybe { $0.text() }
    for permission in Permission.allCases where Int.random(in: 0..<4, using: &self) == 0 {
      device.permissions.insert(permission)
    }
    device.language = maybe { $0.text() }
    device.timeZone = maybe { $0.text() }
    device.user = maybe { $0.text() }
    device.liveActivityToken = maybe { $0.text() }
    device.activityID = maybe { $0.text() }
    device.tags = (0..<Int.random(in: 0..<6, using: &self)).map { _ in text() }
    for _ in 0..<Int.random(in: 0..<5, using: &self) { device.attributes.append(JSONMember(text(), value())) }
    let tombstone = maybe { Tombstone(reason: $0.text(), at: WallTime(milliseconds: $0.time())) }
    let userTags = device.user == nil ? [] : (0..<Int.random(in: 0..<4, using: &self)).map { _ in text() }
    return StoredDevice(device: device, tombstone: tombstone, userTags: userTags)
  }

  private mutating func target(_ index: Int) -> PackedTarget {
    PackedTarget(index: index, device: DeviceID(rawValue: text()), address: maybe { $0.address() })
  }

  fileprivate mutating func deliveryRecord() -> DeliveryRecord {
    let state: DeliveryRecord.State
    if Bool.random(using: &self) {
      state = .final(
        Outcome.allCases.randomElement(using: &self)!, reason: maybe { $0.text() }, providerID: maybe { $0.text() })
    } else {
      state = .retrying(
        due: WallTime(milliseconds: time()), reason: text(), sequence: next() >> 8,
        credential: CredentialID(rawValue: text()), target(Int.random(in: 0..<65_535, using: &self)))
    }
    var attempts = AttemptLog()
    for _ in 0..<Int.random(in: 0..<(Bool.random(using: &self) ? 4 : 60), using: &self) {
      attempts.add(
        Attempt(
          at: WallTime(milliseconds: time()), verdict: text(), reason: maybe { $0.text() },
          status: Int.random(in: 0..<600, using: &self)))
    }
    return DeliveryRecord(
      state: state, provider: maybe { ProviderName(rawValue: $0.text(8)) }, overtaken: .random(using: &self),
      slice: maybe { UUIDBytes(high: $0.next(), low: $0.next()) }, attempts: attempts)
  }

  fileprivate mutating func targetList() -> TargetList {
    TargetList(
      (0..<Int.random(in: 0..<30, using: &self)).map { _ in
        TargetList.Entry(
          device: DeviceID(rawValue: text()), credential: maybe { CredentialID(rawValue: $0.text(3)) },
          provider: maybe { ProviderName(rawValue: $0.text(3)) }, platform: maybe { $0.text(3) })
      })
  }

  fileprivate mutating func part() -> MessageShard {
    var targets: [SubmissionTarget] = []
    for _ in 0..<Int.random(in: 0..<30, using: &self) {
      let route: Route =
        Int.random(in: 0..<4, using: &self) == 0
        ? .ended(.skipped, reason: text()) : .queue(CredentialID(rawValue: "c\(Int.random(in: 0..<3, using: &self))"))
      targets.append(
        SubmissionTarget(
          device: DeviceID(rawValue: text()), registered: .random(using: &self), address: address(), route: route))
    }
    return MessageShard(
      partition: 0, targets: targets, urgency: Bool.random(using: &self) ? .urgent : .bulk, targetsPerJob: 7)
  }

  fileprivate mutating func valid(_ name: String) -> [UInt8] {
    switch name {
    case "device": return DeviceRecord(storedDevice(), bornAt: WallTime(milliseconds: time())).packed(StringTable())
    case "delivery":
      let record = deliveryRecord()
      return record.head + record.attempts.packed
    case "targets of a job":
      var packer = Packer()
      for index in 0..<Int.random(in: 1..<9, using: &self) { target(index).write(to: &packer) }
      return packer.bytes
    case "target list": return targetList().packed
    case "part": return part().packed
    case "snapshot":
      let numbers = Set(
        (0..<Int.random(in: 1..<60, using: &self)).map { _ in UInt32.random(in: 0..<9_000, using: &self) })
      let queued = numbers.filter { $0.isMultiple(of: 2) }.sorted()
      let ended = numbers.filter { !$0.isMultiple(of: 2) }.sorted()
      let route = Snapshot.Route.queue(CredentialID(rawValue: text(5)))
      let sent = Snapshot.Kind(
        route: route, provider: .apns, platform: maybe { $0.text(4) }, variant: maybe { $0.text(4) })
      let reason = maybe { $0.text(4) }
      let skipped = Snapshot.Kind(route: .ended(.skipped, reason: reason), provider: .fcm, platform: nil, variant: nil)
      return Snapshot([(sent, queued), (skipped, ended)], takenAt: WallTime(milliseconds: time())).packed

    case "slice":
      let members = (0..<Int.random(in: 0..<9, using: &self)).map { _ in Int.random(in: 0..<70_000, using: &self) }
      let id = MessageID(acceptedAt: WallTime(milliseconds: 1), partition: 0, random: 1)
      return StoredSlice(message: id, partition: 0, number: 3, revision: 2, members: members).packed
    case "held prune":
      var prune = Flush.Prune(
        app: shop, device: DeviceID(rawValue: "d"), token: token(), reason: text(),
        since: maybe { WallTime(milliseconds: $0.time()) }, at: WallTime(milliseconds: time()))
      prune.message = maybe {
        MessageID(acceptedAt: WallTime(milliseconds: $0.time()), partition: 1, random: $0.next())
      }
      return prune.packed
    case "worker":
      var report = WorkerReport(serial: 1, host: text(), process: 7, startedAt: WallTime(milliseconds: time()))
      for _ in 0..<Int.random(in: 0..<4, using: &self) {
        report.sendings.append(
          .init(
            credential: CredentialID(rawValue: text()), state: text(6), reason: maybe { $0.text() }, connections: 1,
            atWork: 2, limit: 3, inMemory: 4, waitingPrunes: [text(): 5]))
      }
      return report.packed
    case "user":
      let places = (0..<Int.random(in: 0..<5, using: &self)).flatMap { _ in
        DevicePlace(partition: .random(in: 0..<16, using: &self), number: .random(in: 0..<99_999, using: &self)).raw
      }
      return raw32(3) + [0, UInt8(places.count / 6)] + places + UserEntry.pack([text(), text()])
    case "records":
      return (0..<3).flatMap { number -> [UInt8] in
        let bytes = Array(text().utf8)
        return raw32(RecordBucket.head(number, length: bytes.count)) + bytes
      }
    default: return (0..<4).flatMap { _ in [0, 0, 0, 3, 1, 2, 3] as [UInt8] }
    }
  }

  /// Bytes at random, or a valid record with some bytes changed, cut, doubled or moved.
  fileprivate mutating func damaged(_ name: String) -> [UInt8] {
    func noise(_ random: inout Seeded) -> [UInt8] {
      (0..<Int.random(in: 0..<80, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
    }
    var bytes = valid(name)
    guard !bytes.isEmpty else { return noise(&self) }
    switch Int.random(in: 0..<5, using: &self) {
    case 0: return noise(&self)
    case 1:
      for _ in 0..<Int.random(in: 1...4, using: &self) {
        bytes[Int.random(in: 0..<bytes.count, using: &self)] = UInt8.random(in: 0...255, using: &self)
      }
    case 2: bytes.removeLast(Int.random(in: 1...bytes.count, using: &self))
    case 3: bytes.insert(contentsOf: noise(&self), at: Int.random(in: 0...bytes.count, using: &self))
    default: bytes.shuffle(using: &self)
    }
    return bytes
  }
}
