import Domain

extension StoredSlice {
  var packed: [UInt8] {
    var packer = Packer()
    packer.number(revision)
    packer.number(members.count)
    for member in members { packer.number(member) }
    return packer.bytes
  }
  init(message: MessageID, partition: Int, number: Int, packed: [UInt8]) throws(Corrupt) {
    var reader = Unpacker(packed)
    let revision = try reader.int()
    var members: [Int] = []
    for _ in 0..<(try reader.int()) {
      guard let member = UInt32(exactly: try reader.int()) else { throw Corrupt() }
      members.append(Int(member))
    }
    guard reader.isAtEnd else { throw Corrupt() }
    self.init(message: message, partition: partition, number: number, revision: revision, members: members)
  }
}
