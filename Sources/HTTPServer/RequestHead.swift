import Domain

/// The head of a request, checked for what libmicrohttpd lets pass. Values only.
struct RequestHead {
  var method: String
  var path: String
  var query: [(name: String, value: String)]
  var headers: [Header]
  /// Nil: chunked, or none.
  var contentLength: Int?
  var hasBody: Bool
  /// Bytes that the body may have.
  let bodyLimit: Int

  /// `target`: the bytes between method and version as they came.
  init(
    method: String, target: [UInt8], version: String, headers: [Header], settings: HTTPServerSettings
  ) throws(HTTPRefusal) {
    let size = headers.reduce(method.utf8.count + target.count + 12) {
      $0 + $1.name.utf8.count + $1.value.utf8.count + 4
    }
    guard size <= settings.maximumHead, headers.count <= settings.maximumHeaders else { throw .headTooLarge }
    guard Self.token.holdsAll(of: method) else { throw .badRequest("The method is malformed.") }
    guard headers.allSatisfy({ !$0.name.isEmpty && Self.token.holdsAll(of: $0.name) }) else {
      throw .badRequest("The name of a header is malformed.")
    }
    guard headers.allSatisfy({ !Self.controls.holdsSome(of: $0.value) || Self.visible.holdsAll(of: $0.value) }) else {
      throw .badRequest("A header holds a control character.")
    }
    let hosts = headers.count { $0.name == "host" }
    guard hosts == 1 || (hosts == 0 && version == "HTTP/1.0") else { throw .badRequest("Send Host once.") }
    self.method = method
    self.headers = headers
    (contentLength, hasBody) = try Self.framing(headers)
    (path, query) = try Self.parse(target, method: method)
    bodyLimit = settings.maximumBodyOf?(path) ?? settings.maximumBody
    if let contentLength, contentLength > bodyLimit { throw .bodyTooLarge(limit: bodyLimit) }
  }

  /// Requests whose length could be read in two ways are how requests are smuggled past proxies.
  private static func framing(_ headers: [Header]) throws(HTTPRefusal) -> (Int?, Bool) {
    var (lengths, encodings): ([String], [String]) = ([], [])
    for header in headers {
      switch header.name {
      case "content-length": lengths.append(header.value)
      case "transfer-encoding": encodings.append(header.value)
      default: break
      }
    }
    guard lengths.count <= 1 else { throw .badRequest("Send Content-Length once.") }
    guard lengths.isEmpty || encodings.isEmpty else {
      throw .badRequest("Send Content-Length or Transfer-Encoding, not both.")
    }
    if let encoding = encodings.first {
      guard encodings.count == 1, encoding.lowercased() == "chunked" else {
        throw .badRequest("The only known Transfer-Encoding is chunked.")
      }
      return (nil, true)
    }
    guard let length = lengths.first else { return (nil, false) }
    guard length.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
      let count = Int(length)
    else { throw .badRequest("Content-Length must be a number.") }
    return (count, count > 0)
  }

  private static func parse(_ target: [UInt8], method: String) throws(HTTPRefusal) -> (
    String, [(name: String, value: String)]
  ) {
    guard ByteSet.printable.holdsAll(of: target.span) else {
      throw .badRequest("The target holds bytes that must be percent-encoded.")
    }
    var target = target[...]
    for scheme in ["http://", "https://"] where target.starts(with: scheme.utf8) {
      target = target.dropFirst(scheme.utf8.count).drop { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
      if target.first != UInt8(ascii: "/") { target = [UInt8(ascii: "/")] + target }
    }
    guard target.first == UInt8(ascii: "/") || (target.elementsEqual("*".utf8) && method == "OPTIONS") else {
      throw .badRequest("The target must be a path.")
    }
    let path = target.prefix { $0 != UInt8(ascii: "?") }
    var query: [(name: String, value: String)] = []
    for pair in target.dropFirst(path.count + 1).split(separator: UInt8(ascii: "&")) {
      let name = pair.prefix { $0 != UInt8(ascii: "=") }
      guard let decodedName = PercentDecoding.text(name, plusIsSpace: true),
        let value = PercentDecoding.text(pair.dropFirst(name.count + 1), plusIsSpace: true)
      else {
        throw .badRequest(
          "A percent sign in the query must begin a byte of UTF-8, such as %C3%A9; a percent sign itself is %25")
      }
      query.append((decodedName, value))
    }
    return (String(decoding: path, as: UTF8.self), query)
  }

  /// RFC 9110 section 5.6.2.
  private static let token = ByteSet { byte in
    byte.isASCIILetter || byte.isASCIIDigit || "-_.!#$%&'*+^`|~".utf8.contains(byte)
  }
  /// Most values hold not even a tab, which is found eight bytes at a time.
  private static let controls = ByteSet { $0 < 0x20 || $0 == 0x7F }
  /// What the value of a header may hold: no control character but the tab.
  private static let visible = ByteSet({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }, others: true)
}
