import Domain

/// A target as a job or a retry carries it.
struct PackedTarget {
  var index: Int
  var device: DeviceID
  /// Nil: registered, its address is read when it is sent.
  var address: Address?

  func write(to packer: inout Packer) {
    packer.number(index)
    packer.text(device.rawValue)
    guard let address else { return packer.byte(0) }
    packer.byte(1)
    packer.text(address.provider.rawValue)
    packer.text(address.token)
    packer.text(address.tokenKind.rawValue)
    packer.text(address.environment.rawValue)
    packer.optional(address.bundleID)
    packer.optional(address.liveActivityToken)
  }

  static func read(_ reader: inout Unpacker) throws(Corrupt) -> PackedTarget {
    var target = PackedTarget(index: try reader.int(), device: DeviceID(rawValue: try reader.text()), address: nil)
    switch try reader.byte() {
    case 0: return target
    case 1: break
    default: throw Corrupt()
    }
    let provider = ProviderName(rawValue: try reader.text())
    let token = try reader.text()
    guard let kind = TokenKind(rawValue: try reader.text()),
      let environment = Environment(rawValue: try reader.text())
    else { throw Corrupt() }
    target.address = Address(
      provider: provider, token: token, tokenKind: kind, environment: environment, bundleID: try reader.optional(),
      liveActivityToken: try reader.optional())
    return target
  }
}

extension PackedTarget {
  /// All of a job, in the order of their indexes.
  static func readAll(_ packed: [UInt8]) throws(Corrupt) -> [PackedTarget] {
    var targets: [PackedTarget] = []
    var reader = Unpacker(packed)
    while !reader.isAtEnd {
      let target = try read(&reader)
      guard targets.last.map({ $0.index < target.index }) ?? true else { throw Corrupt() }
      targets.append(target)
    }
    return targets
  }
}

/// The list of a message's targets in one partition: who they are and who sends to them.
struct TargetList {
  struct Entry {
    var device: DeviceID
    var credential: CredentialID?
    var provider: ProviderName?
    var platform: String?

    /// What it gets, if it was to be sent to.
    func variant(_ split: VariantSplit?) -> String? { credential == nil ? nil : split?.name(of: device) }
  }
  var entries: [Entry] = []

  var packed: [UInt8] {
    // Names of credentials, providers and platforms: few, so looking through them costs less than hashing.
    var words: [String] = []
    var body = Packer()
    body.reserve(entries.count * 40 + 64)
    func place(_ word: String?) -> Int {
      guard let word else { return 0 }
      if let place = words.firstIndex(of: word) { return place + 1 }
      words.append(word)
      return words.count
    }
    for entry in entries {
      body.text(entry.device.rawValue)
      body.number(place(entry.credential?.rawValue))
      body.number(place(entry.provider?.rawValue))
      body.number(place(entry.platform))
    }
    var head = Packer()
    head.number(words.count)
    for word in words { head.text(word) }
    head.number(entries.count)
    return head.bytes + body.bytes
  }

  init(_ entries: [Entry] = []) { self.entries = entries }

  init(packed: [UInt8]) throws(Corrupt) {
    var reader = Unpacker(packed)
    var words: [String] = []
    for _ in 0..<(try reader.int()) { words.append(try reader.text()) }
    let count = try reader.int()
    for _ in 0..<count {
      let device = DeviceID(rawValue: try reader.text())
      let credential = try reader.int()
      let provider = try reader.int()
      let platform = try reader.int()
      guard max(credential, provider, platform) <= words.count else { throw Corrupt() }
      entries.append(
        Entry(
          device: device, credential: credential == 0 ? nil : CredentialID(rawValue: words[credential - 1]),
          provider: provider == 0 ? nil : ProviderName(rawValue: words[provider - 1]),
          platform: platform == 0 ? nil : words[platform - 1]))
    }
    guard reader.isAtEnd else { throw Corrupt() }
  }
}

extension TargetList {
  /// Of a work hash; that of a long list has one for each step. Nil: it has none that can be read.
  init?(work: StoredMessageHashes.Fields) {
    guard let packed = work[Array("t".utf8)], let first = try? TargetList(packed: packed) else { return nil }
    self = first
    var step = 1
    while let packed = work[Array("t\(step)".utf8)] {
      guard let more = try? TargetList(packed: packed) else { return nil }
      entries += more.entries
      step += 1
    }
  }
}
