import Domain
import RedisClient

/// Sets of device numbers of one app and partition, in blocks of 65,536 (design D8): a Redis set of small integers while a
/// block holds few, a bitmap beyond; the Redis type itself records which. Changed only inside `writeDevice`.
enum DeviceSets {
  static let blockSize = 65_536
  /// Words of 64 bits in a block.
  static let blockWords = blockSize / 64
  /// Members of a block from which it is a bitmap: at 2 bytes each the set would be as large. Also the size up to which
  /// Redis keeps integer sets compact (`set-max-intset-entries`).
  static let setLimit = 4_000

  /// Receives devices: live and enabled.
  static let active = "active"

  /// The sets a device belongs to. All but `active` hold tombstones and disabled devices as well.
  static func names(of stored: StoredDevice) -> Set<String> {
    let device = stored.device
    var names: Set = ["provider:" + device.address.provider.rawValue]
    if let platform = device.platform { names.insert("platform:" + platform) }
    if let language = device.language { names.insert("lang:" + language.lowercased()) }
    for tag in device.tags { names.insert("tag:" + tag) }
    if stored.tombstone == nil, device.enabled { names.insert(active) }
    return names
  }

  /// Words of a block, bit `n % 64` of word `n / 64` for number `n` of the block, from what `readBlock` answers.
  static func words(_ reply: RedisReply) -> [UInt64] {
    var words = [UInt64](repeating: 0, count: blockWords)
    switch reply {
    case .bytes(let bitmap):
      // Redis' bit 0 is the high bit of byte 0.
      for (place, byte) in bitmap.prefix(blockSize / 8).enumerated() where byte != 0 {
        for bit in 0..<8 where byte & (0x80 >> UInt8(bit)) != 0 {
          let number = place * 8 + bit
          words[number / 64] |= 1 << UInt64(number % 64)
        }
      }
    case .array(let members):
      for member in members {
        guard let offset = member.integer else { continue }
        let number = Int(offset) + blockSize / 2
        guard (0..<blockSize).contains(number) else { continue }
        words[number / 64] |= 1 << UInt64(number % 64)
      }
    default: break
    }
    return words
  }
}

extension Store {
  /// The words of one block of several sets, in the order of their names.
  func blocks(_ names: [String], block: Int, partition: Int, app: AppID) async throws(StoreError) -> [[UInt64]] {
    guard !names.isEmpty else { return [] }
    let reply = try await ask(
      Scripts.readBlock, keys: names.map { keys.set(partition, app, $0, block: block) }, [], partition: partition)
    return (reply.array ?? []).map(DeviceSets.words)
  }

  /// How many blocks a partition's numbers of an app fill.
  func blockCount(partition: Int, app: AppID) async throws(StoreError) -> Int {
    let last = try await ask(RedisCommand("GET", keys.lastNumber(partition, app))).integer ?? 0
    return (Int(last) + DeviceSets.blockSize - 1) / DeviceSets.blockSize
  }
}
