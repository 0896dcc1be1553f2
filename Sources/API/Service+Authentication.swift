import Domain
import HTTPServer
import Store

extension Service {
  /// The key that a request shows, if it may do what is asked.
  func authenticate(_ request: HTTPServerRequest, _ scopes: Set<Scope>) async throws(Problem) -> APIKey {
    guard let secret = Self.bearer(request) else {
      throw Self.unauthorized("Send `Authorization: Bearer fk_…` with an API key", error: nil)
    }
    let found: APIKey?
    do throws(StoreError) {
      found = try await store.key(forSecret: secret)
    } catch {
      throw Problem(error)
    }
    guard let key = found, apps[key.app] != nil else {
      throw Self.unauthorized("This API key is unknown or revoked", error: "invalid_token")
    }
    guard key.scopes.contains(.admin) || !key.scopes.isDisjoint(with: scopes) else {
      let names = scopes.map(\.rawValue).sorted()
      let detail = names.count == 1 ? "the scope `\(names[0])`" : "one of the scopes \(names.joined(separator: ", "))"
      let challenge = "Bearer error=\"insufficient_scope\", scope=\"\(names.joined(separator: " "))\""
      throw Problem(
        .forbidden, "This call needs \(detail); the key lacks it", headers: [Header("www-authenticate", challenge)])
    }
    return key
  }

  /// Longer ones are no keys of ours and are not worth a look-up.
  private static let longestSecret = 256

  private static func bearer(_ request: HTTPServerRequest) -> String? {
    let presented = request.headers.filter { $0.name == "authorization" }
    guard presented.count == 1, let value = presented.first?.value else { return nil }
    let parts = value.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
    guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
    let secret = parts[1]
    guard secret.hasPrefix("fk_"), secret.utf8.count <= longestSecret,
      secret.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
    else { return nil }
    return String(secret)
  }

  private static func unauthorized(_ detail: String, error: String?) -> Problem {
    let challenge = "Bearer realm=\"fanfare\"" + (error.map { ", error=\"\($0)\"" } ?? "")
    return Problem(.unauthorized, detail, headers: [Header("www-authenticate", challenge)])
  }
}
