import Domain
import HTTPServer
import JSON

/// The control port: rules in, statistics and log out. Plain HTTP on loopback.
final class ControlAPI {
  static let usualLimit = 1000
  static let maximumLimit = 100_000

  private let stage: Stage
  /// Ports and names, as in `sandbox.json`.
  var about: [UInt8] = []

  init(stage: Stage) { self.stage = stage }

  func handle(_ request: HTTPServerRequest) -> HTTPServerResponse {
    switch (request.method, request.path) {
    case ("GET", "/"): return Self.json(200, about)
    case ("PUT", "/rules"): return putRules(request.body)
    case ("GET", "/rules"): return Self.json(200, rules())
    case ("GET", "/stats"): return Self.json(200, statistics())
    case ("DELETE", "/stats"):
      resetStatistics()
      return HTTPServerResponse(status: 204)
    case ("GET", "/log"): return log(request)
    case ("DELETE", "/log"):
      stage.log.removeAll()
      return HTTPServerResponse(status: 204)
    case (_, "/rules"): return Self.problem(405, "GET or PUT", allow: "GET, PUT")
    case (_, "/stats"), (_, "/log"): return Self.problem(405, "GET or DELETE", allow: "GET, DELETE")
    default: return Self.problem(404, "paths: /, /rules, /stats, /log")
    }
  }

  private func putRules(_ body: [UInt8]) -> HTTPServerResponse {
    do {
      stage.rules = RuleBook(try RuleReader.read(body))
      return Self.json(200, rules())
    } catch {
      var writer = JSONWriter()
      writer.beginObject()
      writer.member("error", "the rules were not changed")
      writer.objects("faults", error.faults) { writer, fault in
        writer.member("rule", fault.rule)
        if !fault.field.isEmpty { writer.member("field", fault.field) }
        writer.member("problem", fault.problem)
      }
      writer.endObject()
      return Self.json(400, writer.bytes)
    }
  }

  private func rules() -> [UInt8] {
    var writer = JSONWriter()
    writer.beginArray()
    for standing in stage.rules.standings {
      writer.beginObject()
      standing.rule.writeMembers(to: &writer)
      writer.member("matched", standing.matched)
      writer.member("played", standing.played)
      writer.endObject()
    }
    writer.endArray()
    return writer.bytes
  }

  private func statistics() -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    stage.statistics.write(to: &writer)
    writer.key("log")
    writer.beginObject()
    writer.member("entries", stage.log.count)
    writer.member("first", stage.log.first)
    writer.member("last", stage.log.last)
    writer.endObject()
    writer.endObject()
    return writer.bytes
  }

  private func resetStatistics() {
    var fresh = Statistics()
    for provider in SandboxProvider.allCases {
      fresh[provider].connectionsOpen = stage.statistics[provider].connectionsOpen
    }
    stage.statistics = fresh
  }

  private func log(_ request: HTTPServerRequest) -> HTTPServerResponse {
    guard let after = Self.number(request.query("after"), usual: 0),
      let limit = Self.number(request.query("limit"), usual: UInt64(Self.usualLimit)), limit <= Self.maximumLimit
    else { return Self.problem(400, "after must be a number, limit one up to \(Self.maximumLimit)") }
    var lines: [UInt8] = []
    for entry in stage.log.entries(after: after, limit: Int(limit)) {
      var writer = JSONWriter(reserving: 1024)
      entry.write(to: &writer)
      lines += writer.bytes
      lines.append(UInt8(ascii: "\n"))
    }
    return HTTPServerResponse(status: 200, headers: [Header("content-type", "application/x-ndjson")], body: lines)
  }

  private static func number(_ text: String?, usual: UInt64) -> UInt64? {
    guard let text else { return usual }
    return UInt64(text)
  }
  private static func json(_ status: Int, _ body: [UInt8]) -> HTTPServerResponse {
    HTTPServerResponse(status: status, headers: [Header("content-type", "application/json")], body: body)
  }
  private static func problem(_ status: Int, _ text: String, allow: String? = nil) -> HTTPServerResponse {
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("error", text)
    writer.endObject()
    var response = json(status, writer.bytes)
    if let allow { response.headers.append(Header("allow", allow)) }
    return response
  }
}
