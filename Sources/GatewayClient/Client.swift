package import Domain
package import HTTPClient
import JSON
package import Loop

/// A client of a running gateway or sandbox, over HTTP, on one loop.
package struct Client {
  private let http: HTTPClient
  private let base: String
  private let key: String?

  /// What came back.
  package struct Answer: Sendable {
    package var status: Int
    package var body: [UInt8]
    /// The request was taken before, and this is the answer of then.
    package var isRepeated = false
    /// Nil if the body is not JSON.
    package var document: JSONValue? { try? JSON.parse(body) }
    package var isSuccess: Bool { (200..<300).contains(status) }

    package init(status: Int, body: [UInt8], isRepeated: Bool = false) {
      self.status = status
      self.body = body
      self.isRepeated = isRepeated
    }
  }

  /// `base`: `http://host:port`. `key`: the API key.
  package init(loop: EventLoop, base: String, key: String? = nil, caFile: String? = nil, connections: Int = 8) {
    var settings = HTTPClientSettings()
    settings.caFile = caFile
    settings.connectionsPerHost = connections
    settings.maximumBody = 256 << 20
    http = HTTPClient(loop: loop, settings: settings)
    self.base = base.hasSuffix("/") ? String(base.dropLast()) : base
    self.key = key
  }

  /// One request, of at most a minute.
  package func call(
    _ method: String, _ path: String, _ body: [UInt8] = [], type: String = "application/json", headers: [Header] = []
  ) async throws(HTTPClientFailure) -> Answer {
    var headers = headers + credentials
    if !body.isEmpty { headers.append(Header("content-type", type)) }
    let answer = try await http.send(
      HTTPClientRequest(method: method, url: base + path, headers: headers, body: body, timeout: 60_000))
    return Answer(
      status: answer.status, body: answer.body,
      isRepeated: answer.headers.contains { $0.name == "idempotent-replayed" && $0.value == "true" })
  }

  /// A list of any length: `receive` takes it as it comes, and says whether it wants more.
  package func export(
    _ path: String, as type: String, _ receive: @escaping ([UInt8]) -> Bool
  ) async throws(HTTPClientFailure) -> Answer {
    let request = HTTPClientRequest(
      method: "GET", url: base + path, headers: credentials + [Header("accept", type)],
      timeout: Self.longestExport)
    let answer = try await http.send(request, receive: receive)
    return Answer(status: answer.status, body: answer.body)
  }
  /// Lines of one request of an import, unless told otherwise.
  package static let usualBatch = 10_000

  /// Milliseconds.
  private static let longestExport: Int64 = 24 * 3_600_000

  private var credentials: [Header] { key.map { [Header("authorization", "Bearer \($0)")] } ?? [] }

  /// Fails what is at work; nothing may be sent afterwards.
  package func close() { http.close() }
}

extension Client.Answer {
  /// What a problem document says, in lines for people.
  package var problem: String {
    guard let document else { return "status \(status)" }
    var text = document["title"]?.string ?? "status \(status)"
    if let detail = document["detail"]?.string, detail != text {
      // What is not there is named by the detail.
      text = document["code"]?.string == "not_found" ? detail : "\(text): \(detail)"
    }
    let violations = document["violations"]?.array ?? document["errors"]?.array ?? []
    // Of a single one the detail says it all.
    if violations.count == 1, let only = violations[0]["detail"]?.string, text.hasSuffix(only) { return text }
    // They follow here.
    text = text.replacing("; see `violations`", with: violations.isEmpty ? "" : ":")
    for violation in violations {
      let detail = violation["detail"]?.string ?? ""
      let place = violation["parameter"]?.string.map { "/\($0)" } ?? violation["pointer"]?.string ?? ""
      text += "\n  \(FieldName.sentence(detail, at: place))"
    }
    return text
  }
}
