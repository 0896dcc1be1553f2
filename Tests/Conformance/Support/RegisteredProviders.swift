import APNs
import Domain
import FCM
import JSON
import OneSignal
import Sandbox
import TLS
import WebPush

/// A new provider adds itself here and changes nothing else in the suite.
let registeredProviders: [ProviderUnderTest] = [.apns, .fcm, .oneSignal, .webPush]

/// Keys made once: an RSA key takes its time.
enum TestKeys {
  static let apns = SigningKey.generate(.es256)
  static let fcm = SigningKey.generate(.rs256)
  static let vapid = SigningKey.generate(.es256)
}

extension ProviderUnderTest {
  static let apnsToken = "80a1f0c2d4e6b8a00112233445566778899aabbccddeeff00112233445566778"
  static let subscription = "1dd608f2-c6a1-11e3-851d-000c2940e62c"

  static let apns: Self = {
    var credential = Credential(id: CredentialID(rawValue: "demo/apns"), app: demo, provider: .apns)
    credential.texts = ["key_id": "KEY1234567", "team_id": "TEAM123456", "topic": "com.example.app"]
    credential.files = ["key_file": TestKeys.apns.pem]
    var injection = Overrides()
    injection.apnsHeaders = [JSONMember("x-note", .string("a\r\nauthorization: b"))]
    var reserved = Overrides()
    reserved.apnsHeaders = [JSONMember("Authorization", .string("bearer x"))]
    var pseudo = Overrides()
    pseudo.apnsHeaders = [JSONMember(":path", .string("/3/device/00"))]
    var name = Overrides()
    name.apnsHeaders = [JSONMember("x note\r\n", .string("a"))]
    return Self(
      provider: APNsProvider(), credential: credential, secrets: secrets(in: TestKeys.apns.pem),
      address: Address(provider: .apns, token: apnsToken),
      answers: Answers(
        accepted: ProviderAnswer(status: 200, headers: [Header("apns-id", someID.description)]),
        acceptedID: someID.description, dead: ProviderAnswer(400, #"{"reason":"BadDeviceToken"}"#),
        throttled: ProviderAnswer(429, #"{"reason":"TooManyRequests"}"#, retryAfter: 7),
        rejected: ProviderAnswer(400, #"{"reason":"BadCollapseId"}"#),
        blocked: ProviderAnswer(403, #"{"reason":"InvalidProviderToken"}"#),
        serverFault: ProviderAnswer(500, #"{"reason":"InternalServerError"}"#),
        wording: { ProviderAnswer($0, #"{"reason":"\#($1)","timestamp":1767200000000}"#) }),
      bodyLimit: 4096, hostileOverrides: [injection, reserved, pseudo, name])
  }()

  static let fcm: Self = {
    var credential = Credential(id: CredentialID(rawValue: "demo/fcm"), app: demo, provider: .fcm)
    credential.files = ["service_account_file": serviceAccount()]
    var injection = Overrides()
    injection.fcmAPNs = [JSONMember("headers", .object([JSONMember("apns-topic", .string("a\nb"))]))]
    var web = Overrides()
    web.fcmWebpush = [JSONMember("headers", .object([JSONMember("X\r\nY", .string("a"))]))]
    return Self(
      provider: FCMProvider(), credential: credential, secrets: secrets(in: TestKeys.fcm.pem),
      address: Address(provider: .fcm, token: "dXk:APA91bExample"),
      answers: Answers(
        accepted: ProviderAnswer(200, #"{"name":"projects/demo-app/messages/0:1767220000000000%31bd"}"#),
        acceptedID: "projects/demo-app/messages/0:1767220000000000%31bd",
        dead: ProviderAnswer(404, fcmError(404, "NOT_FOUND", code: "UNREGISTERED")),
        throttled: ProviderAnswer(429, fcmError(429, "RESOURCE_EXHAUSTED", code: "QUOTA_EXCEEDED"), retryAfter: 7),
        rejected: ProviderAnswer(400, fcmError(400, "INVALID_ARGUMENT", code: "INVALID_ARGUMENT")),
        blocked: ProviderAnswer(403, fcmError(403, "PERMISSION_DENIED", code: nil)),
        serverFault: ProviderAnswer(503, fcmError(503, "UNAVAILABLE", code: "UNAVAILABLE")),
        wording: { ProviderAnswer($0, fcmError($0, $1, code: $1)) }),
      bodyLimit: 4096, hostileOverrides: [injection, web],
      tokenAnswer: ProviderAnswer(200, #"{"access_token":"ya29.x","expires_in":3599,"token_type":"Bearer"}"#))
  }()

  static let oneSignal: Self = {
    var credential = Credential(id: CredentialID(rawValue: "demo/onesignal"), app: demo, provider: .oneSignal)
    credential.texts = ["app_id": "8250eaf6-1a58-489e-b136-7c74a864b434"]
    credential.files = ["api_key_file": Array("os_v2_app_verysecretvalue\n".utf8)]
    let targets = ["included_segments", "include_aliases", "filters", "app_id", "idempotency_key", "target_channel"]
    return Self(
      provider: OneSignalProvider(), credential: credential, secrets: ["verysecretvalue"],
      address: Address(provider: .oneSignal, token: subscription),
      answers: Answers(
        accepted: ProviderAnswer(200, #"{"id":"b98881cc-1e94-4366-bbd9-db8f3429292b","external_id":null}"#),
        acceptedID: "b98881cc-1e94-4366-bbd9-db8f3429292b",
        dead: ProviderAnswer(200, #"{"id":"b988","errors":{"invalid_player_ids":["\#(subscription)"]}}"#),
        throttled: ProviderAnswer(429, #"{"errors":["API rate limit exceeded"]}"#, retryAfter: 7),
        rejected: ProviderAnswer(
          400, #"{"errors":["Message Notifications must have English language content"]}"#),
        blocked: ProviderAnswer(403, #"{"errors":["Access denied.  Please include an 'Authorization: ...' header"]}"#),
        serverFault: ProviderAnswer(503, ""), wording: { ProviderAnswer($0, #"{"id":"","errors":["\#($1)"]}"#) }),
      bodyLimit: nil,
      hostileOverrides: targets.map { key in
        var overrides = Overrides()
        overrides.oneSignal = [JSONMember(key, .array([.string("All")]))]
        return overrides
      })
  }()

  /// Whoever reads what is pushed to `webPush`.
  static let browser = Browser(scalar: Array(1...32), secret: Array(1...16))!
  static let endpoint = "https://fcm.googleapis.com/fcm/send/dXk:APA91bExample"

  static let webPush: Self = {
    var credential = Credential(id: CredentialID(rawValue: "demo/browsers"), app: demo, provider: .webPush)
    credential.texts = ["subject": "mailto:push@example.com", "services": "fcm.googleapis.com"]
    credential.files = ["key_file": TestKeys.vapid.pem]
    let token =
      "\(endpoint)#\(Base64URL.encode(browser.publicKey)).\(Base64URL.encode(browser.secret))"
    return Self(
      provider: WebPushProvider(), credential: credential, secrets: secrets(in: TestKeys.vapid.pem),
      address: Address(provider: .webPush, token: token, bundleID: "fcm.googleapis.com"),
      answers: Answers(
        accepted: ProviderAnswer(status: 201, headers: [Header("location", "https://fcm.googleapis.com/fcm/0:17")]),
        acceptedID: "https://fcm.googleapis.com/fcm/0:17",
        dead: ProviderAnswer(410, "push subscription has unsubscribed or expired."),
        throttled: ProviderAnswer(429, "", retryAfter: 7), rejected: ProviderAnswer(413, ""),
        blocked: ProviderAnswer(403, #"{"reason":"BadJwtToken"}"#), serverFault: ProviderAnswer(500, ""),
        wording: { ProviderAnswer($0, #"{"reason":"\#($1)"}"#) }),
      bodyLimit: 3_993, hostileOverrides: [], deadStatuses: [404, 410], hasFrames: false)
  }()

  static let demo = AppID(rawValue: "demo")

  static func serviceAccount(_ changes: [JSONMember] = []) -> [UInt8] {
    var members = [
      JSONMember("type", .string("service_account")), JSONMember("project_id", .string("demo-app")),
      JSONMember("private_key_id", .string("k1")),
      JSONMember("private_key", .string(String(decoding: TestKeys.fcm.pem, as: UTF8.self))),
      JSONMember("client_email", .string("push@demo-app.iam.gserviceaccount.com")),
      JSONMember("token_uri", .string("https://oauth2.googleapis.com/token")),
    ]
    members.merge(changes)
    return JSONValue.object(members).encoded
  }

  static func fcmError(_ http: Int, _ status: String, code: String?, message: String = "Sorry.", detail: String? = nil)
    -> String
  {
    let own = code.map { #"{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"\#($0)"}"# }
    let details = [own, detail].compactMap { $0 }.joined(separator: ",")
    return #"{"error":{"code":\#(http),"message":"\#(message)","status":"\#(status)","details":[\#(details)]}}"#
  }

  /// The lines of a PEM, each of which would be telling.
  private static func secrets(in pem: [UInt8]) -> [String] {
    String(decoding: pem, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("-----") }.map(String.init)
  }
}
