import Domain

@testable import API
@testable import HTTPServer

extension FuzzTarget {
  /// The head of a request, a line each: method, target and version with a space between, then the headers.
  static let heads = FuzzTarget("heads") { bytes in
    var input = FuzzInput(bytes)
    let start = input.line().split(separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: false)
    var headers: [Header] = []
    while !input.isEmpty {
      let line = input.line()
      let name = line.prefix { $0 != UInt8(ascii: ":") }
      let value = line[name.endIndex...].dropFirst().drop { $0 == 0x20 }
      headers.append(Header(String(decoding: name, as: UTF8.self).lowercased(), String(decoding: value, as: UTF8.self)))
    }
    for header in headers { read(header.value) }
    let client = proxied.client(peer: proxy, headers)
    demand(client == proxy || !trusted.contains { $0.contains(client) }, "a client is no trusted proxy but the peer")
    guard start.count == 3,
      let head = try? RequestHead(
        method: String(decoding: start[0], as: UTF8.self), target: Array(start[1]),
        version: String(decoding: start[2], as: UTF8.self), headers: headers, settings: HTTPServerSettings())
    else { return }
    route(
      HTTPServerRequest(
        method: head.method, path: head.path, query: head.query, headers: head.headers, body: [], address: client))
  }

  private static let proxy = NetworkAddress(ipv4: 0x0a00_0001)
  private static let trusted = [AddressRange("10.0.0.0/8"), AddressRange("fd00::/8")].compactMap { $0 }
  private static let proxied = AddressBook(limit: 10, trustedProxies: trusted)
  private static let rules = QueryRules(providers: FuzzWorld.providers.map(\.name))

  private static func route(_ request: HTTPServerRequest) {
    demand(request.path.hasPrefix("/") || request.path == "*", "a path begins with a slash")
    _ = request.header("origin")
    switch Router.match(request.method, request.path) {
    case .refused(let problem): demand(problem.code.status >= 400, "a refusal is no success")
    case .found(let endpoint, let parameters):
      let call = Call(request: request, parameters: parameters, key: FuzzWorld.key, now: FuzzWorld.now)
      guard rules.violations(in: call, endpoint).isEmpty else { return }
      _ = (call.limit(), call.time("from"), call.time("to"), call.words("status"))
    }
  }

  /// As whatever the value of a header may be.
  private static func read(_ value: String) {
    _ = (Call.mediaType(value), Call.charset(value))
    if let address = NetworkAddress(value) {
      demand(NetworkAddress(address.description) == address, "an address reads as it is written")
    }
    if let range = AddressRange(value) {
      demand(AddressRange(range.description) == range, "a range reads as it is written")
      demand(range.contains(range), "a range holds itself")
    }
    if let time = WallTime(rfc3339: value) {
      demand(WallTime(rfc3339: time.rfc3339) == time, "a time reads as it is written")
    }
  }
}
