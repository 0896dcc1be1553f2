import Domain
import JSON

/// One app of OneSignal's.
struct OneSignalAccount: ProviderAccount {
  let credential: CredentialID
  var provider: ProviderName { .oneSignal }
  /// More in a quarter of an hour disables the app until an administrator enables it again (protocols/onesignal.md section 6).
  var subscriberRule: SubscriberRule? { SubscriberRule(group: "onesignal:\(appID)", within: 900_000) }
  let origin: Origin
  let recipientLimit: Int
  let appID: UUIDBytes
  var quotaGroup: String { "onesignal:\(appID)" }
  let authorization: String
  let isLegacy: Bool

  static let connections = 8

  /// By the language that each subscription has there.
  var choosesLanguage: Bool { true }
  var wire: Wire { .http1(connections: Self.connections) }

  func sampleToken(_ kind: TokenKind, for message: Message) -> String {
    kind == .activity ? message.liveActivity?.activityID ?? "sample-activity" : OneSignalProvider.sampleID
  }

  /// The label of an alias token, `alias:<label>:<id>`; empty for subscription ids. An activity and subscribers that
  /// OneSignal finds itself share their requests with no other.
  func recipientClass(of address: Address) -> String {
    switch address.tokenKind {
    case .activity: "activity:\(address.token)"
    case .subscribers: "subscribers:\(address.token)"
    default: Alias(address.token)?.label ?? ""
    }
  }

  /// Targets and the idempotency key follow the shared members. An activity is named in the path, and its updates have no
  /// key (protocols/onesignal.md section 9).
  func request(_ rendering: Rendering, to recipients: [Address], id: UUIDBytes, authorization: String)
    -> ProviderRequest
  {
    var headers = rendering.headers
    headers.append(Header("authorization", authorization, indexed: false))
    if recipients[0].tokenKind == .activity {
      return ProviderRequest(
        path: rendering.path + Self.activityPath(recipients[0].token), headers: headers,
        body: rendering.head + rendering.tail)
    }
    var writer = JSONWriter(reserving: recipients.count * 40 + 96)
    if recipients[0].tokenKind == .subscribers {
      Self.write(filters: recipients[0].token, to: &writer)
    } else if let label = Alias(recipients[0].token)?.label {
      writer.key("include_aliases")
      writer.beginObject()
      writer.key(label)
      writer.beginArray()
      for recipient in recipients { writer.string(Alias(recipient.token)?.id ?? recipient.token) }
      writer.endArray()
      writer.endObject()
      if rendering.path == Self.createPath { writer.member("target_channel", "push") }
    } else {
      writer.key("include_subscription_ids")
      writer.beginArray()
      for recipient in recipients { writer.string(recipient.token) }
      writer.endArray()
    }
    writer.member("idempotency_key", id.description)
    return ProviderRequest(path: rendering.path, headers: headers, body: rendering.head + writer.bytes + rendering.tail)
  }

  /// The filters as they were made at accept; none: each subscriber. What cannot be read matches nobody.
  private static func write(filters token: String, to writer: inout JSONWriter) {
    let filters = (try? JSON.parse(Array(token.utf8)))?.array
    if filters?.isEmpty == true {
      writer.key("included_segments")
      writer.beginArray()
      writer.string("All")
      writer.endArray()
    } else {
      writer.key("filters")
      writer.value(.array(filters ?? []))
    }
  }

  func makeAuthorization(probeInterval: Int64) -> any Authorization { FixedKey(header: authorization) }

  var facts: CredentialFacts {
    CredentialFacts(kind: isLegacy ? "legacy API key" : "app API key", name: "app \(appID)")
  }
}

/// An API key: nothing to renew. A refused one is `blocked` by its verdict.
struct FixedKey: Authorization {
  let header: String

  mutating func need(now: WallTime) -> AuthorizationNeed { .use(header, fetch: nil) }
  mutating func fetched(_ answer: ProviderAnswer?, now: WallTime) {}
  mutating func refused(_ cause: Retry.Cause, now: WallTime) {}
}

/// A token that names a user instead of a subscription: `alias:<label>:<id>`.
struct Alias: Hashable {
  var label: String
  var id: String

  init?(_ token: String) {
    guard token.hasPrefix("alias:") else { return nil }
    let parts = token.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, !parts[1].isEmpty, !parts[2].isEmpty else { return nil }
    label = String(parts[1])
    id = String(parts[2])
  }
}
