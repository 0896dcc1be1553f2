import API
import Domain
import HTTPServer
import JSON
import Store
import TLS

/// Somebody who is signed in, and what they may do.
final class Visitor {
  let visit: Visit
  let session: ConsoleSession
  let key: APIKey
  private let service: Service

  init(_ visit: Visit, _ session: ConsoleSession, _ key: APIKey, _ service: Service) {
    (self.visit, self.session, self.key, self.service) = (visit, session, key, service)
  }

  var texts: Texts { visit.texts }
  func may(_ scope: Scope) -> Bool { key.may(scope) }

  /// The form was made for this session.
  var hasFormSecret: Bool {
    Digest.equal(Array(visit.field(Self.formField).utf8), Array(session.formSecret.utf8))
  }
  static let formField = "form"

  /// What an operation of the API answers, or the problem that it tells.
  func ask(
    _ method: String, _ path: [String], query: [(name: String, value: String)] = [], body: JSONValue? = nil
  ) async -> Result<JSONValue, ToldProblem> {
    let response = await raw(method, path, query: query, body: body.map { ($0.encoded, "application/json") })
    guard (200..<300).contains(response.status), case .whole(let bytes) = response.body else {
      return .failure(ToldProblem(response))
    }
    guard !bytes.isEmpty else { return .success(.null) }
    guard let document = try? JSON.parse(bytes, maximumDepth: 64) else { return .failure(ToldProblem(response)) }
    return .success(document)
  }

  /// The whole answer of an operation, whatever its status; its body may come in pieces.
  func raw(
    _ method: String, _ path: [String], query: [(name: String, value: String)] = [],
    body: (bytes: [UInt8], type: String)? = nil
  ) async -> HTTPServerResponse {
    var request = visit.request
    (request.method, request.path, request.query) = (method, "/" + path.map(Link.escaped).joined(separator: "/"), query)
    (request.headers, request.body, request.permit) = ([], body?.bytes ?? [], nil)
    if let body { request.headers.append(Header("content-type", body.type)) }
    return await service.perform(request, by: session.key)
  }

  func get(_ path: String..., query: [(name: String, value: String)] = []) async -> Result<JSONValue, ToldProblem> {
    await ask("GET", path, query: query.filter { !$0.value.isEmpty })
  }
}

/// A refusal of the API, in its words.
struct ToldProblem: Error {
  var status: Int
  var code: String
  var detail: String
  /// There is nothing of that name, or nothing can have it.
  var isAbsence: Bool { [400, 404, 422].contains(status) }
  /// All that the answer said; nil: it was no document.
  var document: JSONValue?

  init(_ status: Int, _ document: JSONValue?) {
    (self.status, self.document) = (status, document)
    code = document?["code"]?.string ?? ""
    detail = document?["detail"]?.string ?? ""
  }

  /// Of an answer that is not what was asked for.
  init(_ response: HTTPServerResponse) {
    guard case .whole(let bytes) = response.body else {
      self.init(response.status, nil)
      return
    }
    self.init(response.status, bytes.isEmpty ? nil : try? JSON.parse(bytes, maximumDepth: 64))
  }
}
