import Domain

@testable import RedisClient
@testable import Store

extension FuzzTarget {
  /// What comes from Redis: the first byte says in how large pieces. The same bytes at once give the same replies.
  static let replies = FuzzTarget("replies") { bytes in
    var input = FuzzInput(bytes)
    let size = Int(input.byte()) + 1
    let rest = input.bytes()
    // hiredis makes room for as many elements as an array says it has; a Redis that lies about it can stop its gateway anyway.
    guard !rest.split(separator: UInt8(ascii: "*")).contains(where: { $0.prefix { $0.isASCIIDigit }.count > 4 }) else {
      return
    }
    let whole = replies(in: rest, pieces: max(1, rest.count))
    demand(replies(in: rest, pieces: size) == whole, "pieces make no difference")
    for reply in whole {
      _ = (reply.integer, reply.text, reply.isNull)
      _ = JobQueue.read(reply, StreamID(partition: 0, credential: CredentialID(rawValue: "c"), urgency: .bulk))
      _ = SetBlock.words(reply)
    }
  }

  private static func replies(in bytes: [UInt8], pieces size: Int) -> [RedisReply] {
    let reader = ReplyReader()
    var replies: [RedisReply] = []
    for start in stride(from: 0, to: bytes.count, by: size) {
      let piece = Array(bytes[start..<min(start + size, bytes.count)])
      guard piece.withUnsafeBytes({ (try? reader.feed($0)) != nil }) else { return replies }
      do throws(ReplyReader.Broken) {
        while let reply = try reader.next() { replies.append(reply) }
      } catch {
        return replies
      }
    }
    return replies
  }
}
