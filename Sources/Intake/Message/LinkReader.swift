import Domain

/// Reads the URLs of a notification.
enum LinkReader {
  /// Schemes that run code or open what the device keeps: a tap on a notification must do neither.
  private static let dangerousSchemes: Set<String> = [
    "about", "blob", "content", "data", "file", "filesystem", "jar", "javascript", "vbscript", "view-source",
  ]
  private static let maximumScheme = 64

  /// An https URL with a host, without characters that would need escaping.
  static func webURL(_ name: String, _ fields: Fields, _ findings: inout Findings) -> String? {
    guard let text = fields.text(name, TextRule(alphabet: .line, maximum: 2_048), &findings) else { return nil }
    var place: Place { fields.place.member(name) }
    guard text.lowercased().hasPrefix("https://") else {
      findings.refuse(place, .invalidFormat, "`\(name)` must be an https URL")
      return nil
    }
    let host = text.utf8.dropFirst("https://".utf8.count).prefix { byte in
      byte != UInt8(ascii: "/") && byte != UInt8(ascii: "?") && byte != UInt8(ascii: "#")
    }
    guard !host.isEmpty, !text.utf8.contains(where: { $0 <= 0x20 || $0 == UInt8(ascii: "\"") || $0 == 0x5c }) else {
      findings.refuse(place, .invalidFormat, "`\(name)` is not a URL: give a host, and escape spaces, quotes and `\\`")
      return nil
    }
    PlaceholderRules.refuse(in: text, at: place, &findings)
    return text
  }

  /// What a tap opens: a URL of any scheme, such as `https://example.com/o/1` or `myapp://order/881`.
  static func link(_ name: String, _ fields: Fields, _ findings: inout Findings) -> String? {
    guard let text = fields.text(name, TextRule(alphabet: .line, maximum: 2_048), &findings) else { return nil }
    var place: Place { fields.place.member(name) }
    guard let scheme = scheme(of: text) else {
      findings.refuse(
        place, .invalidFormat,
        "`\(name)` must be a URL with its scheme, such as https://example.com/o/1 or myapp://order/881")
      return nil
    }
    let needsHost = scheme == "https" || scheme == "http"
    guard needsHost || !dangerousSchemes.contains(scheme) else {
      findings.refuse(
        place, .notAllowed, "`\(name)` must not run code or open files: use https or your app's own scheme")
      return nil
    }
    let rest = text.utf8.dropFirst(scheme.utf8.count + 1)
    guard !rest.isEmpty, !needsHost || hasHost(rest), !rest.contains(where: mustBeEscaped) else {
      findings.refuse(
        place, .invalidFormat,
        "`\(name)` is not a URL: add what follows the scheme (a host for https), and escape spaces, quotes and `\\`")
      return nil
    }
    PlaceholderRules.refuse(in: text, at: place, &findings)
    return text
  }

  /// RFC 3986: a letter, then letters, digits, `+`, `-` and `.`, up to the colon. In lower case.
  private static func scheme(of text: String) -> String? {
    let head = text.utf8.prefix(maximumScheme + 1).prefix { $0 != UInt8(ascii: ":") }
    guard text.utf8.count > head.count, (1...maximumScheme).contains(head.count) else { return nil }
    for (index, byte) in head.enumerated() {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): continue
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."):
        if index == 0 { return nil }
      default: return nil
      }
    }
    return String(decoding: head, as: UTF8.self).lowercased()
  }

  private static func hasHost(_ rest: Substring.UTF8View) -> Bool {
    guard rest.starts(with: "//".utf8) else { return false }
    let host = rest.dropFirst(2).prefix { byte in
      byte != UInt8(ascii: "/") && byte != UInt8(ascii: "?") && byte != UInt8(ascii: "#")
    }
    return !host.isEmpty
  }

  private static func mustBeEscaped(_ byte: UInt8) -> Bool {
    switch byte {
    case ...0x20, 0x7f, UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "<"), UInt8(ascii: ">"): true
    default: false
    }
  }
}
