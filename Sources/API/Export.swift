import JSON
import Store

/// One JSON object a line.
struct JSONLines {
  private(set) var bytes: [UInt8] = []

  mutating func line(_ delivery: DeliveryReport) {
    var writer = JSONWriter()
    delivery.write(to: &writer)
    bytes += writer.bytes
    bytes.append(UInt8(ascii: "\n"))
  }
}

/// A table as RFC 4180 has it.
struct CSV {
  private(set) var bytes: [UInt8] = []

  init(header: [String]) { row(header) }

  mutating func row(_ fields: [String]) {
    for (index, field) in fields.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      append(field)
    }
    bytes += [UInt8(ascii: "\r"), UInt8(ascii: "\n")]
  }

  private mutating func append(_ field: String) {
    let quote = UInt8(ascii: "\"")
    let special: Set<UInt8> = [quote, UInt8(ascii: ","), UInt8(ascii: "\r"), UInt8(ascii: "\n")]
    guard field.utf8.contains(where: special.contains) else {
      bytes += field.utf8
      return
    }
    bytes.append(quote)
    for byte in field.utf8 {
      if byte == quote { bytes.append(quote) }
      bytes.append(byte)
    }
    bytes.append(quote)
  }
}
