import Domain
import JSON

/// What an error answer says, each part optional: bodies may be empty or HTML.
struct FCMError: Sendable {
  var http: Int
  var retryAfter: Int?
  /// `FcmError.errorCode`
  var code: String?
  var apnsReason: String?
  /// The google.rpc code.
  var status: String?
  var errorInfo: String?
  var message = ""
  /// Of a QuotaFailure.
  var quotaSubjects: [String] = []
  var quotaTexts = ""
  var namesField = false

  static let depth = 16
  static let longestWord = 64

  init(_ answer: ProviderAnswer) {
    http = answer.status
    retryAfter = answer.retryAfter
    guard let error = (try? JSON.parse(answer.body, maximumDepth: Self.depth))?["error"] else { return }
    status = Self.word(error["status"])
    message = error["message"]?.string ?? ""
    for detail in error["details"]?.array ?? [] {
      guard let type = detail["@type"]?.string else { continue }
      if type.hasSuffix("google.firebase.fcm.v1.FcmError") {
        code = code ?? Self.word(detail["errorCode"])
      } else if type.hasSuffix("google.firebase.fcm.v1.ApnsError") {
        apnsReason = apnsReason ?? Self.word(detail["reason"])
      } else if type.hasSuffix("google.rpc.BadRequest") {
        namesField = true
      } else if type.hasSuffix("google.rpc.ErrorInfo") {
        errorInfo = Self.word(detail["reason"])
      } else if type.hasSuffix("google.rpc.QuotaFailure") {
        for violation in detail["violations"]?.array ?? [] {
          if let subject = violation["subject"]?.string { quotaSubjects.append(subject.lowercased()) }
          quotaTexts += " " + (violation["description"]?.string ?? "").lowercased()
        }
      }
    }
  }

  /// The message's own sentence about the registration token, in any wording of it.
  var concernsRegistration: Bool {
    let text = message.lowercased()
    return text.contains("registration token") && (text.contains("not a valid") || text.contains("invalid"))
  }
  /// The quota of one device, as its subject says, else the texts. In doubt it is the project's: that is the safe reading.
  var concernsDevice: Bool {
    if quotaSubjects.contains(where: { $0.contains("project") }) { return false }
    if quotaSubjects.contains(where: { $0.contains("device") || $0.contains("registration") }) { return true }
    let text = message.lowercased() + quotaTexts
    return text.contains("device") && !text.contains("project")
  }

  var reason: String { code ?? status ?? "HTTP \(http)" }

  var note: String? {
    switch code {
    case "THIRD_PARTY_AUTH_ERROR", "APNS_AUTH_ERROR":
      "the project's credential for APNs or Web Push is missing or wrong: set it in the Firebase console"
    default: nil
    }
  }

  func retry(_ cause: Retry.Cause) -> Verdict { .retry(Retry(cause, reason: reason, retryAfter: retryAfter)) }

  /// `name` of a 200.
  static func messageName(_ body: [UInt8]) -> String? {
    guard let name = (try? JSON.parse(body, maximumDepth: depth))?["name"]?.string, !name.isEmpty,
      name.utf8.count <= 1024
    else { return nil }
    return name
  }

  /// A word of the vendor's vocabulary, fit for a log and a label.
  private static func word(_ value: JSONValue?) -> String? {
    guard let text = value?.string, !text.isEmpty, text.utf8.count <= longestWord,
      text.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
    else { return nil }
    return text
  }
}
