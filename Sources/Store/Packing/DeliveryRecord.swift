import Domain

/// What is kept of one delivery: a state byte that scripts look at (`F` final, `R` in the retry set), the length of the
/// head in two bytes, the head, then attempts, which scripts keep or replace.
struct DeliveryRecord {
  enum State {
    case final(Outcome, reason: String?, providerID: String?)
    case retrying(due: WallTime, reason: String, sequence: UInt64, credential: CredentialID, PackedTarget)
  }
  var state: State
  var provider: ProviderName?
  var overtaken: Bool
  /// Key of the slice in which it was requested last; nil: it was requested by itself, or not at all.
  var slice: UUIDBytes?
  var attempts: AttemptLog

  static let finalMark = UInt8(ascii: "F")
  private static let waitingMark = UInt8(ascii: "R")
  /// Longest text kept of a provider's words; longer ones are cut.
  private static let textLimit = 512

  private struct Flags: OptionSet {
    let rawValue: UInt8
    static let overtaken = Self(rawValue: 1)
    static let slice = Self(rawValue: 2)
    static let known: Self = [.overtaken, .slice]
  }

  /// State, length and head: the attempts follow.
  var head: [UInt8] {
    var packer = Packer()
    packer.optional(provider?.rawValue)
    var flags: Flags = overtaken ? [.overtaken] : []
    if slice != nil { flags.insert(.slice) }
    packer.byte(flags.rawValue)
    if let slice { packer.uuid(slice) }
    let mark: UInt8
    switch state {
    case .final(let outcome, let reason, let providerID):
      mark = Self.finalMark
      packer.text(outcome.rawValue)
      packer.optional(reason.map(Self.cut))
      packer.optional(providerID.map(Self.cut))
    case .retrying(let due, let reason, let sequence, let credential, let target):
      mark = Self.waitingMark
      packer.time(due.milliseconds)
      packer.text(Self.cut(reason))
      packer.number(sequence)
      packer.text(credential.rawValue)
      target.write(to: &packer)
    }
    let length = packer.bytes.count
    return [mark, UInt8(length >> 8), UInt8(length & 255)] + packer.bytes
  }

  init(
    state: State, provider: ProviderName?, overtaken: Bool = false, slice: UUIDBytes? = nil, attempts: AttemptLog = []
  ) {
    self.state = state
    self.provider = provider
    self.overtaken = overtaken
    self.slice = slice
    self.attempts = attempts
  }

  /// Without its attempts, which scripts add.
  init(_ final: Flush.Final) {
    self.init(
      state: .final(final.outcome, reason: final.reason, providerID: final.providerID), provider: final.provider,
      overtaken: final.overtaken, slice: final.slice)
  }

  init(packed: [UInt8]) throws(Corrupt) {
    var reader = Unpacker(packed)
    let mark = try reader.byte()
    let length = try reader.take(2).reduce(0) { $0 << 8 | Int($1) }
    provider = try reader.optional().map { ProviderName(rawValue: $0) }
    let flags = Flags(rawValue: try reader.byte())
    guard flags.isSubset(of: .known) else { throw Corrupt() }
    overtaken = flags.contains(.overtaken)
    slice = flags.contains(.slice) ? try reader.uuid() : nil
    switch mark {
    case Self.finalMark:
      guard let outcome = Outcome(rawValue: try reader.text()) else { throw Corrupt() }
      state = .final(outcome, reason: try reader.optional(), providerID: try reader.optional())
    case Self.waitingMark:
      state = .retrying(
        due: WallTime(milliseconds: try reader.time()), reason: try reader.text(), sequence: try reader.number(),
        credential: CredentialID(rawValue: try reader.text()), try PackedTarget.read(&reader))
    default: throw Corrupt()
    }
    // Scripts find the attempts by this length.
    guard reader.place == length + 3 else { throw Corrupt() }
    attempts = try AttemptLog(&reader)
  }

  static func cut(_ text: String) -> String {
    text.utf8.count <= textLimit ? text : String(decoding: Array(text.utf8.prefix(textLimit)), as: UTF8.self)
  }
}
