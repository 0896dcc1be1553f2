import Domain

/// A message of one delivery as it is stored: one value for all of it. Four bytes with the length of the facts, the
/// facts, and then, while it waits, the request that made it; once it has ended, four bytes with the length of the
/// ending, the ending, thirteen digits of when it was written, and the request only if the delivery failed. Scripts
/// know these borders and nothing more.
struct InlineMessage {
  var app: AppID
  var kind: Kind
  var ttl: Int
  var credential: CredentialID
  var provider: ProviderName?
  /// As registered when it was accepted.
  var platform: String?
  /// Index 0.
  var target: PackedTarget
  var labels: Labels
  /// Empty: it is no more needed.
  var body: [UInt8]
  var ending: Ending?

  struct Ending {
    var record: [UInt8]
    var counter: [UInt8]
    var at: WallTime
  }

  private static let border = 4
  /// Scripts read and write many inline messages at once; a longer request has hashes of its own.
  static let longestBody = 4_096
  /// Milliseconds from 2001 to 2286 have so many digits.
  static let timeDigits = 13

  /// Nil unless all of a message can be kept so: one delivery that waits for a provider, and nothing that is asked of
  /// the message while it waits.
  init?(_ submission: Submission) {
    guard submission.targets.count == 1, case .queue(let credential) = submission.targets[0].route,
      submission.audience == nil, submission.schedule == nil, submission.shares == nil, submission.replayOf == nil,
      submission.draftOf == nil, submission.testOf == nil, submission.ratePerSecond == nil, !submission.keepsContent,
      submission.body.count <= Self.longestBody,
      // One outcome trips no brake that waits for more.
      submission.errorBrake.map({ $0.minimum > 1 }) ?? true
    else { return nil }
    let target = submission.targets[0]
    // Members of slices are kept apart from their message.
    guard target.address?.provider != .oneSignal else { return nil }
    app = submission.app
    kind = submission.kind
    ttl = submission.ttl
    self.credential = credential
    provider = target.address?.provider
    platform = target.platform
    self.target = PackedTarget(index: 0, device: target.device, address: target.registered ? nil : target.address)
    labels = submission.labels
    body = submission.body
  }

  /// As it waits.
  var packed: [UInt8] {
    var packer = Packer()
    packer.reserve(body.count + 320)
    for _ in 0..<Self.border { packer.byte(0) }
    packer.text(app.rawValue)
    packer.text(kind.rawValue)
    packer.number(ttl)
    packer.text(credential.rawValue)
    packer.optional(provider?.rawValue)
    packer.optional(platform)
    target.write(to: &packer)
    if !labels.isEmpty { packer.blob(labels.packed) }
    let length = packer.bytes.count - Self.border
    packer.append(body)
    var bytes = packer.bytes
    bytes.put32(length, at: 0)
    return bytes
  }

  /// `hasEnded`: it comes from where ended ones are.
  init(packed: [UInt8], hasEnded: Bool) throws(Corrupt) {
    var reader = Unpacker(packed)
    let facts = from32(try reader.slice(Self.border)) + Self.border
    app = AppID(rawValue: try reader.text())
    guard let kind = Kind(rawValue: try reader.text()) else { throw Corrupt() }
    self.kind = kind
    ttl = try reader.int()
    guard ttl <= Message.maximumTTL else { throw Corrupt() }
    credential = CredentialID(rawValue: try reader.text())
    provider = try reader.optional().map { ProviderName(rawValue: $0) }
    platform = try reader.optional()
    target = try PackedTarget.read(&reader)
    labels = reader.place < facts ? try Labels(packed: try reader.blob()) : Labels()
    guard target.index == 0, reader.place == facts else { throw Corrupt() }
    if hasEnded {
      let length = from32(try reader.slice(Self.border))
      let end = reader.place + length
      let record = try reader.blob()
      let counter = try reader.blob()
      guard reader.place == end,
        let time = StoredNumber.read(String(decoding: try reader.slice(Self.timeDigits), as: UTF8.self))
      else { throw Corrupt() }
      ending = Ending(record: record, counter: counter, at: WallTime(milliseconds: max(0, time)))
    }
    body = Array(packed[reader.place...])
  }

  /// What a script puts behind the facts when it has ended: record and counter behind their length.
  static func ending(record: [UInt8], counter: [UInt8]) -> [UInt8] {
    var packer = Packer()
    packer.reserve(record.count + counter.count + 8)
    for _ in 0..<border { packer.byte(0) }
    packer.blob(record)
    packer.blob(counter)
    var bytes = packer.bytes
    bytes.put32(bytes.count - border, at: 0)
    return bytes
  }
}

extension [UInt8] {
  fileprivate mutating func put32(_ value: Int, at place: Int) {
    for byte in 0..<4 { self[place + byte] = UInt8(truncatingIfNeeded: value >> (24 - 8 * byte)) }
  }
}

extension InlineMessage {
  /// The fields that the hashes of a message and of its part would have.
  var messageFields: StoredMessageHashes.Fields {
    var fields: StoredMessageHashes.Fields = [
      "app": app.rawValue, "k": kind.rawValue, "ttl": String(ttl), "tot": "1", "np": "1", "st": "q",
    ].bytes
    if !labels.isEmpty { fields[Array(Labels.field.utf8)] = labels.packed }
    if !body.isEmpty || ending == nil { fields[Array("b".utf8)] = body }
    if let ending { fields[Array("don".utf8)] = Array(String(ending.at.milliseconds).utf8) }
    return fields
  }
  func messageFields(home: Int) -> StoredMessageHashes.Fields {
    var fields = messageFields
    fields[Array("parts".utf8)] = Array(String(home).utf8)
    return fields
  }

  var workFields: StoredMessageHashes.Fields {
    var fields: StoredMessageHashes.Fields = [
      "n": "1", "x": ending == nil ? "1" : "0", "r": "0", "l": String(ttl), "ap": app.rawValue,
    ].bytes
    let entry = TargetList.Entry(
      device: target.device, credential: credential, provider: provider, platform: platform)
    fields[Array("t".utf8)] = TargetList([entry]).packed
    guard let ending else {
      var packer = Packer()
      target.write(to: &packer)
      fields[Self.targetField] = packer.bytes
      return fields
    }
    fields[ending.counter] = [UInt8(ascii: "1")]
    fields[Array("lo".utf8)] = Array(String(ending.at.milliseconds).utf8)
    if let first = (try? DeliveryRecord(packed: ending.record))?.attempts.first {
      fields[Array("fa".utf8)] = Array(String(first.at.milliseconds).utf8)
    }
    return fields
  }
  /// Of the part of a message that was an inline message: its target, as a job would carry it.
  static let targetField = Array("pt".utf8)
}

extension StoredMessageHashes {
  init(_ inline: InlineMessage, home: Int) {
    self.init(
      message: inline.messageFields(home: home), work: [home: inline.workFields],
      deliveries: [home: inline.ending.map { [[UInt8(ascii: "0")]: $0.record] } ?? [:]])
  }
}

extension [String: String] {
  fileprivate var bytes: StoredMessageHashes.Fields {
    var fields: StoredMessageHashes.Fields = [:]
    for (name, value) in self { fields[Array(name.utf8)] = Array(value.utf8) }
    return fields
  }
}
