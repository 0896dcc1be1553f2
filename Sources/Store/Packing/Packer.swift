import Domain

/// Appends values in the store's packed form: numbers as LEB128, texts and blobs behind their length.
struct Packer {
  private(set) var bytes: [UInt8] = []

  mutating func reserve(_ count: Int) { bytes.reserveCapacity(count) }
  mutating func byte(_ value: UInt8) { bytes.append(value) }
  mutating func number(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }
  mutating func number(_ value: Int) { number(UInt64(value)) }
  /// Negative times do not occur; one is stored as 0.
  mutating func time(_ milliseconds: Int64) { number(UInt64(max(0, milliseconds))) }
  mutating func blob(_ value: [UInt8]) {
    number(value.count)
    bytes += value
  }
  mutating func append(_ value: UnsafeBufferPointer<UInt8>) { bytes += value }
  mutating func append(_ value: [UInt8]) { bytes += value }
  mutating func append(_ text: String.UTF8View) { bytes += text }
  /// A time near another one.
  mutating func time(_ milliseconds: Int64, after base: Int64) { signed(milliseconds &- base) }
  /// 0, 1, 2, 3… for 0, -1, 1, -2…: small where the value is near 0.
  mutating func signed(_ value: Int64) { number(UInt64(bitPattern: value << 1 ^ value >> 63)) }
  mutating func text(_ value: String) {
    number(value.utf8.count)
    bytes += value.utf8
  }
  mutating func uuid(_ value: UUIDBytes) {
    for word in [value.high, value.low] {
      for shift in stride(from: UInt64(56), through: 0, by: -8) { byte(UInt8(truncatingIfNeeded: word >> shift)) }
    }
  }
  /// Nil and empty stay apart.
  mutating func optional(_ value: String?) {
    guard let value else { return number(0) }
    number(value.utf8.count + 1)
    bytes += value.utf8
  }
}

/// What is stored does not read as it should: damaged, or of a later layout.
struct Corrupt: Error {}

/// Reads what `Packer` wrote. Never trusts a length.
struct Unpacker {
  let bytes: [UInt8]
  private(set) var place: Int
  let end: Int

  init(_ bytes: [UInt8], from place: Int = 0) {
    self.init(bytes, place..<bytes.count)
  }
  /// Of a part of `bytes`.
  init(_ bytes: [UInt8], _ part: Range<Int>) {
    self.bytes = bytes
    place = part.lowerBound
    end = part.upperBound
  }
  var isAtEnd: Bool { place >= end }

  mutating func byte() throws(Corrupt) -> UInt8 {
    guard place < end else { throw Corrupt() }
    defer { place += 1 }
    return bytes[place]
  }
  mutating func flag() throws(Corrupt) -> Bool {
    switch try byte() {
    case 0: return false
    case 1: return true
    default: throw Corrupt()
    }
  }
  mutating func number() throws(Corrupt) -> UInt64 {
    var value: UInt64 = 0
    for shift in stride(from: UInt64(0), through: 63, by: 7) {
      let next = try byte()
      let part = UInt64(next & 0x7f)
      guard (part << shift) >> shift == part else { throw Corrupt() }
      value |= part << shift
      if next & 0x80 == 0 { return value }
    }
    throw Corrupt()
  }
  mutating func int() throws(Corrupt) -> Int {
    guard let value = Int(exactly: try number()) else { throw Corrupt() }
    return value
  }
  /// No later than the year 142,000, so that sums with it have room.
  mutating func time() throws(Corrupt) -> Int64 { try sensible(Int64(try int())) }
  private func sensible(_ time: Int64) throws(Corrupt) -> Int64 {
    guard (-(1 << 52)...1 << 52).contains(time) else { throw Corrupt() }
    return time
  }
  /// Passes this number, if it comes next.
  mutating func next(is number: Int) -> Bool {
    var ahead = self
    guard (try? ahead.int()) == number else { return false }
    self = ahead
    return true
  }
  mutating func blob() throws(Corrupt) -> [UInt8] { try take(try int()) }
  mutating func time(after base: Int64) throws(Corrupt) -> Int64 { try sensible(base &+ (try signed())) }
  mutating func signed() throws(Corrupt) -> Int64 {
    let value = try number()
    return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
  }
  mutating func take(_ count: Int) throws(Corrupt) -> [UInt8] { Array(try slice(count)) }
  mutating func slice(_ count: Int) throws(Corrupt) -> ArraySlice<UInt8> {
    guard count >= 0, count <= end - place else { throw Corrupt() }
    defer { place += count }
    return bytes[place..<place + count]
  }
  mutating func uuid() throws(Corrupt) -> UUIDBytes {
    var (high, low): (UInt64, UInt64) = (0, 0)
    for _ in 0..<8 { high = high << 8 | UInt64(try byte()) }
    for _ in 0..<8 { low = low << 8 | UInt64(try byte()) }
    return UUIDBytes(high: high, low: low)
  }
  mutating func text(of count: Int) throws(Corrupt) -> String { String(decoding: try slice(count), as: UTF8.self) }
  mutating func text() throws(Corrupt) -> String { try text(of: try int()) }
  mutating func optional() throws(Corrupt) -> String? {
    let count = try int()
    return count == 0 ? nil : try text(of: count - 1)
  }
}

/// A list of strings as scripts write it: each behind four bytes of length.
enum ScriptList {
  static func read(_ bytes: [UInt8]) throws(Corrupt) -> [[UInt8]] {
    var items: [[UInt8]] = []
    var reader = Unpacker(bytes)
    while !reader.isAtEnd {
      let length = try reader.take(4).reduce(0) { $0 << 8 | Int($1) }
      items.append(try reader.take(length))
    }
    return items
  }
}
