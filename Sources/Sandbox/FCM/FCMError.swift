import Domain
import JSON

/// An error of FCM, with the details its clients read.
struct FCMError {
  var code: Int
  var status: String
  var message: String
  var details: [JSONValue] = []
  /// The word for log and statistics.
  var reason: String

  var answer: VendorAnswer {
    var error = [
      JSONMember("code", .integer(Int64(code))), JSONMember("message", .string(message)),
      JSONMember("status", .string(status)),
    ]
    if !details.isEmpty { error.append(JSONMember("details", .array(details))) }
    return VendorAnswer(
      status: code, reason: reason, headers: [Header("content-type", "application/json; charset=UTF-8")],
      body: JSONValue.object([JSONMember("error", .object(error))]).encoded)
  }

  // MARK: The errors the sandbox finds by itself

  static func fields(_ violations: [FieldViolation]) -> Self {
    let list = violations.map {
      JSONValue.object([JSONMember("field", .string($0.field)), JSONMember("description", .string($0.description))])
    }
    return Self(
      code: 400, status: "INVALID_ARGUMENT", message: violations.map(\.description).joined(separator: "\n"),
      details: [detail("google.rpc.BadRequest", [JSONMember("fieldViolations", .array(list))])],
      reason: "INVALID_ARGUMENT")
  }
  static func notJSON(_ why: String) -> Self {
    Self(
      code: 400, status: "INVALID_ARGUMENT", message: "Invalid JSON payload received. \(why)",
      reason: "INVALID_ARGUMENT")
  }
  static let badRegistration = Self(
    code: 400, status: "INVALID_ARGUMENT",
    message: "The registration token is not a valid FCM registration token",
    details: [fcm("INVALID_ARGUMENT")], reason: "INVALID_ARGUMENT")
  static let unauthenticated = Self(
    code: 401, status: "UNAUTHENTICATED", message: "Request had invalid authentication credentials.",
    reason: "UNAUTHENTICATED")
  static func denied(project: String) -> Self {
    Self(
      code: 403, status: "PERMISSION_DENIED",
      message:
        "Permission 'cloudmessaging.messages.create' denied on resource '//cloudresourcemanager.googleapis.com/projects/\(project)' (or it may not exist).",
      reason: "PERMISSION_DENIED")
  }

  // MARK: The errors of rules, by word

  /// The error for a rule's status and word: an FcmError code, an APNs reason behind FCM, or a status of google.rpc.
  static func named(_ reason: String?, code: Int, project: String) -> Self {
    let reason = reason ?? usual(for: code)
    switch reason {
    case "UNREGISTERED":
      return Self(
        code: code, status: "NOT_FOUND", message: "Requested entity was not found.", details: [fcm(reason)],
        reason: reason)
    case "SENDER_ID_MISMATCH":
      return Self(
        code: code, status: "PERMISSION_DENIED", message: "SenderId mismatch", details: [fcm(reason)], reason: reason)
    case "THIRD_PARTY_AUTH_ERROR":
      return Self(
        code: code, status: "UNAUTHENTICATED", message: "Auth error from APNS or Web Push Service",
        details: [fcm(reason), apns(403, "InvalidProviderToken")], reason: reason)
    case "QUOTA_EXCEEDED":
      let violation = JSONValue.object([
        JSONMember("subject", .string("project:\(project)")),
        JSONMember("description", .string("Quota exceeded for the messages of this device or project")),
      ])
      return Self(
        code: code, status: "RESOURCE_EXHAUSTED", message: "Quota exceeded.",
        details: [fcm(reason), detail("google.rpc.QuotaFailure", [JSONMember("violations", .array([violation]))])],
        reason: reason)
    case "RATE_LIMIT_EXCEEDED":
      let metadata = JSONValue.object([
        JSONMember("quota_limit", .string("SendsPerMinutePerProject")),
        JSONMember("service", .string("fcm.googleapis.com")),
      ])
      let info = detail(
        "google.rpc.ErrorInfo",
        [
          JSONMember("reason", .string(reason)), JSONMember("domain", .string("googleapis.com")),
          JSONMember("metadata", metadata),
        ])
      return Self(
        code: code, status: "RESOURCE_EXHAUSTED",
        message:
          "Quota exceeded for quota metric 'Send requests' and limit 'Send requests per minute'",
        details: [info], reason: reason)
    case "INVALID_ARGUMENT": return badRegistration
    case "UNAUTHENTICATED": return unauthenticated
    case "PERMISSION_DENIED": return denied(project: project)
    case "NOT_FOUND":
      return Self(code: code, status: reason, message: "Requested entity was not found.", reason: reason)
    case "INTERNAL", "UNAVAILABLE", "UNSPECIFIED_ERROR":
      let message =
        reason == "UNAVAILABLE" ? "The service is currently unavailable." : "Internal error encountered."
      return Self(
        code: code, status: reason == "UNSPECIFIED_ERROR" ? "UNKNOWN" : reason, message: message,
        details: [fcm(reason)], reason: reason)
    case "Unregistered", "ExpiredToken": return behindAPNs(410, reason)
    case "BadDeviceToken", "DeviceTokenNotForTopic": return behindAPNs(400, reason)
    default:
      return Self(code: code, status: reason, message: "Played by a rule of the sandbox.", reason: reason)
    }
  }

  private static func behindAPNs(_ status: Int64, _ reason: String) -> Self {
    let message =
      status == 410 ? "APNs device token is disabled." : "Request contains an invalid argument."
    return Self(
      code: 400, status: "INVALID_ARGUMENT", message: message,
      details: [fcm("INVALID_ARGUMENT"), apns(status, reason)], reason: reason)
  }
  private static func usual(for code: Int) -> String {
    switch code {
    case 400: "INVALID_ARGUMENT"
    case 401: "UNAUTHENTICATED"
    case 403: "SENDER_ID_MISMATCH"
    case 404: "UNREGISTERED"
    case 429: "QUOTA_EXCEEDED"
    case 503: "UNAVAILABLE"
    default: "INTERNAL"
    }
  }
  private static func fcm(_ code: String) -> JSONValue {
    detail("google.firebase.fcm.v1.FcmError", [JSONMember("errorCode", .string(code))])
  }
  private static func apns(_ status: Int64, _ reason: String) -> JSONValue {
    detail(
      "google.firebase.fcm.v1.ApnsError",
      [JSONMember("statusCode", .integer(status)), JSONMember("reason", .string(reason))])
  }
  private static func detail(_ type: String, _ members: [JSONMember]) -> JSONValue {
    .object([JSONMember("@type", .string("type.googleapis.com/\(type)"))] + members)
  }
}
