import Domain
import RedisClient

/// Where a script finds whether a device may be registered with a token: the alias bucket of the token and the index
/// bucket of its own id, which are in one partition. What stands there under the same hash may be another token's.
struct TokenBuckets {
  private let alias: (bucket: String, hash: [UInt8])
  private let own: (bucket: String, hash: UInt32)

  static let hashLength = 8

  init(of derived: DeviceID, _ app: AppID, _ session: RedisSession) {
    let alias = TokenOwners(session).alias(derived, app)
    let own = IndexPlace(derived, app, session.keys)
    self.alias = (alias.key, alias.hash)
    self.own = (session.keys.index(own.partition, app, own.bucket), own.hash)
  }

  func appendKeys(to command: inout RedisCommand) {
    command.append(alias.bucket)
    command.append(own.bucket)
  }

  /// `hashLength` bytes.
  func appendHashes(to wire: inout [UInt8]) {
    wire += alias.hash
    wire.append32(Int(own.hash))
  }
}
