import CSimdJSON
package import Domain

/// How much one document may hold. Counted before any value is made.
package struct JSONLimits: Sendable {
  /// Nested arrays and objects; at most 1,000.
  package var depth: Int
  /// Members of one object.
  package var members: Int
  /// Values of the whole document: objects and arrays count as well.
  package var values: Int

  /// `values` without a number: no bound of its own. The defaults suit requests of the API.
  package init(depth: Int = 64, members: Int = 10_000, values: Int = Int(Int32.max)) {
    self.depth = depth
    self.members = members
    self.values = values
  }
}

/// Reads JSON strictly (RFC 8259, UTF-8 only, no duplicate keys).
package enum JSON {
  /// With the other limits' defaults.
  package static func parse(_ bytes: [UInt8], maximumDepth: Int) throws(JSONFault) -> JSONValue {
    try parse(bytes, JSONLimits(depth: maximumDepth))
  }

  /// Parses one document.
  ///
  /// Whole numbers from -2^63 to 2^64-1 stay exact; others are refused, as are numbers beyond a double. Two keys that
  /// Unicode holds equal (a letter with its accent, composed or not) count as one.
  package static func parse(_ bytes: [UInt8], _ limits: JSONLimits = JSONLimits()) throws(JSONFault) -> JSONValue {
    precondition((0...1000).contains(limits.depth), "simdjson nests 1,024 deep")
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
      throw JSONFault(detail: "the text starts with a byte order mark: send UTF-8 without one", offset: 0)
    }
    var nodes: UnsafePointer<fanfare_json_node>?
    var pointer: UnsafePointer<CChar>?
    let bounds = fanfare_json_limits(
      depth: UInt32(limits.depth), members: UInt32(limits.members), values: UInt32(limits.values))
    let result = bytes.withUnsafeBufferPointer { buffer in
      fanfare_json_parse(buffer.baseAddress, buffer.count, bounds, &nodes, &pointer)
    }
    switch fanfare_json_result(rawValue: UInt32(result)) {
    case fanfare_json_parsed:
      var tree = Tree(next: nodes!)
      return try tree.value()
    case fanfare_json_no_memory:
      throw JSONFault(detail: "the text is too large to read")
    case fanfare_json_too_many_members:
      throw JSONFault(
        detail: "an object has more than \(limits.members) members: no request needs as many; leave some out",
        crowded: pointer.map { String(cString: $0) } ?? "")
    case fanfare_json_too_many_values:
      throw JSONFault(detail: "the text holds more than \(limits.values) values: send it in parts", crowded: "")
    default:
      throw FaultFinder.fault(in: bytes, maximumDepth: limits.depth)
    }
  }
}

/// Rebuilds values from the shim's nodes, which lie in depth-first order.
private struct Tree {
  var next: UnsafePointer<fanfare_json_node>

  mutating func value() throws(JSONFault) -> JSONValue {
    let node = next
    next += 1
    switch fanfare_json_type(rawValue: UInt32(node.pointee.type)) {
    case fanfare_json_false: return .bool(false)
    case fanfare_json_true: return .bool(true)
    case fanfare_json_integer: return .integer(Int64(bitPattern: node.pointee.number))
    case fanfare_json_unsigned: return .unsigned(node.pointee.number)
    case fanfare_json_double: return .double(Double(bitPattern: node.pointee.number))
    case fanfare_json_string: return .string(text(node.pointee.text, node.pointee.length))
    case fanfare_json_array:
      var items: [JSONValue] = []
      items.reserveCapacity(Int(node.pointee.children))
      for _ in 0..<node.pointee.children { items.append(try value()) }
      return .array(items)
    case fanfare_json_object: return .object(try members(Int(node.pointee.children)))
    default: return .null
    }
  }

  private mutating func members(_ count: Int) throws(JSONFault) -> [JSONMember] {
    var members: [JSONMember] = []
    members.reserveCapacity(count)
    // Up to here comparing beats hashing.
    var seen: Set<String>? = count > 12 ? Set(minimumCapacity: count) : nil
    for _ in 0..<count {
      let key = text(next.pointee.key, next.pointee.key_length)
      let isNew = seen?.insert(key).inserted ?? !members.contains { $0.key == key }
      guard isNew else {
        throw JSONFault(detail: "an object has the key \(FaultFinder.shown(key)) twice: send it once")
      }
      members.append(JSONMember(key, try value()))
    }
    return members
  }

  private func text(_ start: UnsafePointer<UInt8>?, _ count: UInt32) -> String {
    String(decoding: UnsafeBufferPointer(start: start, count: Int(count)), as: UTF8.self)
  }
}

/// Why a text is refused: bad syntax, a key twice, or more than `JSONLimits` allow.
package struct JSONFault: Error, Hashable, Sendable {
  /// What is wrong, for a problem document.
  package var detail: String
  /// Byte offset, where known.
  package var offset: Int?
  /// JSON pointer of what holds more than it may; nil where that is not the fault.
  package var crowded: String?
  /// The detail of a text that holds nothing.
  package static let empty = "the text is empty: a JSON value is expected"
  /// `offset`: in bytes, from 0.
  package init(detail: String, offset: Int? = nil, crowded: String? = nil) {
    self.detail = detail
    self.offset = offset
    self.crowded = crowded
  }
}
