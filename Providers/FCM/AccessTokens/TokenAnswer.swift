import Domain
import JSON

/// What the token endpoint answered (protocols/fcm.md section 2.1).
enum TokenAnswer: Hashable {
  case token(String, seconds: Int64)
  /// Not the token yet: what the next request takes along.
  case next(String)
  /// Worth another try soon; the text is fit for a log.
  case passing(String, retryAfter: Int?)
  /// The operator's fault; the text is fit for a log.
  case refused(String)

  private static let passingStatuses: Set<Int> = [408, 429, 500, 502, 503, 504]
  private static let passingErrors: Set<String> = ["internal_failure", "server_error", "temporarily_unavailable"]
  /// Seconds.
  private static let longestLife: Int64 = 1_000_000_000
  private static let endpoint = "token endpoint"
  static let longestToken = 16_384
  static let longestReason = 160
  /// Longer words in a description could be part of what was sent, and are left out.
  static let longestWord = 40

  init(_ answer: ProviderAnswer?) {
    guard let answer else {
      self = .passing("\(Self.endpoint) does not answer", retryAfter: nil)
      return
    }
    let body = try? JSON.parse(answer.body, maximumDepth: 8)
    if answer.status == 200 {
      guard let token = body?["access_token"]?.string, Self.isToken(token) else {
        self = .passing("\(Self.endpoint) gives no token", retryAfter: answer.retryAfter)
        return
      }
      self = .token(token, seconds: Self.seconds(body?["expires_in"]))
      return
    }
    // OAuth has a word here, other APIs of the vendor's an object.
    let error = body?["error"]?.string ?? body?["error"]?["status"]?.string
    // The endpoint is one address: who is sent elsewhere has met a proxy, a portal or a fault, and no word on the account.
    if Self.passingStatuses.contains(answer.status) || (300...399).contains(answer.status)
      || (500...599).contains(answer.status)
      || error.map(Self.passingErrors.contains) == true
    {
      self = .passing("\(Self.endpoint): HTTP \(answer.status)", retryAfter: answer.retryAfter)
      return
    }
    let parts = [error ?? "HTTP \(answer.status)", body?["error_description"]?.string].compactMap { $0 }
    self = .refused("\(Self.endpoint): " + Self.printable(parts.joined(separator: ": ")))
  }

  static func isToken(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= longestToken && Header.isSafeValue(text)
  }

  private static func seconds(_ value: JSONValue?) -> Int64 {
    switch value {
    case .integer(let number): bounded(number)
    case .double(let number) where number >= 1 && number <= Double(longestLife): Int64(number)
    case .string(let text): Whole.read(text, in: Int64.min...Int64.max).map(bounded) ?? AccessToken.defaultLife
    default: AccessToken.defaultLife
    }
  }

  private static func bounded(_ seconds: Int64) -> Int64 { min(max(seconds, 1), longestLife) }

  private static func printable(_ text: String) -> String {
    let words = text.split(whereSeparator: \.isWhitespace).map { word in
      word.utf8.count > longestWord || !word.utf8.allSatisfy { (0x21...0x7e).contains($0) } ? "…" : String(word)
    }
    return String(words.joined(separator: " ").prefix(longestReason))
  }
}
