import Domain

/// A push to a token that no device can have: APNs looks at the authorization first, at the topic next, and at the token last
/// (protocols/apns.md section 11).
extension APNsAccount {
  func probe(authorization: String) -> ProviderRequest? {
    let kind = probeKind
    var headers = [
      Header(APNsHeader.topic, topic.hasSuffix(kind.topicSuffix) ? topic : topic + kind.topicSuffix),
      Header(APNsHeader.pushType, kind.pushType), Header(APNsHeader.priority, kind == .background ? "5" : "10"),
      Header(APNsHeader.expiration, "0"),
    ]
    if !authorization.isEmpty { headers.append(Header("authorization", authorization, indexed: false)) }
    return ProviderRequest(
      path: "/3/device/\(Self.impossibleToken)", headers: headers, body: Array(#"{"aps":{"content-available":1}}"#.utf8)
    )
  }

  func read(probe answer: ProviderAnswer) -> ProbeFinding {
    let refusal = APNsRefusal(answer)
    switch (refusal.status, refusal.reason) {
    case (200, _), (410, _), (_, "BadDeviceToken"), (_, "DeviceTokenNotForTopic"):
      return .proven("APNs refused only the made-up token of the test push (\(refusal.reason)), topic \(topic)")
    case (_, "TopicDisallowed"), (_, "BadTopic"), (_, "MissingTopic"):
      return .refused("\(refusal.reason): the account may not send to \(topic); set topic to a bundle id of its team")
    case (403, _):
      return .refused(
        "\(refusal.reason): compare key_file, key_id and team_id with the developer account, and the environment")
    default: return .unclear(refusal.reason)
    }
  }

  private static let impossibleToken = "00"

  /// One that the account serves.
  private var probeKind: Kind {
    let served = coverage.bundleIDs.map { $0[topic] ?? [] } ?? coverage.tokenKinds
    guard let served, !served.contains(.device) else { return .background }
    if !served.isDisjoint(with: [.pushToStart, .activity, .channel]) { return .liveActivity }
    return served.sorted { $0.rawValue < $1.rawValue }.lazy.compactMap { Kind(rawValue: $0.rawValue) }.first
      ?? .background
  }
}
