import Domain

extension Intake {
  private static let longestHeaderValue = 4_096

  /// Names that no client may set: they belong to the connection, to the credential, or to Fanfare's own bookkeeping
  /// (`apns-id` is derived and recomputed as proof, design D17). Topic and push type are the token's and the kind's: with
  /// others APNs calls live tokens dead.
  private static let reservedHeaders: Set<String> = [
    "apns-channel-id", "apns-id", "apns-push-type", "apns-request-id", "apns-topic", "authorization", "connection",
    "content-encoding", "content-length", "content-type", "cookie", "expect", "forwarded", "host", "keep-alive",
    "proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "via",
  ]

  /// Members of OneSignal's body that say who is meant, or that make a repeat safe: overriding them would widen the
  /// audience or double the push.
  private static func isReserved(oneSignal name: String) -> Bool {
    name.hasPrefix("include") || name.hasPrefix("excluded_")
      || [
        "app_id", "email_to", "filters", "idempotency_key", "external_id", "target_channel",
        "channel_for_external_user_ids",
        "send_after", "delayed_option", "delivery_time_of_day",
      ].contains(name)
  }

  static func readOverrides(_ message: Fields, _ findings: inout Findings) -> Overrides {
    var overrides = Overrides()
    guard let fields = message.object("overrides", of: .overrides, &findings) else { return overrides }
    if let apns = fields.object("apns", of: .apnsOverrides, &findings) {
      overrides.aps = apns.members("aps", .payload, &findings) ?? []
      overrides.apnsHeaders = readAPNsHeaders(apns, &findings)
    }
    if let fcm = fields.object("fcm", of: .fcmOverrides, &findings) {
      overrides.fcmAndroid = fcm.members("android", .payload, &findings) ?? []
      overrides.fcmWebpush = fcm.members("webpush", .payload, &findings) ?? []
      overrides.fcmAPNs = fcm.members("apns", .payload, &findings) ?? []
      overrides.fcmValidateOnly = fcm.flag("validate_only", &findings) ?? false
      checkHeaders(of: overrides.fcmWebpush, at: fcm.place.member("webpush"), &findings)
      checkHeaders(of: overrides.fcmAPNs, at: fcm.place.member("apns"), &findings)
    }
    overrides.oneSignal = fields.members("onesignal", .oneSignal, &findings) ?? []
    for member in overrides.oneSignal where isReserved(oneSignal: member.key) {
      findings.refuse(
        fields.place.member("onesignal").member(member.key), .notAllowed,
        "Fanfare sets `\(member.key)`; it controls recipients, time or idempotency and cannot be overridden")
    }
    return overrides
  }

  /// More than APNs takes with one request would fail at each attempt.
  private static func readAPNsHeaders(_ apns: Fields, _ findings: inout Findings) -> [JSONMember] {
    let place = apns.place.member("headers")
    guard let headers = apns.members("headers", .document, &findings) else { return [] }
    guard headers.count <= HeaderBounds.count else {
      findings.refuse(
        place, .tooMany, "has \(headers.count) headers; the limit is \(HeaderBounds.count): leave some out")
      return []
    }
    checkHeaders(headers, at: place, lowerCase: true, &findings)
    let size = headers.reduce(0) {
      $0 + $1.key.utf8.count + ($1.value.string?.utf8.count ?? 0) + HeaderBounds.bytesOfEach
    }
    if size > HeaderBounds.bytes {
      findings.refuse(
        place, .tooLong,
        "the headers have \(size) bytes (name, value and \(HeaderBounds.bytesOfEach) more for each header); the "
          + "limit is \(HeaderBounds.bytes): shorten them")
    }
    return headers
  }

  /// FCM hands headers on to APNs and to browsers: the block's own `headers`.
  private static func checkHeaders(of block: [JSONMember], at place: Place, _ findings: inout Findings) {
    guard let headers = block.first(where: { $0.key == "headers" })?.value else { return }
    let place = place.member("headers")
    guard case .object(let members) = headers else {
      findings.refuse(place, .wrongType, "must be an object, not \(headers.article)")
      return
    }
    checkHeaders(members, at: place, lowerCase: false, &findings)
  }

  private static func checkHeaders(
    _ headers: [JSONMember], at place: Place, lowerCase: Bool, _ findings: inout Findings
  ) {
    var seen = Set<String>()
    for header in headers {
      let place = place.member(header.key)
      let plain = header.key.lowercased()
      if header.key.isEmpty || !header.key.utf8.allSatisfy(isTokenCharacter) {
        findings.refuse(
          place, .invalidFormat,
          "is not a header name: use only letters, digits and !#$%&'*+-.^_`|~, no colon, no line break")
      } else if reservedHeaders.contains(plain) {
        findings.refuse(place, .notAllowed, "Fanfare sets the header `\(plain)`; it cannot be overridden")
      } else if lowerCase, plain != header.key {
        findings.refuse(place, .invalidFormat, "header names are lower case in HTTP/2: write `\(plain)`")
      } else if !seen.insert(plain).inserted {
        findings.refuse(place, .duplicate, "the header `\(plain)` is given twice")
      }
      guard case .string(let value) = header.value else {
        findings.refuse(place, .wrongType, "a header's value must be a string, not \(header.value.article)")
        continue
      }
      if let fault = TextRule.line(longestHeaderValue).fault(in: value) {
        findings.refuse(place, fault.code, "the header's value \(fault.detail)")
      }
    }
  }

  /// `tchar` of RFC 9110.
  private static func isTokenCharacter(_ byte: UInt8) -> Bool {
    if byte.isASCIILetter || byte.isASCIIDigit { return true }
    switch byte {
    case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"),
      UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
      UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
      return true
    default: return false
    }
  }
}
