package import Domain
package import HTTPServer
import Loop
package import Store

/// Pages for people, which are served beside the API on its port. Asked on the loop of the service.
package protocol WebPages: AnyObject {
  /// All at and below this path is theirs. It begins with a slash and does not end with one.
  var root: String { get }
  /// Bytes of the body of a request to this path, at most.
  var maximumBodyOf: @Sendable (_ path: String) -> Int { get }

  /// Asked where the body is larger than a form of a few fields: on whose account it is read, or why it is not.
  func admit(upload request: HTTPServerRequest) async -> UploadVerdict

  /// With the body, and not before there is room for it.
  func answer(_ request: HTTPServerRequest) async -> HTTPServerResponse
}

/// What becomes of a large body that is sent to a page.
package enum UploadVerdict {
  /// It is read on the account of this key.
  case take(APIKey)
  case refuse(HTTPServerResponse)
}

/// Left by the admission of a request for a page.
final class PagePermit: Sendable {}

extension WebPages {
  func serves(_ path: String) -> Bool { path.isBelow(root) }
}

extension String {
  /// As a path: it is `root`, or stands below it.
  func isBelow(_ root: String) -> Bool { self == root || hasPrefix(root + "/") }
}

extension Service {
  /// A body of so many bytes may be read before it is known who sends it.
  private static let smallForm = 16_384

  private static func hasBody(_ request: HTTPServerRequest) -> Bool {
    request.header("content-length").map { $0 != "0" } ?? (request.header("transfer-encoding") != nil)
  }

  func admit(page request: HTTPServerRequest, of pages: any WebPages) -> HTTPAdmission {
    do throws(Problem) {
      guard ["GET", "HEAD", "POST"].contains(request.method) else {
        throw Problem(
          .methodNotAllowed, "This path allows GET, HEAD, POST", headers: [Header("allow", "GET, HEAD, POST")])
      }
      try checkRoom(request)
      let length = request.header("content-length").flatMap { Whole.read($0, in: 0...Int.max) } ?? .max
      guard Self.hasBody(request), min(length, pages.maximumBodyOf(request.path)) > Self.smallForm else {
        return .now(.take(permit: PagePermit(), key: ""))
      }
      guard request.method == "POST" else { throw Problem(.bodyTooLarge, "This request takes no body") }
      return .later { [self] in
        switch await pages.admit(upload: request) {
        case .refuse(let refusal): return .answer(finish(refusal, request, pages.root, nil, began: loop.now))
        case .take(let key):
          do throws(Problem) {
            try await limiter.allowance(of: key).take(.requests, 1)
            return .take(permit: PagePermit(), key: key.id)
          } catch {
            return refuse(request, pages.root, error)
          }
        }
      }
    } catch {
      return .now(refuse(request, pages.root, error))
    }
  }

  /// The key that a secret names, if it may do any of this. Wrong ones count for the address as with any request.
  package func identify(
    _ secret: String, _ request: HTTPServerRequest, any scopes: Set<Scope>
  ) async -> Result<IdentifiedKey, Problem> {
    guard let shown = store.keyring.presented(Array(secret.utf8)) else { return .failure(Authentication.malformed) }
    do throws(Problem) {
      let identity = try await identity(of: shown, request, scopes)
      try await limiter.allowance(of: identity.key).take(.requests, 1)
      return .success(identity)
    } catch {
      return .failure(error)
    }
  }

  /// The same for a key that was shown before.
  package func identify(
    _ shown: PresentedKey, _ request: HTTPServerRequest, any scopes: Set<Scope>
  ) async -> Result<IdentifiedKey, Problem> {
    do throws(Problem) { return .success(try await identity(of: shown, request, scopes)) } catch {
      return .failure(error)
    }
  }

  /// What somebody does with sessions of the pages: in the audit trail beside the operations.
  package enum SessionAct: String, CaseIterable, Sendable { case signIn, signOut, signOutEverywhere }

  /// Names that entries of the audit trail may have.
  package static var auditedOperations: [String] { AuditedOperations.names }

  /// Does it: it begins when the audit trail has its entry. `isRefused`: of what came of it.
  package func record<Value>(
    _ act: SessionAct, of key: (app: AppID, id: String), _ request: HTTPServerRequest,
    isRefused: (Value) -> Bool = { _ in false }, _ work: () async throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    try await auditor.record(act.rawValue, of: key, request, isRefused: isRefused, work)
  }

  /// An operation for somebody who is signed in: with all the checks, limits, counts and audit of a request that came
  /// with the key.
  package func perform(_ request: HTTPServerRequest, by shown: PresentedKey) async -> HTTPServerResponse {
    let began = loop.now
    switch Router.match(request.method, request.path) {
    case .refused(let problem): return finish(Answer.problem(problem), request, "unknown", problem, began: began)
    case .found(let endpoint, let parameters):
      do throws(Problem) {
        guard case .key(let scopes) = access(of: endpoint, request) else {
          let identity = try await identity(of: shown, request, Set(Scope.allCases))
          let response = try await perform(
            Permit(endpoint, parameters, opens(endpoint, identity) ? identity : nil), request)
          return finish(response, request, endpoint.path, nil, began: began)
        }
        let identity = try await identity(of: shown, request, scopes)
        try await limiter.allowance(of: identity.key).take(.requests, 1)
        let response = try await perform(Permit(endpoint, parameters, identity), request)
        return finish(response, request, endpoint.path, nil, began: began)
      } catch {
        return finish(Answer.problem(error.bounded), request, endpoint.path, error, began: began)
      }
    }
  }

  /// The key opens more of an open endpoint, as with a request that shows it.
  private func opens(_ endpoint: Endpoint, _ identity: IdentifiedKey) throws(Problem) -> Bool {
    try checkServed(endpoint)
    return endpoint.operation == Endpoint.readiness && settings.operations == .keys && identity.key.may(.read)
  }

  private func identity(
    of shown: PresentedKey, _ request: HTTPServerRequest, _ scopes: Set<Scope>
  ) async throws(Problem) -> IdentifiedKey {
    switch try identify(shown, request, scopes) {
    case .known(let identity): return identity
    case .lookUp(let find): return try await find()
    }
  }
}
