/// What strangers do to the API. Figures are those of the whole attack.
enum SiegeAttack: String, CaseIterable {
  /// Connections that say nothing.
  case idle
  /// A byte a second, of a head or of a body.
  case slow
  /// Requests with keys that do not exist.
  case keys
  /// Bodies of 20 MiB without a key.
  case bodies
  /// Bodies of 20 MiB to paths that do not exist.
  case paths

  /// `scale`: a share of the whole attack, for a short run.
  func slots(scale: Double) -> Int {
    let whole =
      switch self {
      case .idle: 10_000
      case .slow: 1_000
      case .keys: 100
      case .bodies, .paths: 32
      }
    return max(1, Int(Double(whole) * scale))
  }

  /// Wrong keys a second.
  static let keysPerSecond = 2_000.0
  static let bodySize = 20 << 20

  /// What is sent first on a connection. `number`: of the connection.
  func opening(_ number: Int) -> [UInt8] {
    let text =
      switch self {
      case .idle, .keys: ""
      case .slow:
        number % 2 == 0
          ? "POST /v1/messages HTTP/1.1\r\n"
          : "GET /healthz HTTP/1.1\r\nhost: siege\r\ncontent-length: 10000\r\n\r\n"
      case .bodies: "POST /v1/messages/bulk HTTP/1.1\r\nhost: siege\r\ncontent-length: \(Self.bodySize)\r\n\r\n"
      case .paths: "POST /v1/nowhere HTTP/1.1\r\nhost: siege\r\ncontent-length: \(Self.bodySize)\r\n\r\n"
      }
    return Array(text.utf8)
  }

  static func wrongKey(_ number: Int) -> [UInt8] {
    Array(
      "GET /v1/messages HTTP/1.1\r\nhost: siege\r\nauthorization: Bearer fk_wrong\(number)\r\n\r\n".utf8)
  }
}
