import CHiredis
import Domain

/// Appends `command` in Redis' wire form.
func format(_ command: RedisCommand, into output: inout [UInt8]) {
  output.append(UInt8(ascii: "*"))
  output.appendDigits(of: command.count)
  output.append(UInt8(ascii: "\r"))
  output.append(UInt8(ascii: "\n"))
  output += command.wire
}

/// hiredis' reader: bytes in, answers out. Not usable after it threw.
final class ReplyReader {
  struct Broken: Error {}
  private let reader: UnsafeMutablePointer<redisReader>

  init() {
    guard let reader = redisReaderCreate() else { preconditionFailure("no memory for a Redis reader") }
    self.reader = reader
  }
  deinit { redisReaderFree(reader) }

  func feed(_ bytes: UnsafeRawBufferPointer) throws(Broken) {
    let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
    guard redisReaderFeed(reader, start, bytes.count) == REDIS_OK else { throw Broken() }
  }

  /// The next whole answer, or nil: more bytes are needed.
  func next() throws(Broken) -> RedisReply? {
    var raw: UnsafeMutableRawPointer?
    guard redisReaderGetReply(reader, &raw) == REDIS_OK else { throw Broken() }
    guard let raw else { return nil }
    defer { freeReplyObject(raw) }
    return Self.owned(raw.assumingMemoryBound(to: redisReply.self))
  }

  private static func owned(_ raw: UnsafeMutablePointer<redisReply>) -> RedisReply {
    let reply = raw.pointee
    func bytes() -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: reply.str, count: Int(reply.len)) }
    switch reply.type {
    case REDIS_REPLY_INTEGER: return .integer(Int64(reply.integer))
    case REDIS_REPLY_STRING: return .bytes(Array(bytes()))
    case REDIS_REPLY_STATUS: return .status(String(decoding: bytes(), as: UTF8.self))
    case REDIS_REPLY_ERROR: return .error(RedisRefusal(text: String(decoding: bytes(), as: UTF8.self)))
    case REDIS_REPLY_ARRAY:
      return .array((0..<Int(reply.elements)).map { owned(reply.element[$0]!) })
    default: return .null
    }
  }
}
