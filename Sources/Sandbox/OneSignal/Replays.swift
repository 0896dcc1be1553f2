import Domain

/// First results by idempotency key, for 30 days.
struct Replays {
  static let lifetime: Int64 = 30 * 86_400_000
  static let maximumKeys = 500_000

  private struct Result {
    var answer: VendorAnswer
    var until: WallTime
  }
  private var results: [String: Result] = [:]
  /// Keys in the order of their first use, from `oldest` on.
  private var order: [String] = []
  private var oldest = 0

  func answer(for key: String, now: WallTime) -> VendorAnswer? {
    guard let result = results[key.lowercased()], now < result.until else { return nil }
    return result.answer
  }

  mutating func remember(_ key: String, _ answer: VendorAnswer, now: WallTime) {
    let key = key.lowercased()
    results[key] = Result(answer: answer, until: now + Self.lifetime)
    order.append(key)
    while order.count - oldest > Self.maximumKeys {
      results[order[oldest]] = nil
      oldest += 1
    }
    if oldest > Self.maximumKeys {
      order.removeFirst(oldest)
      oldest = 0
    }
  }
}
