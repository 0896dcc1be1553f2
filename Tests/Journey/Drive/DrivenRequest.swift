import Domain
import JSON
import Support
import TLS

/// One request of the driver.
struct DrivenRequest {
  var route: DrivenRoute
  var method: String
  var target: String
  var headers: [Header] = []
  var body: [UInt8]?

  /// Fit for a line of a report.
  var text: String {
    let shown = body.map { " " + String(decoding: $0.prefix(1_500), as: UTF8.self) + " (\($0.count) bytes)" } ?? ""
    let head = headers.map { "\($0.name): \($0.value.prefix(200))" }.joined(separator: ", ")
    return "\(method) \(target.prefix(600)) {\(head)}\(shown)"
  }
}

/// Makes requests by chance, the same ones for the same seed as long as the program answers the same.
struct RequestMaker {
  let routes: [DrivenRoute]
  var bodies: DrivenBody
  /// Cursors of pages as the program gave them.
  var cursors: [String] = []
  private static let mostCursors = 50
  /// Routes with the type of a body that they were sent.
  var drivenTypes: Set<String> = []

  mutating func learn(cursor: String) {
    if cursors.count >= Self.mostCursors { cursors.removeFirst() }
    cursors.append(cursor)
  }

  mutating func make(_ chance: inout Seeded) -> DrivenRequest {
    let route = chance.pick(routes)
    var request = DrivenRequest(route: route, method: route.method, target: target(of: route, &chance))
    for name in route.headers where Bool.random(using: &chance) {
      request.headers.append(Header(name.lowercased(), headerValue(&chance)))
    }
    if Int.random(in: 0..<20, using: &chance) == 0 {
      let name = chance.pick([
        "accept", "range", "expect", "x-own", "if-none-match", "content-encoding", "cookie", "te",
      ])
      request.headers.append(Header(name, headerValue(&chance)))
    }
    if Int.random(in: 0..<4, using: &chance) == 0 {
      let type = chance.pick(["text/csv", "application/x-ndjson", "application/json;q=0", "*/*", "text/csv;q=9e99"])
      request.headers.append(Header("accept", type))
    }
    if let schema = route.body, Int.random(in: 0..<30, using: &chance) > 0 {
      let type = chance.pick(route.types)
      request.body = body(schema, type, &chance)
      drivenTypes.insert("\(route.name) \(type)")
      let isCorrupt = Int.random(in: 0..<30, using: &chance) == 0
      request.headers.append(Header("content-type", isCorrupt ? headerValue(&chance) : type))
    }
    if Int.random(in: 0..<60, using: &chance) == 0 {
      request.method = chance.pick(["HEAD", "OPTIONS", "TRACE", "PATCH", "FOO"])
      // libcurl waits for a body after the answer to a HEAD that has one.
      if request.method == "HEAD" { request.body = [] }
    }
    return request
  }

  /// One hostile value in each request: in each query parameter of each reading route, and in each member of some bodies. By
  /// chance another part of such a request is mostly refused first.
  func sweep() -> [DrivenRequest] {
    let values = (HostileValues.texts + HostileValues.numbers).map(Self.escaped)
    let sweptBodies = BodySweep(schemas: bodies.schemas)
    return routes.flatMap { route in
      let path = route.path.split(separator: "/").reduce("") { path, segment in
        let kind = path.split(separator: "/").last.map(String.init) ?? ""
        return path + "/" + (segment.hasPrefix("{") ? bodies.known[kind]?.first ?? "x" : String(segment))
      }
      let names = route.method == "GET" ? route.query : []
      return names.flatMap { name in
        values.map { DrivenRequest(route: route, method: "GET", target: "\(path)?\(name)=\($0)") }
      }
        + sweptBodies.bodies(of: route).map { body in
          let type = Header("content-type", "application/json")
          return DrivenRequest(
            route: route, method: route.method, target: path, headers: [type], body: Array(body.utf8))
        }
    }
  }

  private func headerValue(_ chance: inout Seeded) -> String {
    let text = HostileValues.text(&chance)
    return text.utf8.allSatisfy { (0x20...0x7e).contains($0) } ? text : chance.pick(["*", "a b", "\"3\"", "\"1\""])
  }

  private func body(_ schema: JSONValue, _ type: String, _ chance: inout Seeded) -> [UInt8] {
    let count = type == "application/json" ? 1 : Int.random(in: 1...4, using: &chance)
    var lines = (0..<count).map { _ in bodies.make(schema, &chance).json }
    if type == DrivenRoute.table { lines = table(lines, &chance) }
    var bytes = Array(lines.joined(separator: "\n").utf8)
    switch Int.random(in: 0..<40, using: &chance) {
    case 0: bytes = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &chance)))
    case 1: bytes.insert(UInt8.random(in: 0...255, using: &chance), at: Int.random(in: 0...bytes.count, using: &chance))
    case 2: bytes = [0xEF, 0xBB, 0xBF] + bytes
    default: break
    }
    return bytes
  }

  /// Objects as lines of a table; now and then with a separator, a column or a cell that is not as it should be.
  private func table(_ objects: [String], _ chance: inout Seeded) -> [String] {
    let documents = objects.compactMap { try? JSON.parse(Array($0.utf8)) }
    var head = Set(documents.flatMap { ($0.object ?? []).map(\.key) }).sorted()
    if Int.random(in: 0..<6, using: &chance) == 0 { head.append(HostileValues.text(&chance)) }
    if Int.random(in: 0..<6, using: &chance) == 0 {
      head += (0..<chance.pick([2, 299, 2_000])).map { "attributes.a\($0)" }
    }
    let separator = chance.pick([",", ",", ";", "\t"])
    func cell(_ text: String) -> String { "\"" + text.replacing("\"", with: "\"\"") + "\"" }
    var lines = [head.map(cell).joined(separator: separator)]
    for document in documents {
      let cells = head.map { name -> String in
        guard let value = document[name] else { return "" }
        return cell(value.string ?? String(decoding: value.encoded, as: UTF8.self))
      }
      lines.append(cells.joined(separator: separator))
    }
    if Int.random(in: 0..<10, using: &chance) == 0 { lines.append(HostileValues.text(&chance)) }
    return lines
  }

  private func target(of route: DrivenRoute, _ chance: inout Seeded) -> String {
    var segments: [String] = []
    for segment in route.path.split(separator: "/") {
      guard segment.hasPrefix("{") else {
        segments.append(String(segment))
        continue
      }
      let before = segments.last ?? ""
      let known = bodies.known[before] ?? []
      let isKnown = !known.isEmpty && Int.random(in: 0..<4, using: &chance) > 0
      segments.append(Self.escaped(isKnown ? chance.pick(known) : HostileValues.text(&chance)))
    }
    var target = "/" + segments.joined(separator: "/")
    var pairs: [String] = []
    for name in route.query where Int.random(in: 0..<3, using: &chance) > 0 {
      pairs.append("\(name)=\(Self.escaped(queryValue(name, &chance)))")
    }
    if Int.random(in: 0..<40, using: &chance) == 0 { pairs.append("\(chance.pick(["x", "limit", "%", "a=b"]))=%zz") }
    if !pairs.isEmpty { target += "?" + pairs.joined(separator: "&") }
    return target
  }

  private func queryValue(_ name: String, _ chance: inout Seeded) -> String {
    switch (name, Int.random(in: 0..<4, using: &chance)) {
    case ("cursor", 1...): cursor(&chance)
    case ("limit", 1...): chance.pick(["1", "2", "1000", "0", "1001", "-1"] + HostileValues.numbers)
    case (_, 1): chance.pick(HostileValues.numbers)
    case (_, 2):
      bodies.known[name].map { chance.pick($0) } ?? chance.pick(["accepted", "ios", "apns", "production", "true"])
    default: HostileValues.text(&chance)
    }
  }

  /// One that was given, with another number in it; or one of a form that was seen.
  private func cursor(_ chance: inout Seeded) -> String {
    let forms = [
      "e:- - q (abc x", "e:- - g 0 1", "e:- - s 0 ", "m:msg_7zzzzzzzzzzzzzzzzzzzzzzzzz", "v:0.0/d1", "d:0.0", "d:63.1",
      "d:7.100", "d:-1.1", "d:1.1.1", "e:msg_7zzzzzzzzzzzzzzzzzzzzzzzzz", "t: 1", "t: 1 a", "t:news",
    ]
    let given = cursors.map { Base64URL.decode($0).map { String(decoding: $0, as: UTF8.self) } ?? $0 }
    var text = chance.pick(given.isEmpty || Bool.random(using: &chance) ? forms : given)
    for _ in 0..<Int.random(in: 0...2, using: &chance) {
      let numbers = text.matches(of: /[0-9]+/).map(\.range)
      guard let range = numbers.isEmpty ? nil : chance.pick(numbers) else { break }
      text.replaceSubrange(range, with: chance.pick(HostileValues.numbers))
    }
    return Int.random(in: 0..<8, using: &chance) == 0 ? text : Base64URL.encode(Array(text.utf8))
  }

  static func escaped(_ text: String) -> String {
    var escaped = ""
    for byte in text.utf8 {
      let isPlain =
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "-._~:".utf8.contains(byte)
      if isPlain {
        escaped.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        escaped += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
      }
    }
    return escaped
  }
}
