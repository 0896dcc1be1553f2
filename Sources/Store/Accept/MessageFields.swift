import RedisClient

/// Fields of a message's hash and their values, as a script takes them.
struct MessageFields {
  private(set) var pairs = RedisCommand()

  init(reserving bytes: Int) { pairs.reserve(bytes: bytes) }

  mutating func append(_ name: String, _ value: String) {
    pairs.append(name)
    pairs.append(value)
  }
  mutating func append(_ name: String, _ value: [UInt8]) {
    pairs.append(name)
    pairs.append(value)
  }
  mutating func append(_ name: String, _ value: some BinaryInteger) {
    pairs.append(name)
    pairs.append(value)
  }
}

/// Fields and values of a hash.
func pairs(_ reply: [RedisReply]) -> [(name: [UInt8], value: [UInt8])] {
  stride(from: 0, to: reply.count - 1, by: 2).compactMap { place in
    guard let name = reply[place].bytes, let value = reply[place + 1].bytes else { return nil }
    return (name, value)
  }
}
