import Domain
import HTTPServer

/// One request for a page, before anybody knows whose it is.
final class Visit {
  let request: HTTPServerRequest
  let settings: ConsoleSettings
  let texts: Texts
  /// Of the form, if it is one.
  let form: [(name: String, value: String)]
  /// That came with the form.
  let files: [Multipart.File]
  /// Behind the root, decoded; nil: it has a broken escape.
  let path: [String]?

  init(_ request: HTTPServerRequest, _ settings: ConsoleSettings) {
    (self.request, self.settings) = (request, settings)
    texts = Texts.best(for: request.header("accept-language") ?? "")
    let type = request.header("content-type") ?? ""
    let parts = request.method == "POST" ? Multipart(request.body, type) : nil
    form = parts?.fields ?? (request.method == "POST" ? Form.read(request.body, type) : [])
    files = parts?.files ?? []
    path = Self.parts(request.path.dropFirst(Link.root.count))
  }

  /// A part of a page asks for itself again: nobody need be there.
  var isRefresh: Bool { request.method == "GET" && request.header("sec-fetch-dest") == "empty" }

  func field(_ name: String) -> String { form.first { $0.name == name }?.value ?? "" }
  func queries(_ name: String) -> [String] { request.query.filter { $0.name == name }.map(\.value) }
  func query(_ name: String) -> String { request.query(name) ?? "" }

  /// The page came over HTTPS, to this process or to a proxy that may say so.
  var isSecure: Bool {
    if settings.servesTLS { return true }
    guard request.isFromProxy, let told = request.headers.last(where: { $0.name == "x-forwarded-proto" })?.value else {
      return false
    }
    return told.split(separator: ",").last?.filter { $0 != " " }.lowercased() == "https"
  }

  /// A key may be typed in here: nobody between can read it. What a proxy on this machine hands on did not come from here.
  var mayCarryKeys: Bool {
    isSecure
      || request.address.isLoopback
        && !request.headers.contains { $0.name == "forwarded" || $0.name == "via" || $0.name.hasPrefix("x-forwarded-") }
  }

  /// A link on another site led here, so that the browser kept the cookie back: it sends it if the page asks itself.
  var isFollowedFromElsewhere: Bool {
    let site = request.header("sec-fetch-site")
    return token == nil && request.method == "GET" && !isRefresh && (site == "cross-site" || site == "same-site")
  }

  /// Why a form was not sent by a page of ours; nil: it may have been. A browser says where a request comes from, and
  /// does not let pages lie about it.
  var forgery: Word? {
    if let site = request.header("sec-fetch-site") { return site == "same-origin" ? nil : .forgedForm }
    guard let origin = request.header("origin") else { return .forgedForm }
    let host = request.header("host") ?? ""
    return origin == "http://" + host || origin == "https://" + host ? nil : .forgedForm
  }

  // MARK: Cookie

  /// With the prefix that browsers keep to HTTPS and to this host alone.
  private var cookieName: String { isSecure ? "__Host-fanfare" : "fanfare" }

  var token: String? {
    for header in request.headers where header.name == "cookie" {
      for pair in header.value.split(separator: ";") {
        let parts = pair.split(separator: "=", maxSplits: 1).map { $0.filter { $0 != " " } }
        if parts.count == 2, parts[0] == cookieName { return parts[1] }
      }
    }
    return nil
  }

  /// Keeps a token until the browser is closed; nil takes it away.
  func cookie(_ token: String?) -> Header {
    let end = token == nil ? "; Max-Age=0" : ""
    let secure = isSecure ? "; Secure" : ""
    return Header("set-cookie", "\(cookieName)=\(token ?? ""); Path=/; HttpOnly; SameSite=Strict\(secure)\(end)")
  }

  static func parts(_ path: Substring) -> [String]? {
    var parts: [String] = []
    for part in path.split(separator: "/") {
      guard let text = PercentDecoding.text(Array(part.utf8)[...], plusIsSpace: false) else { return nil }
      parts.append(text)
    }
    return parts
  }
}
