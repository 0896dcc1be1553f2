import APNs
import Domain
import FCM
import JSON
import OneSignal
import TLS
import Testing

/// What vendors have said to senders whose settings, and not whose tokens, were wrong; and what they say in bad hours.
struct Accident: Sendable, CustomTestStringConvertible {
  var name: String
  var provider: ProviderName
  var status: Int
  /// `%s`: the tokens of the request.
  var body: String
  var testDescription: String { "\(provider.rawValue): \(name)" }

  private static func apns(_ name: String, _ status: Int, _ reason: String) -> Accident {
    Accident(
      name: name, provider: .apns, status: status, body: #"{"reason":"\#(reason)","timestamp":4102444800000}"#)
  }
  private static func fcm(
    _ name: String, _ status: Int, _ word: String, code: String?, _ message: String = "Sorry.", detail: String? = nil
  ) -> Accident {
    let own = code.map { #"{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"\#($0)"}"# }
    let details = [own, detail].compactMap { $0 }.joined(separator: ",")
    return Accident(
      name: name, provider: .fcm, status: status,
      body: #"{"error":{"code":\#(status),"message":"\#(message)","status":"\#(word)","details":[\#(details)]}}"#)
  }
  private static func oneSignal(_ name: String, _ status: Int, _ body: String) -> Accident {
    Accident(name: name, provider: .oneSignal, status: status, body: body)
  }

  private static let notAToken = "The registration token is not a valid FCM registration token"
  private static let field =
    #"{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"message.data[0].value","description":"Invalid"}]}"#
  private static func apple(_ status: Int, _ reason: String) -> String {
    #"{"@type":"type.googleapis.com/google.firebase.fcm.v1.ApnsError","statusCode":\#(status),"reason":"\#(reason)"}"#
  }

  static let all: [Accident] = [
    apns("wrong team key", 403, "InvalidProviderToken"),
    apns("wrong environment of the tokens", 400, "BadDeviceToken"),
    apns("wrong environment of the key", 403, "BadEnvironmentKeyInToken"),
    apns("wrong topic", 400, "DeviceTokenNotForTopic"),
    apns("topic not allowed", 400, "TopicDisallowed"),
    apns("expired provider token", 403, "ExpiredProviderToken"),
    apns("no provider token", 403, "MissingProviderToken"),
    apns("payload too large", 413, "PayloadTooLarge"),
    apns("500", 500, "InternalServerError"), apns("503", 503, "ServiceUnavailable"),
    apns("a reason never seen", 400, "TokenFeelsUnwell"),
    apns("a reason never seen, with 410", 410, "TokenFeelsUnwell"),
    Accident(name: "410 without a reason", provider: .apns, status: 410, body: ""),
    Accident(name: "410 without an instant", provider: .apns, status: 410, body: #"{"reason":"Unregistered"}"#),
    fcm("wrong project", 403, "PERMISSION_DENIED", code: "SENDER_ID_MISMATCH"),
    fcm("wrong project, without FCM's word", 404, "NOT_FOUND", code: nil),
    fcm("invalid access token", 401, "UNAUTHENTICATED", code: nil),
    fcm("wrong key for Apple", 401, "UNAUTHENTICATED", code: "THIRD_PARTY_AUTH_ERROR"),
    fcm("payload too large", 400, "INVALID_ARGUMENT", code: "INVALID_ARGUMENT", "Message too big"),
    fcm("INVALID_ARGUMENT without a token message", 400, "INVALID_ARGUMENT", code: "INVALID_ARGUMENT"),
    fcm("INVALID_ARGUMENT of a field", 400, "INVALID_ARGUMENT", code: "INVALID_ARGUMENT", notAToken, detail: field),
    fcm("every token malformed", 400, "INVALID_ARGUMENT", code: "INVALID_ARGUMENT", notAToken),
    fcm(
      "wrong environment at Apple", 400, "INVALID_ARGUMENT", code: "INVALID_ARGUMENT",
      detail: apple(400, "BadDeviceToken")),
    Accident(name: "HTML 404", provider: .fcm, status: 404, body: "<html><title>Error 404</title></html>"),
    fcm("500", 500, "INTERNAL", code: "INTERNAL"), fcm("503", 503, "UNAVAILABLE", code: "UNAVAILABLE"),
    fcm("a reason never seen", 404, "NOT_FOUND", code: "TOKEN_FEELS_UNWELL"),
    oneSignal("wrong app", 200, #"{"id":"","errors":["All included players are not subscribed"]}"#),
    oneSignal("unknown subscriptions", 200, #"{"id":"b988","errors":{"invalid_player_ids":["%s"]}}"#),
    oneSignal("wrong key", 403, #"{"errors":["Access denied."]}"#),
    oneSignal("payload too large", 400, #"{"errors":["Data must be no more than 2048 bytes long"]}"#),
    oneSignal("503", 503, ""), oneSignal("a reason never seen", 400, #"{"errors":["Subscriptions feel unwell"]}"#),
  ]

  /// The vendor's own table of verdicts.
  func account() throws -> any ProviderAccount {
    let id = CredentialID(rawValue: "shop/\(provider.rawValue)")
    var credential = Credential(id: id, app: Post.app, provider: provider)
    switch provider {
    case .apns:
      credential.texts = ["key_id": "KEY1234567", "team_id": "TEAM123456", "topic": "com.example.app"]
      credential.files = ["key_file": Self.apnsKey]
      return try APNsProvider().open(credential)
    case .fcm:
      credential.files = ["service_account_file": Self.serviceAccount]
      return try FCMProvider().open(credential)
    default:
      credential.texts = ["app_id": "8250eaf6-1a58-489e-b136-7c74a864b434"]
      credential.files = ["api_key_file": Array("os_v2_app_secret\n".utf8)]
      return try OneSignalProvider().open(credential)
    }
  }

  private static let apnsKey = SigningKey.generate(.es256).pem
  private static let serviceAccount: [UInt8] = {
    let pem = String(decoding: SigningKey.generate(.rs256).pem, as: UTF8.self)
    return JSONValue.object([
      JSONMember("type", .string("service_account")), JSONMember("project_id", .string("demo-app")),
      JSONMember("private_key_id", .string("k1")), JSONMember("private_key", .string(pem)),
      JSONMember("client_email", .string("push@demo-app.iam.gserviceaccount.com")),
      JSONMember("token_uri", .string("https://oauth2.googleapis.com/token")),
    ]).encoded
  }()
}

/// Requests as plain as can be, judged by a vendor's own table.
struct JudgedAccount: ProviderAccount {
  func probe(authorization: String) -> ProviderRequest? { ProviderRequest(path: "/", headers: [], body: []) }
  func read(probe answer: ProviderAnswer) -> ProbeFinding { .unclear("nobody is asked") }
  var plain: PlainAccount
  var judge: any ProviderAccount
  var facts: CredentialFacts { plain.facts }
  var credential: CredentialID { plain.credential }
  var provider: ProviderName { plain.provider }
  var origin: Origin { plain.origin }
  var wire: Wire { plain.wire }
  var recipientLimit: Int { plain.recipientLimit }

  func render(_ message: Message, startedAt: WallTime) throws(RenderFault) -> Rendering {
    try plain.render(message, startedAt: startedAt)
  }
  func recipientClass(of address: Address) -> String { "" }
  func request(_ rendering: Rendering, to recipients: [Address], id: UUIDBytes, authorization: String)
    -> ProviderRequest
  {
    plain.request(rendering, to: recipients, id: id, authorization: authorization)
  }
  func judge(_ answer: ProviderAnswer, recipients: [Address]) -> Judgement {
    judge.judge(answer, recipients: recipients)
  }
  func makeAuthorization(probeInterval: Int64) -> any Authorization {
    plain.makeAuthorization(probeInterval: probeInterval)
  }
}
