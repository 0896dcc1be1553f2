import Domain
import JSON

/// protocols/onesignal.md sections 3 to 5. One answer speaks for a whole slice; exceptions name the recipients it
/// singles out.
extension OneSignalAccount {
  func judge(_ answer: ProviderAnswer, recipients: [Address]) -> Judgement {
    let reply = OneSignalReply(answer.body)
    let reason = reply?.reason(status: answer.status) ?? "HTTP \(answer.status)"
    switch answer.status {
    case 200, 201, 202: return Self.judgeCreated(reply, answer, recipients)
    case 400: return Self.judgeMalformed(reply, reason, recipients)
    case 401, 403, 422: return Judgement(.blocked(reason: reason))
    // Nobody has joined the activity, or it has ended: the next may find it.
    case 404 where reply != nil && recipients.first?.tokenKind == .activity:
      return Judgement(.rejected(reason: "unknown_activity"))
    // The one thing a create call can fail to find is the app.
    case 404 where reply != nil: return Judgement(.blocked(reason: reason))
    case 429: return Judgement(.retry(Retry(.quota, reason: reason, retryAfter: answer.retryAfter)))
    case 503: return Judgement(.retry(Retry(.serverFault, reason: reason, retryAfter: answer.retryAfter)))
    // The same key goes again, so a second attempt cannot send twice. A 404 or 408 without the service's words is the
    // edge's.
    case 404, 408, 500...599:
      return Judgement(.retry(Retry(.unknownOutcome, reason: reason, retryAfter: answer.retryAfter)))
    default: return Judgement(.rejected(reason: reason))
    }
  }

  static let unsubscribed = "unsubscribed"

  private static func judgeCreated(_ reply: OneSignalReply?, _ answer: ProviderAnswer, _ recipients: [Address])
    -> Judgement
  {
    guard let reply, reply.id != nil || reply.hasErrors else {
      return Judgement(.retry(Retry(.unknownOutcome, reason: "HTTP \(answer.status) without an id")))
    }
    var exceptions: [String: Verdict] = [:]
    if !reply.unsubscribed.isEmpty {
      let named = recipients.filter { reply.unsubscribed.contains($0.token.lowercased()) }
      // Others that the same request reached show that the app is the right one.
      let reachesOthers = reply.id?.isEmpty == false && named.count < recipients.count
      for recipient in named {
        exceptions[recipient.token] = .dead(Death(reason: unsubscribed, isDoubtful: !reachesOthers))
      }
    }
    if let id = reply.id, !id.isEmpty {
      return Judgement(.accepted(id: id), exceptions: exceptions, note: note(reply, answer))
    }
    // Nothing was sent. Explicit ids are marked as unsubscribed only where the service says that they are; a user (alias),
    // an activity or what filters find is never dropped.
    let says = reply.texts.contains { $0.lowercased().contains("not subscribed") }
    let byID = recipients.allSatisfy {
      Alias($0.token) == nil && $0.tokenKind != .activity && $0.tokenKind != .subscribers
    }
    if reply.id != nil, says, byID { return Judgement(.dead(Death(reason: unsubscribed, isDoubtful: true))) }
    let reason = says || !reply.unsubscribed.isEmpty || reply.invalidAliases > 0 ? "not_subscribed" : "not_sent"
    return Judgement(.rejected(reason: reason), exceptions: exceptions, note: note(reply, answer))
  }

  private static func note(_ reply: OneSignalReply, _ answer: ProviderAnswer) -> String? {
    var parts: [String] = []
    if answer.header("idempotent-replayed")?.lowercased() == "true" { parts.append("sent by an earlier attempt") }
    if reply.invalidAliases > 0 { parts.append("\(reply.invalidAliases) unsubscribed subscriptions behind aliases") }
    if reply.warnings > 0 { parts.append("\(reply.warnings) warnings") }
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }

  /// A slice refused for ids that are no UUIDs goes again without these; anything else is the message's fault.
  private static func judgeMalformed(_ reply: OneSignalReply?, _ reason: String, _ recipients: [Address]) -> Judgement {
    let sentences = (reply?.texts ?? []).filter { $0.contains("not a valid UUID") }
    guard !sentences.isEmpty else { return Judgement(.rejected(reason: reason)) }
    var named: Set<String> = []
    for sentence in sentences {
      for word in sentence.split(whereSeparator: { $0.isWhitespace || ",;[]\"'".contains($0) }) {
        named.insert(String(word))
      }
    }
    // Whatever is no UUID will be refused sooner or later; what is one was not meant, even if it is quoted.
    let malformed = recipients.map(\.token).filter { UUIDBytes($0) == nil }
    let told = malformed.filter(named.contains)
    var exceptions: [String: Verdict] = [:]
    for token in told.isEmpty ? malformed : told { exceptions[token] = .rejected(reason: "invalid_subscription_id") }
    if exceptions.isEmpty || exceptions.count == recipients.count {
      return Judgement(.rejected(reason: reason), exceptions: exceptions)
    }
    return Judgement(.retry(Retry(.revised, reason: reason)), exceptions: exceptions)
  }
}
