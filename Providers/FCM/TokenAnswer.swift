import Domain
import JSON

/// What the token endpoint answered (section 2.1).
enum TokenAnswer: Hashable {
  case token(String, seconds: Int64)
  /// Not the token yet: what the next request takes along.
  case next(String)
  /// Worth another try soon.
  case passing(retryAfter: Int?)
  /// The operator's fault; the text is fit for a log.
  case refused(String)

  private static let passingStatuses: Set<Int> = [408, 429, 500, 502, 503, 504]
  private static let passingErrors: Set<String> = ["internal_failure", "server_error", "temporarily_unavailable"]
  static let longestToken = 16_384
  static let longestReason = 160
  /// Longer words in a description could be part of what was sent, and are left out.
  static let longestWord = 40

  init(_ answer: ProviderAnswer?) {
    guard let answer else {
      self = .passing(retryAfter: nil)
      return
    }
    let body = try? JSON.parse(answer.body, maximumDepth: 8)
    if answer.status == 200 {
      guard let token = body?["access_token"]?.string, Self.isToken(token) else {
        self = .passing(retryAfter: answer.retryAfter)
        return
      }
      self = .token(token, seconds: Self.seconds(body?["expires_in"]))
      return
    }
    // OAuth has a word here, other APIs of the vendor's an object.
    let error = body?["error"]?.string ?? body?["error"]?["status"]?.string
    if Self.passingStatuses.contains(answer.status) || (500...599).contains(answer.status)
      || error.map(Self.passingErrors.contains) == true
    {
      self = .passing(retryAfter: answer.retryAfter)
      return
    }
    let parts = [error ?? "HTTP \(answer.status)", body?["error_description"]?.string].compactMap { $0 }
    self = .refused("token endpoint: " + Self.printable(parts.joined(separator: ": ")))
  }

  static func isToken(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= longestToken && Header.isSafeValue(text)
  }

  private static func seconds(_ value: JSONValue?) -> Int64 {
    switch value {
    case .integer(let number): number
    case .double(let number) where number >= 1 && number <= 1e9: Int64(number)
    case .string(let text): Int64(text) ?? AccessToken.defaultLife
    default: AccessToken.defaultLife
    }
  }

  private static func printable(_ text: String) -> String {
    let words = text.split(whereSeparator: \.isWhitespace).map { word in
      word.utf8.count > longestWord || !word.utf8.allSatisfy { (0x21...0x7e).contains($0) } ? "…" : String(word)
    }
    return String(words.joined(separator: " ").prefix(longestReason))
  }
}
