/// An answer, owned by Swift: nothing of the C reader lives in it.
package enum RedisReply: Hashable, Sendable {
  case null
  case integer(Int64)
  case status(String)
  case bytes([UInt8])
  case array([RedisReply])
  case error(RedisRefusal)
}

extension RedisReply {
  package var isNull: Bool { if case .null = self { true } else { false } }
  /// A number, also one that Redis keeps as text.
  package var integer: Int64? {
    switch self {
    case .integer(let number): number
    case .bytes(let bytes): Int64(String(decoding: bytes, as: UTF8.self))
    default: nil
    }
  }
  package var bytes: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }
  package var text: String? {
    switch self {
    case .bytes(let bytes): String(decoding: bytes, as: UTF8.self)
    case .status(let text): text
    default: nil
    }
  }
  package var array: [RedisReply]? { if case .array(let items) = self { items } else { nil } }
}
