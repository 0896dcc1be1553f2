import Domain

/// Reads headers that a message adds to a provider's request.
enum HeaderReader {
  private static let longestHeaderValue = 4_096

  /// Names that no client may set: they belong to the connection, to the credential, or to Fanfare's own bookkeeping
  /// (`apns-id` is derived and recomputed as proof, design D17). Topic and push type are the token's and the kind's:
  /// with others APNs calls live tokens dead.
  private static let reservedHeaders: Set<String> = [
    "apns-channel-id", "apns-id", "apns-push-type", "apns-request-id", "apns-topic", "authorization", "connection",
    "content-encoding", "content-length", "content-type", "cookie", "expect", "forwarded", "host", "keep-alive",
    "proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "via",
  ]

  /// More than APNs takes with one request would fail at each attempt.
  static func ofAPNs(_ apns: Fields, _ findings: inout Findings) -> [JSONMember] {
    let place = apns.place.member("headers")
    guard let headers = apns.members("headers", .document, &findings) else { return [] }
    guard headers.count <= HeaderBounds.count else {
      findings.refuse(
        place, .tooMany, "has \(headers.count) headers; the limit is \(HeaderBounds.count): leave some out")
      return []
    }
    check(headers, at: place, lowerCase: true, &findings)
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
  static func check(of block: [JSONMember], at place: Place, _ findings: inout Findings) {
    guard let headers = block.first(where: { $0.key == "headers" })?.value else { return }
    let place = place.member("headers")
    guard case .object(let members) = headers else {
      findings.refuse(place, .wrongType, "must be an object, not \(headers.article)")
      return
    }
    check(members, at: place, lowerCase: false, &findings)
  }

  private static func check(
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
