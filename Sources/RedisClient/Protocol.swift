import CHiredis

/// hiredis' formatter: appends `command` in Redis' wire form.
func format(_ command: RedisCommand, into output: inout [UInt8]) {
  let count = command.count
  command.bytes.withUnsafeBytes { bytes in
    withUnsafeTemporaryAllocation(of: UnsafePointer<CChar>?.self, capacity: count) { words in
      withUnsafeTemporaryAllocation(of: Int.self, capacity: count) { lengths in
        // An empty array has no address; hiredis copies nothing then, but wants one.
        let base = bytes.baseAddress ?? UnsafeRawPointer(words.baseAddress!)
        var start = 0
        for (index, end) in command.ends.enumerated() {
          words[index] = (base + start).assumingMemoryBound(to: CChar.self)
          lengths[index] = end - start
          start = end
        }
        var formatted: UnsafeMutablePointer<CChar>?
        let length = redisFormatCommandArgv(
          &formatted, Int32(count), words.baseAddress,
          UnsafeRawPointer(lengths.baseAddress!).assumingMemoryBound(to: Int.self))
        guard length > 0, let formatted else { preconditionFailure("no memory to format a Redis command") }
        output += UnsafeRawBufferPointer(start: formatted, count: Int(length))
        redisFreeCommand(formatted)
      }
    }
  }
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
