import Domain
import JSON

/// RFC 8030, sections 5 to 8, and what the services add.
enum WebPushVerdicts {
  static let accepted: Set<Int> = [200, 201, 202]
  /// Apple's words about the token itself.
  private static let aboutSender: Set<String> = ["BadJwtToken", "ExpiredJwtToken", "BadAuthorizationHeader"]

  static func verdict(_ answer: ProviderAnswer) -> Verdict {
    let reason = reason(of: answer)
    switch answer.status {
    case let status where accepted.contains(status): return .accepted(id: answer.header("location").flatMap(id))
    case 410: return .dead(Death(reason: reason))
    // A wrong service or a proxy says the same of subscriptions that live.
    case 404: return .dead(Death(reason: reason, isDoubtful: true))
    // Windows' word for a channel that got too much.
    case 406, 429: return .retry(Retry(.tokenBusy, reason: reason, retryAfter: answer.retryAfter))
    case 408, 502, 504: return .retry(Retry(.unknownOutcome, reason: reason, retryAfter: answer.retryAfter))
    case 500...599: return .retry(Retry(.serverFault, reason: reason, retryAfter: answer.retryAfter))
    // Any other 401 or 403 may mean one subscription, made with another key: the others go on.
    case 401, 403: return aboutSender.contains(reason) ? .blocked(reason: reason) : .rejected(reason: reason)
    default: return .rejected(reason: reason)
    }
  }

  /// The message's own resource, for the record.
  private static func id(_ location: String) -> String? {
    (1...255).contains(location.utf8.count) && location.utf8.allSatisfy { (0x21...0x7e).contains($0) } ? location : nil
  }

  /// A word of the service, or the status.
  private static func reason(of answer: ProviderAnswer) -> String {
    guard answer.body.count <= 4_096, let body = try? JSON.parse(answer.body),
      let word = (body["reason"] ?? body["error"])?.string, (1...40).contains(word.utf8.count),
      word.utf8.allSatisfy({ $0.isASCIILetter || $0.isASCIIDigit || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: " ") }
      )
    else { return "HTTP \(answer.status)" }
    return word
  }
}
