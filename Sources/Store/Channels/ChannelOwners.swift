package import Domain
import RedisClient

/// Which app made a broadcast channel. The channels themselves live at the provider, where apps with one team's key see each
/// other's. Holds nothing but its session, on whose loop it is used.
package struct ChannelOwners: StorePart {
  let session: RedisSession

  init(_ session: RedisSession) { self.session = session }

  /// Notes whose it is.
  package func made(_ channel: String, in place: Environment, by app: AppID) async throws(StoreError) {
    _ = try await ask(RedisCommand("HSET", keys.channels, Self.field(channel, place), app.rawValue))
  }

  /// It is at the provider no more.
  package func gone(_ channel: String, from place: Environment) async throws(StoreError) {
    _ = try await ask(RedisCommand("HDEL", keys.channels, Self.field(channel, place)))
  }

  /// Those of these that no other app has made, in order. Of a channel that was made elsewhere nobody knows whose it is.
  package func open(_ channels: [String], in place: Environment, to app: AppID) async throws(StoreError) -> [String] {
    var found: [String] = []
    for start in stride(from: 0, to: channels.count, by: Self.atOnce) {
      let part = channels[start..<min(channels.count, start + Self.atOnce)]
      var command = RedisCommand("HMGET", keys.channels)
      for channel in part { command.append(Self.field(channel, place)) }
      let owners = try await ask(command).array ?? []
      found += zip(part, owners).filter { $1.text == nil || $1.text == app.rawValue }.map(\.0)
    }
    return found
  }
  private static let atOnce = 1_000

  /// The same for each way to write base64.
  private static func field(_ channel: String, _ place: Environment) -> String {
    place.rawValue + " " + channel.replacing("-", with: "+").replacing("_", with: "/").replacing("=", with: "")
  }
}
