import Domain
import TLS

/// The broadcast channels of one environment. Owned by the loop.
final class ChannelRegistry {
  enum Policy: Int64 {
    case noneStored = 0
    case newestStored = 1
  }
  private let maximum: Int
  /// By bundle id; only these may broadcast.
  private var channels: [String: [String: Policy]]

  /// `maximum`: channels per app.
  init(bundles: Set<String>, maximum: Int) {
    channels = Dictionary(uniqueKeysWithValues: bundles.map { ($0, [:]) })
    self.maximum = maximum
  }

  func isEnabled(_ bundle: String) -> Bool { channels[bundle] != nil }
  func hasRoom(_ bundle: String) -> Bool { (channels[bundle]?.count ?? 0) < maximum }
  func policy(_ id: String, of bundle: String) -> Policy? { channels[bundle]?[id] }
  func all(_ bundle: String) -> [String] { channels[bundle]?.keys.sorted() ?? [] }

  /// An id for a channel to come; never used twice.
  static func freshID() -> String {
    Base64URL.encode(SecureRandom.bytes(16)).map { $0 == "-" ? "+" : $0 == "_" ? "/" : String($0) }.joined() + "=="
  }
  func create(_ id: String, of bundle: String, _ policy: Policy) { channels[bundle]?[id] = policy }
  func delete(_ id: String, of bundle: String) { channels[bundle]?[id] = nil }

  /// Base64, as all ids are.
  static func isID(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    let padding = bytes.reversed().prefix { $0 == UInt8(ascii: "=") }.count
    guard !bytes.isEmpty, bytes.count <= 256, bytes.count % 4 == 0, padding <= 2 else { return false }
    return bytes.dropLast(padding).allSatisfy {
      switch $0 {
      case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, UInt8(ascii: "+"), UInt8(ascii: "/"): true
      default: false
      }
    }
  }
}
