/// Hash tags that spread partitions evenly over the 16,384 slots of a Redis Cluster (design D5).
enum ClusterHashTags {
  static let count = 16_384

  /// CRC-16/XMODEM, as Redis Cluster computes slots.
  static func crc16(_ text: some Sequence<UInt8>) -> Int {
    var crc: UInt16 = 0
    for byte in text {
      crc ^= UInt16(byte) << 8
      for _ in 0..<8 { crc = crc & 0x8000 != 0 ? crc << 1 ^ 0x1021 : crc << 1 }
    }
    return Int(crc)
  }

  static func slot(ofTag tag: String) -> Int { crc16(tag.utf8) % count }

  /// One tag per partition, each in its own equal range of slots; the same for the same number of partitions.
  static func tags(partitions: Int) -> [String] {
    (0..<partitions).map { tag(of: $0, partitions: partitions) }
  }

  static func tag(of partition: Int, partitions: Int) -> String {
    let range = partition * count / partitions..<(partition + 1) * count / partitions
    var attempt = 0
    while true {
      let tag = "\(partition).\(attempt)"
      if range.contains(slot(ofTag: tag)) { return tag }
      attempt += 1
    }
  }

  /// Every tag that partition 0 has for some number of partitions up to 1,024. A tag serves until its range is too
  /// narrow for it, so they are the attempts with a lower slot than all before.
  static let firstTags: [String] = {
    var tags: [String] = []
    var lowest = count
    var attempt = 0
    while lowest >= count / 1_024 {
      let tag = "0.\(attempt)"
      if slot(ofTag: tag) < lowest {
        lowest = slot(ofTag: tag)
        tags.append(tag)
      }
      attempt += 1
    }
    return tags
  }()

  /// FNV-1a with a final mix: where a name lives. Part of the stored layout.
  static func hash(_ first: String, _ second: String, _ third: String? = nil) -> UInt64 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    add(first, to: &hash)
    add(second, to: &hash)
    if let third { add(third, to: &hash) }
    hash = (hash ^ hash >> 33) &* 0xff51_afd7_ed55_8ccd
    hash = (hash ^ hash >> 33) &* 0xc4ce_b9fe_1a85_ec53
    return hash ^ hash >> 33
  }
  private static func add(_ part: String, to hash: inout UInt64) {
    let bytes = part.utf8Span.span
    var sum = hash
    for place in bytes.indices { sum = (sum ^ UInt64(bytes[place])) &* 0x100_0000_01b3 }
    hash = (sum ^ 0xff) &* 0x100_0000_01b3
  }
}
