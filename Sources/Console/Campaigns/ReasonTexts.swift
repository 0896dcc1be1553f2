/// Frequent reasons in plain words, and who does what about them: as docs/outcomes.md has them.
enum ReasonTexts {
  enum Owner {
    case you, sender, app, nobody

    var word: Word {
      switch self {
      case .you: .ownerYou
      case .sender: .ownerSender
      case .app: .ownerApp
      case .nobody: .ownerNobody
      }
    }
  }

  /// Nil: the page shows the API's own word, and what the outcome alone says.
  static func of(_ reason: String) -> (word: Word, owner: Owner)? {
    if let found = known[reason] { return found }
    // Behind these stands the vendor's last answer.
    for start in ["attempts_exhausted", "given_up"] where reason.hasPrefix(start) { return known[start] }
    return nil
  }

  private static let known: [String: (word: Word, owner: Owner)] = [
    "unknown_device": (.reasonUnknownDevice, .sender), "device_deleted": (.reasonDeviceDeleted, .nobody),
    "device_disabled": (.reasonDeviceDisabled, .app), "moved": (.reasonMoved, .nobody),
    "no_credential": (.reasonNoCredential, .you), "kind_unsupported": (.reasonKindUnsupported, .sender),
    "token_kind": (.reasonTokenKind, .nobody), "provider_excluded": (.reasonProviderExcluded, .nobody),
    "attribute_missing": (.reasonAttributeMissing, .sender), "holdout": (.reasonHoldout, .nobody),
    "capped": (.reasonCapped, .nobody), "quiet_hours": (.reasonQuietHours, .sender),
    "local_time": (.reasonLocalTime, .nobody), "paused": (.reasonPaused, .sender),
    "message_expired": (.reasonMessageExpired, .you), "attempts_exhausted": (.reasonAttemptsExhausted, .you),
    "given_up": (.reasonGivenUp, .nobody), "not configured": (.reasonNotConfigured, .you),
    "the request cannot be sent": (.reasonCannotBeSent, .sender), "unsubscribed": (.reasonUnsubscribed, .app),
    "not_subscribed": (.reasonUnsubscribed, .app), "Unregistered": (.reasonUnregistered, .nobody),
    "ExpiredToken": (.reasonUnregistered, .nobody), "UNREGISTERED": (.reasonUnregistered, .nobody),
    "BadDeviceToken": (.reasonWrongToken, .you), "DeviceTokenNotForTopic": (.reasonWrongToken, .you),
    "SENDER_ID_MISMATCH": (.reasonWrongToken, .you), "BadTopic": (.reasonTopic, .you),
    "MissingTopic": (.reasonTopic, .you), "TopicDisallowed": (.reasonTopic, .you),
    "PayloadTooLarge": (.reasonTooLarge, .sender), "INVALID_ARGUMENT": (.reasonInvalidArgument, .sender),
    "THIRD_PARTY_AUTH_ERROR": (.reasonFirebaseKeys, .you), "APNS_AUTH_ERROR": (.reasonFirebaseKeys, .you),
  ]
}

extension CampaignParts {
  /// Counts by reason, the largest first: what it means, who acts, and the API's word.
  /// `isLinked`: each leads to its deliveries.
  static func reasons(of campaign: Campaign, _ texts: Texts, isLinked: Bool, _ html: inout HTML) {
    guard !campaign.counts.isEmpty else { return html.element("p", [.class("empty")], texts[.noOutcomes]) }
    html.table(
      labelledBy: "outcomes-heading",
      [
        (texts[.outcome], false), (texts[.count], true), (texts[.reason], false), (texts[.whoActs], false),
        (texts[.provider], false),
      ]
    ) { html in
      for count in campaign.counts.sorted(by: { $0.count > $1.count }) {
        html.element("tr") { html in
          html.element("th", [.set(.scope, "row")]) { $0.state(count.outcome, texts) }
          html.element("td", [.class("number")]) { html in
            let query = [("state", count.outcome), ("reason", count.reason), ("provider", count.provider)]
            let link = Link(
              parts: ["campaigns", campaign.id, "deliveries"],
              query: query.filter { !$0.1.isEmpty }.map { (name: $0.0, value: $0.1) })
            if isLinked {
              html.element("a", [.href(link)], texts.number(count.count))
            } else {
              html.text(texts.number(count.count))
            }
          }
          let known = ReasonTexts.of(count.reason)
          let fix = Campaign.Part(rawValue: count.outcome)?.fix
          html.element("td") { html in
            html.text(texts[known?.word ?? fix ?? .nothingToDo])
            if !count.reason.isEmpty { html.element("p") { $0.element("q", [.class("answer")], count.reason) } }
          }
          html.element("td", known.map { texts[$0.owner.word] } ?? "")
          html.element("td", count.provider)
        }
      }
    }
  }
}
