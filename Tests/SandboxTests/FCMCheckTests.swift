import Domain
import JSON
import TLS
import Testing

@testable import Sandbox

@Suite struct FCMCheckTests {
  private func violations(_ body: String) throws -> [FieldViolation] {
    var shape = FCMShapeCheck()
    let checked = shape.check(try JSON.parse(Array(body.utf8)))
    return shape.violations.isEmpty ? FCMMessageCheck(checked["message"] ?? .null).violations : shape.violations
  }

  @Test(
    "the sheet's requests pass (R1–R10)",
    arguments: [
      #"{"message":{"fid":"cT3x9QeSRk2mJb0aYw1ZpL","notification":{"title":"Order shipped","body":"Arrives Tuesday"},"data":{"orderId":"881"},"android":{"priority":"HIGH","ttl":"86400s","collapse_key":"order-881","notification":{"channel_id":"orders","sound":"default","tag":"order-881","notification_count":3}},"apns":{"headers":{"apns-collapse-id":"order-881","apns-expiration":"1767225600"},"payload":{"aps":{"badge":3,"sound":"chime.caf","thread-id":"order-881","category":"ORDER"}}}}}"#,
      #"{"message":{"token":"dXk:APA91bExample","data":{"sync":"inbox","rev":"42"},"android":{"priority":"NORMAL","ttl":"3600s"},"apns":{"headers":{"apns-push-type":"background","apns-priority":"5"},"payload":{"aps":{"content-available":1}}}}}"#,
      #"{"message":{"fid":"cT3x9QeSRk2mJb0aYw1ZpL","notification":{"title":"New photo","body":"Ana posted","image":"https://cdn.example.com/p/9.jpg"},"apns":{"payload":{"aps":{"mutable-content":1}},"fcm_options":{"image":"https://cdn.example.com/p/9.jpg"}}}}"#,
      #"{"message":{"fid":"cT3x9QeSRk2mJb0aYw1ZpL","android":{"notification":{"title_loc_key":"invite_title","body_loc_key":"invite_body","body_loc_args":["Mia","7"]}},"apns":{"payload":{"aps":{"alert":{"title-loc-key":"INVITE_TITLE","loc-key":"INVITE_BODY","loc-args":["Mia","7"]}}}}}}"#,
      #"{"message":{"fid":"cT3x9QeSRk2mJb0aYw1ZpL","notification":{"title":"Gate change","body":"Now B12"},"android":{"priority":"HIGH","ttl":"600s","notification":{"channel_id":"urgent","notification_priority":"PRIORITY_MAX","visibility":"PUBLIC"}},"apns":{"headers":{"apns-priority":"10"},"payload":{"aps":{"interruption-level":"time-sensitive","relevance-score":1}}}}}"#,
      #"{"message":{"fid":"cT3x9QeSRk2mJb0aYw1ZpL","apns":{"live_activity_token":"80a1f0","headers":{"apns-priority":"5"},"payload":{"aps":{"timestamp":1767220000,"event":"update","content-state":{"home":2,"away":1}}}}}}"#,
      #"{"message":{"topic":"weather","notification":{"title":"Storm","body":"Tonight"}}}"#,
      #"{"message":{"condition":"'eu' in topics && !('muted' in topics)","data":{"k":"v"}}}"#,
      #"{"validate_only":true,"message":{"fid":"cT3x9QeSRk2mJb0aYw1ZpL","data":{"k":"v"}}}"#,
      #"{"message":{"token":"eWeb","webpush":{"headers":{"TTL":"300","Urgency":"high"},"notification":{"title":"Hi","body":"There","icon":"https://example.com/i.png"},"fcm_options":{"link":"https://example.com/inbox"}}}}"#,
      #"{"validateOnly":true,"message":{"token":"t","android":{"collapseKey":"k","directBootOk":true,"notification":{"eventTime":"2026-01-05T09:00:00.5Z","lightSettings":{"color":{"red":1,"green":0.5,"blue":0,"alpha":1},"lightOnDuration":"3.5s","lightOffDuration":"1s"}}}}}"#,
    ])
  func vectors(_ body: String) throws { #expect(try violations(body).isEmpty) }

  @Test(
    "a bad message is refused at its field",
    arguments: [
      (#"{"message":{"token":"t","data":{"a":12}}}"#, "message.data[0].value"),
      (#"{"message":{"token":"t","colour":"red"}}"#, "message"), (#"{"message":{"token":"t"},"dry_run":true}"#, ""),
      (#"{"message":{"token":"t","topic":"x"}}"#, "message"), (#"{"message":{"data":{"a":"b"}}}"#, "message"),
      (#"{"message":{"token":"t","data":{"from":"b"}}}"#, "message.data"),
      (#"{"message":{"token":"t","data":{"google.x":"b"}}}"#, "message.data"),
      (#"{"message":{"token":"t","data":{"gcm.notification.x":"b"}}}"#, "message.data"),
      (#"{"message":{"token":"t","android":{"ttl":"1 hour"}}}"#, "message.android.ttl"),
      (#"{"message":{"token":"t","android":{"ttl":3600}}}"#, "message.android.ttl"),
      (#"{"message":{"token":"t","android":{"ttl":"2419201s"}}}"#, "message.android.ttl"),
      (#"{"message":{"token":"t","android":{"ttl":"-0.5s"}}}"#, "message.android.ttl"),
      (#"{"message":{"token":"t","android":{"priority":"URGENT"}}}"#, "message.android.priority"),
      (#"{"message":{"token":"t","android":{},"android_v2":{}}}"#, "message.android_v2"),
      (#"{"message":{"token":"t","android":{"notification":{"color":"red"}}}}"#, "message.android.notification.color"),
      (
        #"{"message":{"token":"t","android":{"notification":{"notification_count":1.5}}}}"#,
        "message.android.notification.notification_count"
      ),
      (
        #"{"message":{"token":"t","android":{"notification":{"title_loc_args":[1]}}}}"#,
        "message.android.notification.title_loc_args[0]"
      ),
      (#"{"message":{"token":"t","apns":{"headers":{"apns-priority":5}}}}"#, "message.apns.headers[0].value"),
      (#"{"message":{"token":"t","webpush":{"fcm_options":{"link":"http://x"}}}}"#, "message.webpush.fcm_options.link"),
      (#"{"message":{"token":"t","fcm_options":{"analytics_label":"a b"}}}"#, "message.fcm_options.analytics_label"),
      (#"{"message":{"token":"t","webpush":{"headers":{"TTL":"soon"}}}}"#, "message.webpush.headers"),
      (#"{"message":{"token":"t","webpush":{"headers":{"Urgency":"now"}}}}"#, "message.webpush.headers"),
      (#"{"message":{"token":"t","webpush":{"notification":{"dir":"up"}}}}"#, "message.webpush.notification.dir"),
      (
        #"{"message":{"token":"t","webpush":{"notification":{"actions":[{"title":"x"}]}}}}"#,
        "message.webpush.notification.actions"
      ),
      (#"{"message":{"token":"t","apns":{"headers":{"apns-priority":"7"}}}}"#, "message.apns.headers"),
      (
        #"{"message":{"token":"t","apns":{"headers":{"apns-push-type":"background","apns-priority":"10"}}}}"#,
        "message.apns.headers"
      ),
      (#"{"message":{"token":"t","apns":{"payload":{"aps":1}}}}"#, "message.apns.payload.aps"),
      (
        #"{"message":{"token":"t","apns":{"live_activity_token":"80","payload":{"aps":{"event":"update"}}}}}"#,
        "message.apns.payload.aps"
      ),
      (
        #"{"message":{"topic":"t","apns":{"live_activity_token":"80","payload":{"aps":{"timestamp":1,"event":"end"}}}}}"#,
        "message.apns.live_activity_token"
      ),
      (#"{"message":{"topic":"/topics/x","data":{"a":"b"}}}"#, "message.topic"),
      (#"{"message":{"condition":"'a' in topic","data":{"a":"b"}}}"#, "message.condition"),
      (#"{"message":{"token":"t","notification":{"title":7}}}"#, "message.notification.title"),
    ])
  func faults(_ body: String, _ field: String) throws {
    let found = try violations(body)
    #expect(found.contains { $0.field == field }, "\(found)")
  }

  @Test("4,096 bytes to a token, 2,048 to a topic")
  func sizes() throws {
    func body(_ target: String, _ bytes: Int) -> String {
      #"{"message":{\#(target),"data":{"k":"\#(String(repeating: "x", count: bytes - 1))"}}}"#
    }
    #expect(try violations(body(#""token":"t""#, 4096)).isEmpty)
    #expect(try !violations(body(#""token":"t""#, 4097)).isEmpty)
    #expect(try violations(body(#""topic":"t""#, 2048)).isEmpty)
    #expect(try !violations(body(#""topic":"t""#, 2049)).isEmpty)
  }

  @Test(
    "conditions",
    arguments: [
      ("'a' in topics", true), ("!('a' in topics)", true), ("'a' in topics && ('b' in topics || 'c' in topics)", true),
      ("'a' in topics &&", false), ("('a' in topics", false), ("'a b' in topics", false), ("", false),
      ((0..<5).map { "'t\($0)' in topics" }.joined(separator: " || "), true),
      ((0..<6).map { "'t\($0)' in topics" }.joined(separator: " || "), false),
      (String(repeating: "(", count: 10_000), false),
    ])
  func conditions(_ text: String, _ good: Bool) { #expect((FCMCondition.problem(text) == nil) == good) }

  @Test("an installation id has its shape")
  func registrations() {
    #expect(FCMMessageCheck.isInstallation("cT3x9QeSRk2mJb0aYw1ZpL"))
    #expect(!FCMMessageCheck.isInstallation("aT3x9QeSRk2mJb0aYw1ZpL"))
    #expect(!FCMMessageCheck.isInstallation("cT3x9QeSRk2mJb0aYw1Zp"))
    #expect(!FCMMessageCheck.isRegistration("with space"))
    #expect(!FCMMessageCheck.isRegistration(""))
  }

  @Test(
    "rules answer with the sheet's bodies (A2–A10)",
    arguments: [
      (
        404, nil,
        #"{"error":{"code":404,"message":"Requested entity was not found.","status":"NOT_FOUND","details":[{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"UNREGISTERED"}]}}"#
      ),
      (
        400, "INVALID_ARGUMENT",
        #"{"error":{"code":400,"message":"The registration token is not a valid FCM registration token","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"INVALID_ARGUMENT"}]}}"#
      ),
      (
        400, "Unregistered",
        #"{"error":{"code":400,"message":"APNs device token is disabled.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"INVALID_ARGUMENT"},{"@type":"type.googleapis.com/google.firebase.fcm.v1.ApnsError","statusCode":410,"reason":"Unregistered"}]}}"#
      ),
      (
        401, "THIRD_PARTY_AUTH_ERROR",
        #"{"error":{"code":401,"message":"Auth error from APNS or Web Push Service","status":"UNAUTHENTICATED","details":[{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"THIRD_PARTY_AUTH_ERROR"},{"@type":"type.googleapis.com/google.firebase.fcm.v1.ApnsError","statusCode":403,"reason":"InvalidProviderToken"}]}}"#
      ),
      (
        401, nil,
        #"{"error":{"code":401,"message":"Request had invalid authentication credentials.","status":"UNAUTHENTICATED"}}"#
      ),
      (
        403, nil,
        #"{"error":{"code":403,"message":"SenderId mismatch","status":"PERMISSION_DENIED","details":[{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"SENDER_ID_MISMATCH"}]}}"#
      ),
      (
        403, "PERMISSION_DENIED",
        #"{"error":{"code":403,"message":"Permission 'cloudmessaging.messages.create' denied on resource '//cloudresourcemanager.googleapis.com/projects/demo-app' (or it may not exist).","status":"PERMISSION_DENIED"}}"#
      ),
      (
        429, "RATE_LIMIT_EXCEEDED",
        #"{"error":{"code":429,"message":"Quota exceeded for quota metric 'Send requests' and limit 'Send requests per minute'","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"RATE_LIMIT_EXCEEDED","domain":"googleapis.com","metadata":{"quota_limit":"SendsPerMinutePerProject","service":"fcm.googleapis.com"}}]}}"#
      ),
    ] as [(Int, String?, String)])
  func answers(_ status: Int, _ reason: String?, _ body: String) {
    let answer = FCMError.named(reason, code: status, project: "demo-app").answer
    #expect(answer.status == status)
    #expect(String(decoding: answer.body, as: UTF8.self) == body)
  }

  @Test("a wrong value is told in the vendor's words (A3)")
  func wording() throws {
    let body = #"{"message":{"token":"t","data":{"value":12}}}"#
    #expect(
      String(decoding: FCMError.fields(try violations(body)).answer.body, as: UTF8.self)
        == #"{"error":{"code":400,"message":"Invalid value at 'message.data[0].value' (TYPE_STRING), 12","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"message.data[0].value","description":"Invalid value at 'message.data[0].value' (TYPE_STRING), 12"}]}]}}"#
    )
  }
}
