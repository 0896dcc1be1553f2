import Domain
import JSON

/// protocols/apns.md sections 9.1 and 9.4: the management of broadcast channels, on a host of its own.
extension APNsAccount: ChannelAccount {
  static let channelHosts: [Environment: Origin] = [
    .production: Origin(host: "api-manage-broadcast.push.apple.com", port: 2196),
    .sandbox: Origin(host: "api-manage-broadcast.sandbox.push.apple.com", port: 2195),
  ]
  private static let policy = "message-storage-policy"

  func request(_ call: ChannelCall, bundleID: String?, id: UUIDBytes, authorization: String) -> ProviderRequest {
    let app = "/1/apps/\(bundleID ?? topic)"
    var headers = [Header(APNsHeader.requestID, id.description, indexed: false)]
    if !authorization.isEmpty { headers.append(Header("authorization", authorization, indexed: false)) }
    switch call {
    case .create(let keepsNewest):
      let body = JSONValue.object([
        JSONMember(Self.policy, .integer(keepsNewest ? 1 : 0)), JSONMember("push-type", .string("LiveActivity")),
      ])
      return ProviderRequest(path: "\(app)/channels", headers: headers, body: body.encoded)
    case .read(let channel):
      headers.append(Header(APNsHeader.channelID, channel, indexed: false))
      return ProviderRequest(method: "GET", path: "\(app)/channels", headers: headers, body: [])
    case .delete(let channel):
      headers.append(Header(APNsHeader.channelID, channel, indexed: false))
      return ProviderRequest(method: "DELETE", path: "\(app)/channels", headers: headers, body: [])
    case .list: return ProviderRequest(method: "GET", path: "\(app)/all-channels", headers: headers, body: [])
    }
  }

  func read(_ answer: ProviderAnswer, to call: ChannelCall) -> ChannelReply {
    let body = try? JSON.parse(answer.body, maximumDepth: 8)
    switch (call, answer.status) {
    case (.create, 200...299):
      guard let id = answer.header(APNsHeader.channelID), !id.isEmpty, Header.isSafeValue(id) else {
        return Self.unreadable(answer)
      }
      return .created(id)
    case (.read, 200...299):
      guard let policy = body?[Self.policy]?.integer else { return Self.unreadable(answer) }
      return .found(keepsNewest: policy == 1)
    case (.list, 200...299):
      guard let channels = body?["channels"]?.array else { return Self.unreadable(answer) }
      return .listed(channels.compactMap(\.string))
    case (.delete, 200...299): return .deleted
    default: return ChannelReasons.reply(to: call, APNsRefusal(answer))
    }
  }

  private static func unreadable(_ answer: ProviderAnswer) -> ChannelReply {
    .refused(ChannelRefusal(.passing, reason: "HTTP \(answer.status) without what it should say"))
  }
}

/// The words of protocols/apns.md section 9.4 where they answer the management of channels.
enum ChannelReasons {
  private static let causes: [String: ChannelRefusal.Cause] = [
    "CannotCreateChannelConfig": .full,
    "FeatureNotEnabled": .credential, "BroadcastFeatureNotEnabled": .credential, "TopicMismatch": .bundle,
    "TopicDisallowed": .bundle, "BadCertificate": .credential, "BadCertificateEnvironment": .credential,
    "MissingProviderToken": .credential, "InvalidProviderToken": .credential,
    "BadEnvironmentKeyIdInToken": .credential, "BadEnvironmentKeyInToken": .credential,
    "ExpiredProviderToken": .authorizationExpired, "UnrelatedKeyIdInToken": .authorizationExpired,
    "TooManyRequests": .passing, "TooManyProviderTokenUpdates": .passing, "InternalServerError": .passing,
    "ServiceUnavailable": .passing, "Shutdown": .passing,
  ]
  private static let unknown: Set<String> = ["BadChannelId", "ChannelNotRegistered"]

  static func reply(to call: ChannelCall, _ refusal: APNsRefusal) -> ChannelReply {
    switch call {
    case .read where unknown.contains(refusal.reason): return .unknown
    // "404 BadPath" is what an id gets that is gone already (observed).
    case .read where refusal.status == 404: return .unknown
    case .delete where unknown.contains(refusal.reason) || refusal.status == 404: return .deleted
    default: break
    }
    let cause = causes[refusal.reason] ?? (refusal.status == 429 || refusal.status >= 500 ? .passing : .request)
    return .refused(ChannelRefusal(cause, reason: refusal.reason, advice: BroadcastReasons.notes[refusal.reason]))
  }
}
