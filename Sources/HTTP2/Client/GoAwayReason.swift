/// Reads the debug data of a GOAWAY: the `reason` of a JSON object, or else the text.
enum GoAwayReason {
  static let limit = 200

  /// Nil for empty data. At most 200 bytes, without control characters.
  static func read(_ debug: [UInt8]) -> String? {
    let text = reason(in: debug) ?? debug
    let clean = text.prefix(limit).filter { $0 >= 0x20 && $0 != 0x7F }
    if clean.isEmpty { return nil }
    // A letter cut in two at the limit is left out.
    var whole = String(decoding: clean, as: UTF8.self)
    if text.count > limit, whole.unicodeScalars.last == "\u{FFFD}" { whole.unicodeScalars.removeLast() }
    return whole
  }

  /// The string behind `"reason":`, wherever it stands; escapes other than `\"`, `\\` and `\/` stay as they are.
  private static func reason(in bytes: [UInt8]) -> [UInt8]? {
    let key = Array("\"reason\"".utf8)
    var rest = bytes[...]
    guard let first = rest.first(where: { !isSpace($0) }), first == UInt8(ascii: "{") else { return nil }
    while !rest.starts(with: key) {
      guard rest.popFirst() != nil else { return nil }
    }
    rest = rest.dropFirst(key.count).drop(while: isSpace)
    guard rest.popFirst() == UInt8(ascii: ":") else { return nil }
    rest = rest.drop(while: isSpace)
    guard rest.popFirst() == UInt8(ascii: "\"") else { return nil }
    var value: [UInt8] = []
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "\"") { return value }
      if byte == UInt8(ascii: "\\"), let next = rest.first, [0x22, 0x5C, 0x2F].contains(next) {
        value.append(next)
        rest.removeFirst()
      } else {
        value.append(byte)
      }
    }
    return nil
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}
