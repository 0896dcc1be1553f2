import Domain

/// Puts one logfmt line together. Nothing in a value can end the line, start a field or steer a terminal.
struct LogLine {
  /// What Linux writes to a pipe in one piece.
  private static let maximumBytes = 4096
  private static let maximumValue = 1024
  private static let cut = Array("…".utf8)

  private(set) var bytes: [UInt8] = []

  init(time: WallTime, level: Log.Level, event: String) {
    bytes.reserveCapacity(256)
    bytes += Array("time=\(time.rfc3339) level=\(level.name)".utf8)
    add("event", event)
  }

  mutating func add(_ key: String, _ value: String) {
    var field: [UInt8] = [UInt8(ascii: " ")]
    for byte in key.utf8.prefix(64) { field.append(Self.isPlain(byte) && byte != 0x3A ? byte : UInt8(ascii: "_")) }
    field.append(UInt8(ascii: "="))
    if value.utf8.count <= Self.maximumValue, !value.isEmpty, value.utf8.allSatisfy(Self.isPlain) {
      field += Array(value.utf8)
    } else {
      Self.appendQuoted(value, to: &field)
    }
    guard bytes.count + field.count + Self.cut.count + 2 <= Self.maximumBytes else {
      if !bytes.ends(with: Self.cut) { bytes += [UInt8(ascii: " ")] + Self.cut }
      return
    }
    bytes += field
  }

  mutating func end() { bytes.append(UInt8(ascii: "\n")) }

  /// Bytes that need no quotes.
  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    case UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: ":"), UInt8(ascii: "/"),
      UInt8(ascii: "@"), UInt8(ascii: "+"), UInt8(ascii: "%"):
      true
    default: false
    }
  }

  private static func appendQuoted(_ value: String, to field: inout [UInt8]) {
    let limit = field.count + maximumValue
    field.append(UInt8(ascii: "\""))
    for scalar in value.unicodeScalars {
      guard field.count < limit else {
        field += cut
        break
      }
      switch scalar {
      case "\"": field += Array("\\\"".utf8)
      case "\\": field += Array("\\\\".utf8)
      case "\n": field += Array("\\n".utf8)
      case "\r": field += Array("\\r".utf8)
      case "\t": field += Array("\\t".utf8)
      default:
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator:
          field += Array("\\u{\(String(scalar.value, radix: 16))}".utf8)
        default: field += Array(String(scalar).utf8)
        }
      }
    }
    field.append(UInt8(ascii: "\""))
  }
}

extension Array where Element == UInt8 {
  fileprivate func ends(with other: [UInt8]) -> Bool { suffix(other.count).elementsEqual(other) }
}
