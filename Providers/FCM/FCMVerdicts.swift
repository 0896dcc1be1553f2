import Domain

/// protocols/fcm.md section 5, read in its order: FCM's own code, what APNs said, google.rpc details, status, HTTP
/// code.
///
/// Nothing here prunes on a doubt: a 404 without UNREGISTERED, an APNs reason without FCM's own code, an
/// INVALID_ARGUMENT that names a field. A malformed token is told from a bad payload by the vendor's own sentence about the
/// registration token in an error that names no field; payloads have passed the renderer's checks before.
enum FCMVerdicts {
  /// FCM's own codes. Nil: goes on to the next source.
  static let byCode: [String: @Sendable (FCMError) -> Verdict?] = [
    "UNREGISTERED": { [400, 404, 410].contains($0.http) ? .dead(Death(reason: "UNREGISTERED")) : nil },
    "INVALID_ARGUMENT": invalidArgument,
    // The project's own credential for Apple or the web: Android devices go on, so the account is not suspended.
    "THIRD_PARTY_AUTH_ERROR": {
      .rejected(reason: $0.apnsReason.map { "THIRD_PARTY_AUTH_ERROR \($0)" } ?? "THIRD_PARTY_AUTH_ERROR")
    },
    "APNS_AUTH_ERROR": { _ in .rejected(reason: "THIRD_PARTY_AUTH_ERROR") },
    "SENDER_ID_MISMATCH": { $0.http == 403 ? .dead(Death(reason: "SENDER_ID_MISMATCH", isDoubtful: true)) : nil },
    "QUOTA_EXCEEDED": { $0.retry($0.concernsDevice ? .tokenBusy : .quota) },
    "INTERNAL": { $0.retry(.serverFault) },
    "UNAVAILABLE": { $0.retry(.serverFault) },
  ]

  /// google.rpc codes.
  static let byStatus: [String: @Sendable (FCMError) -> Verdict?] = [
    "INVALID_ARGUMENT": { .rejected(reason: $0.reason) },
    "UNAUTHENTICATED": { $0.retry(.authorizationExpired) },
    "PERMISSION_DENIED": { .blocked(reason: $0.reason) },
    // The project does not exist under this name: every message would fail.
    "NOT_FOUND": { .blocked(reason: $0.reason) },
    "RESOURCE_EXHAUSTED": { $0.retry(.quota) },
    "INTERNAL": { $0.retry(.serverFault) },
    "UNAVAILABLE": { $0.retry(.serverFault) },
  ]

  /// APNs' words that end a token.
  static let deadOnApple: Set<String> = ["BadDeviceToken", "DeviceTokenNotForTopic", "Unregistered"]

  static func verdict(_ error: FCMError) -> Verdict {
    if let code = error.code, let verdict = byCode[code]?(error) { return verdict }
    if error.namesField, error.http == 400 { return .rejected(reason: error.reason) }
    if error.errorInfo == "RATE_LIMIT_EXCEEDED", error.http == 429 { return error.retry(.quota) }
    // A status that contradicts the HTTP code is not believed.
    if let status = error.status, http[status] == error.http, let verdict = byStatus[status]?(error) { return verdict }
    return byHTTP(error)
  }

  private static let http = [
    "INVALID_ARGUMENT": 400, "UNAUTHENTICATED": 401, "PERMISSION_DENIED": 403, "NOT_FOUND": 404,
    "RESOURCE_EXHAUSTED": 429, "INTERNAL": 500, "UNAVAILABLE": 503,
  ]

  private static func byHTTP(_ error: FCMError) -> Verdict {
    switch error.http {
    case 401: error.retry(.authorizationExpired)
    case 403: .blocked(reason: error.reason)
    // Without the service's own words it comes from the edge.
    case 404: error.retry(.serverFault)
    case 408: error.retry(.unknownOutcome)
    case 429: error.retry(.quota)
    case 502, 504: error.retry(.unknownOutcome)
    case 500...599: error.retry(.serverFault)
    default: .rejected(reason: error.reason)
    }
  }

  /// What APNs says of a request with the token of a Live Activity is about that token: the registration beside it lives.
  static func ofActivity(_ verdict: Verdict, _ error: FCMError, _ token: String?) -> Verdict? {
    guard let token, error.apnsReason != nil, case .dead(var death) = verdict else { return nil }
    death.token = token
    return .dead(death)
  }

  private static let invalidArgument: @Sendable (FCMError) -> Verdict? = { error in
    guard error.http == 400 else { return nil }
    if let reason = error.apnsReason {
      return
        deadOnApple.contains(reason)
        ? .dead(Death(reason: reason, isDoubtful: reason != "Unregistered")) : .rejected(reason: "APNs \(reason)")
    }
    if !error.namesField, error.concernsRegistration {
      return .dead(Death(reason: "INVALID_ARGUMENT", isDoubtful: true))
    }
    return .rejected(reason: error.reason)
  }
}

extension FCMAccount {
  func judge(_ answer: ProviderAnswer, recipients: [Address]) -> Judgement {
    guard answer.status == 200 else {
      let error = FCMError(answer)
      let verdict = FCMVerdicts.verdict(error)
      return Judgement(
        FCMVerdicts.ofActivity(verdict, error, recipients.first?.liveActivityToken) ?? verdict, note: error.note)
    }
    // A 200 without a name is no acceptance that could be relied on.
    guard let name = FCMError.messageName(answer.body) else {
      return Judgement(.retry(Retry(.unknownOutcome, reason: "HTTP 200 without a message name")))
    }
    return Judgement(.accepted(id: name))
  }
}
