import Domain
import HTTPServer
import Intake
import JSON

/// How answers are written.
enum Answer {
  static func json(_ status: Int = 200, headers: [Header] = [], _ write: (inout JSONWriter) -> Void)
    -> HTTPServerResponse
  {
    var writer = JSONWriter()
    writer.beginObject()
    write(&writer)
    writer.endObject()
    return bytes("application/json", status: status, headers: headers, writer.bytes)
  }

  static func bytes(_ type: String, status: Int = 200, headers: [Header] = [], _ body: [UInt8]) -> HTTPServerResponse {
    HTTPServerResponse(status: status, headers: self.headers(type) + headers, body: body)
  }

  static func headers(_ type: String) -> [Header] {
    [Header("content-type", type), Header("cache-control", "no-store")]
  }

  static func problem(_ problem: Problem) -> HTTPServerResponse {
    var writer = JSONWriter()
    problem.write(to: &writer)
    var headers = problem.headers
    if let seconds = problem.retryAfter { headers.append(Header("retry-after", String(max(1, seconds)))) }
    return bytes("application/problem+json", status: problem.code.status, headers: headers, writer.bytes)
  }
}

extension Problem {
  /// The document.
  func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("type", code.type)
    writer.member("title", code.title)
    writer.member("status", code.status)
    writer.member("code", code.rawValue)
    writer.member("detail", detail)
    writer.member("retryable", code.isRetryable)
    writer.member("id", id?.description)
    if !violatedPolicies.isEmpty {
      writer.member("violated_policies", JSONValue.array(violatedPolicies.map { .string($0) }))
    }
    if !violations.isEmpty {
      writer.key("violations")
      writer.beginArray()
      for violation in violations { violation.write(to: &writer) }
      writer.endArray()
    }
    writer.endObject()
  }
}

extension Violation {
  func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("pointer", pointer)
    writer.member("parameter", parameter)
    writer.member("code", code)
    writer.member("detail", detail)
    if let column { writer.member("column", column) }
    writer.endObject()
  }
}
