import Domain
import Intake
import JSON

/// One field of a message with values to try it with.
struct FieldSample {
  /// `notification.badge`; steps through an array are numbers.
  var path: String
  /// JSON; the first that Intake takes and that changes something speaks for the field.
  var values: [String]
  /// What else the field needs: a patch (RFC 7396) of the message, also of the one it is compared with.
  var context: String
  /// Kinds that leave no choice, or that a provider knows fewer steps of.
  var fixedIn: Set<Kind> = []
  /// Why a provider's request need not show it.
  var unseen: [ProviderName: String] = [:]

  init(
    _ path: String, _ values: String..., with context: String = "{}", fixedIn: Set<Kind> = [],
    unseen: [ProviderName: String] = [:]
  ) {
    self.path = path
    self.values = values
    self.context = context
    self.fixedIn = fixedIn
    self.unseen = unseen
  }

  var steps: [String] { path.split(separator: ".").map(String.init) }
  var pointer: String { steps.map { "/" + $0 }.joined() }

  static let all: [FieldSample] = [
    FieldSample("notification.title", #""Another""#),
    FieldSample("notification.subtitle", #""S""#),
    FieldSample("notification.body", #""Another""#),
    FieldSample("notification.title_key", #""K""#, with: #"{"notification":{"title":null}}"#),
    FieldSample("notification.title_args", #"["a"]"#, with: #"{"notification":{"title":null,"title_key":"K"}}"#),
    FieldSample("notification.subtitle_key", #""K""#),
    FieldSample("notification.subtitle_args", #"["a"]"#, with: #"{"notification":{"subtitle_key":"K"}}"#),
    FieldSample("notification.body_key", #""K""#, with: #"{"notification":{"body":null}}"#),
    FieldSample("notification.body_args", #"["a"]"#, with: #"{"notification":{"body":null,"body_key":"K"}}"#),
    FieldSample("notification.localized", #"{"de":{"title":"U","body":"B"}}"#, unseen: byLanguage),
    FieldSample("notification.localized.de.title", #""Ü""#, with: german, unseen: byLanguage),
    FieldSample("notification.localized.de.subtitle", #""U""#, with: german, unseen: byLanguage),
    FieldSample("notification.localized.de.body", #""I""#, with: german, unseen: byLanguage),
    FieldSample("notification.image", #""https://a.example/i.jpg""#),
    FieldSample("notification.link", #""https://a.example/l""#),
    FieldSample("notification.buttons", #"[{"id":"yes","text":"Yes"}]"#),
    FieldSample("notification.buttons.0.id", #""no""#, with: button),
    FieldSample("notification.buttons.0.text", #""No""#, with: button),
    FieldSample("notification.buttons.0.icon", #""https://a.example/b.png""#, with: button),
    FieldSample("notification.buttons.0.url", #""https://a.example/b""#, with: button),
    FieldSample("notification.category", #""ORDER""#),
    FieldSample("notification.thread_id", #""o-1""#),
    FieldSample("notification.badge", "3"),
    FieldSample("notification.sound", #""chime.caf""#),
    FieldSample("notification.sound.name", #""chime.caf""#),
    FieldSample("notification.sound.critical", "true", with: #"{"notification":{"sound":{"name":"a.caf"}}}"#),
    FieldSample(
      "notification.sound.volume", "0.5", with: #"{"notification":{"sound":{"name":"a.caf","critical":true}}}"#),
    FieldSample("notification.interruption_level", #""time-sensitive""#),
    FieldSample("notification.relevance_score", "0.4"),
    FieldSample("notification.launch_image", #""L""#),
    FieldSample("notification.target_content_id", #""W""#),
    FieldSample("notification.filter_criteria", #""F""#),
    FieldSample("notification.icon", #""ic_order""#),
    FieldSample("notification.color", ##""#A1B2C3""##),
    FieldSample("notification.android_channel", #""orders""#),
    FieldSample("notification.android_visibility", #""secret""#),
    FieldSample("notification.android_tag", #""t""#),
    FieldSample("notification.android_count", "4"),
    FieldSample("notification.android_ticker", #""k""#),
    FieldSample("notification.web", #"{"tag":"w"}"#),
    FieldSample("notification.web.icon", #""https://a.example/w.png""#),
    FieldSample("notification.web.badge", #""https://a.example/b.png""#),
    FieldSample("notification.web.require_interaction", "true"),
    FieldSample("notification.web.silent", "true"),
    FieldSample("notification.web.tag", #""w""#),
    FieldSample("data", #"{"k":"v"}"#),
    FieldSample("data.k", #"{"id":[1,true]}"#),
    FieldSample("content_available", "true", fixedIn: [.background]),
    FieldSample(
      "mutable_content", "false", "true", with: #"{"notification":{"image":"https://a.example/i.jpg"}}"#),
    FieldSample("encrypted_body", #""9f8e""#),
    FieldSample("live_activity.event", #""end""#),
    FieldSample("live_activity.activity_id", #""match-8""#),
    FieldSample("live_activity.content_state", #"{"home":7}"#),
    FieldSample("live_activity.attributes_type", #""OtherAttributes""#),
    FieldSample("live_activity.attributes", #"{"matchId":"m8"}"#),
    FieldSample("live_activity.timestamp", "1767220001", unseen: [.oneSignal: "set by OneSignal itself"]),
    FieldSample("live_activity.stale_date", "1767223600"),
    FieldSample("live_activity.dismissal_date", "1767223600"),
    FieldSample("live_activity.relevance_score", "0.5"),
    FieldSample("live_activity.input_push_token", "true"),
    FieldSample("live_activity.input_push_channel", #""dGVzdC1jaGFubmVs""#),
    FieldSample("file_provider.container_identifier", #""other""#),
    FieldSample("file_provider.domain", #""d""#),
    FieldSample("mdm.push_magic", #""OTHER""#),
    FieldSample("priority", #""normal""#, #""high""#, #""low""#, fixedIn: [.background, .voip, .pushToTalk, .mdm]),
    FieldSample("ttl", "60", "20", "0", fixedIn: [.pushToTalk]),
    FieldSample("collapse_key", #""order-881""#),
    FieldSample("analytics_label", #""spring""#),
    FieldSample("overrides.apns.aps", #"{"own":1}"#),
    FieldSample("overrides.apns.headers", #"{"x-own":"1"}"#),
    FieldSample("overrides.fcm.android", #"{"direct_boot_ok":true}"#),
    FieldSample("overrides.fcm.webpush", #"{"data":{"own":"1"}}"#),
    FieldSample("overrides.fcm.apns", #"{"payload":{"own":1}}"#),
    FieldSample("overrides.fcm.validate_only", "true"),
    FieldSample("overrides.onesignal", #"{"huawei_category":"MARKETING"}"#),
  ]
  private static let german = #"{"notification":{"localized":{"de":{"title":"U","body":"B"}}}}"#
  private static let byLanguage: [ProviderName: String] = Dictionary(
    uniqueKeysWithValues: registeredProviders.map {
      ($0.provider.name, "chosen by the gateway for each device's language")
    })
  private static let button = #"{"notification":{"buttons":[{"id":"yes","text":"Yes"}]}}"#

  /// What the gateway itself carries out: no request shows it.
  static let ofTheGateway: Set<String> = [
    "to", "kind", "name", "ordered", "send_at", "send_at_local", "rate_per_second", "quiet_hours", "cap", "variants",
    "error_brake", "holdout", "reach", "topic", "labels", "providers", "keep_receipts", "durability",
    "onesignal_targeting",
  ]
}

/// A message of some kind, as little as it may be.
struct FieldBase {
  var title: String
  var kind: Kind
  /// The events of a Live Activity are tried in this order.
  var documents: [String]

  private init(_ kind: Kind, _ title: String? = nil, _ documents: String...) {
    self.kind = kind
    self.title = title ?? "`\(kind.rawValue)`"
    self.documents = documents.map { document in
      let recipients = document.contains(#""to":"#) ? "" : #","to":{"devices":["d"]}"#
      return #"{"kind":"\#(kind.rawValue)"\#(recipients),\#(document)}"#
    }
  }

  static let all: [FieldBase] = [
    FieldBase(.alert, nil, #""notification":{"title":"T","body":"B"}"#),
    FieldBase(.background, nil, #""data":{"k":"a"}"#),
    FieldBase(.liveActivity, nil, update + "," + texts, start + "," + texts, end),
    FieldBase(.liveActivity, "`live_activity` to a channel", channel + update + "," + texts, channel + end),
    FieldBase(.voip, nil, #""data":{"k":"a"}"#), FieldBase(.location, nil, #""data":{"k":"a"}"#),
    FieldBase(.complication, nil, #""data":{"k":"a"}"#),
    FieldBase(.fileProvider, nil, #""file_provider":{"container_identifier":"c"}"#),
    FieldBase(.mdm, nil, #""mdm":{"push_magic":"M"}"#), FieldBase(.pushToTalk, nil, #""data":{"k":"a"}"#),
    FieldBase(.widgets, nil, #""ordered":true"#), FieldBase(.controls, nil, #""ordered":true"#),
  ]

  private static let texts = #""notification":{"title":"T","body":"B"}"#
  private static let channel = #""to":{"channel":{"id":"dGVzdC1jaGFubmVs"}},"#
  private static let update =
    #""live_activity":{"event":"update","activity_id":"match-7","timestamp":1767220000,"content_state":{"home":2}}"#
  private static let start =
    #""live_activity":{"event":"start","activity_id":"match-7","timestamp":1767220000,"content_state":{"home":2},"attributes_type":"MatchAttributes","attributes":{"matchId":"m7"}}"#
  private static let end =
    #""live_activity":{"event":"end","activity_id":"match-7","timestamp":1767220000,"content_state":{"home":2}}"#
}
