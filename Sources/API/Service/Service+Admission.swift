import Domain
import HTTPServer
import Intake
import Loop
import Store
import Telemetry

/// What is known of a request when its head has come: where it leads, and who asks.
final class Permit: Sendable {
  let endpoint: Endpoint
  let parameters: [String]
  /// Who asks. Nil on open endpoints, but for one that opens the details of `/readyz`.
  let identity: IdentifiedKey?

  init(_ endpoint: Endpoint, _ parameters: [String], _ identity: IdentifiedKey?) {
    (self.endpoint, self.parameters, self.identity) = (endpoint, parameters, identity)
  }
}

/// Route and key are known before anything of a body is read.
extension Service {
  func admit(_ request: HTTPServerRequest) -> HTTPAdmission {
    if let answer = preflight(request) { return .now(.answer(answer)) }
    if let pages, pages.serves(request.path) { return admit(page: request, of: pages) }
    let (endpoint, parameters): (Endpoint, [String])
    switch Router.match(request.method, request.path) {
    case .refused(let problem): return .now(refuse(request, "unknown", problem))
    case .found(let found, let values): (endpoint, parameters) = (found, values)
    }
    do throws(Problem) {
      guard case .key(let scopes) = access(of: endpoint, request) else {
        return try admitOpen(request, endpoint, parameters)
      }
      guard !settings.onlyOpen else {
        throw Problem(.notFound, "This process only sends; use a process that serves the API")
      }
      let shown = try authentication.shown(by: request)
      try checkRoom(request)
      switch try identify(shown, request, scopes) {
      case .known(let identity):
        let allowance = limiter.allowance(of: identity.key)
        if try allowance.takeNow(.requests, 1) { return .now(take(endpoint, parameters, identity)) }
        return .later { [self] in
          await verdict(request, endpoint) { () throws(Problem) in
            try await allowance.take(.requests, 1)
            return take(endpoint, parameters, identity)
          }
        }
      case .lookUp(let find):
        return .later { [self] in
          await verdict(request, endpoint) { () throws(Problem) in
            let identity = try await find()
            let allowance = limiter.allowance(of: identity.key)
            try await allowance.take(.requests, 1)
            return take(endpoint, parameters, identity)
          }
        }
      }
    } catch {
      return .now(refuse(request, endpoint.path, error))
    }
  }

  private func verdict(
    _ request: HTTPServerRequest, _ endpoint: Endpoint, _ find: () async throws(Problem) -> HTTPVerdict
  ) async -> HTTPVerdict {
    do throws(Problem) { return try await find() } catch { return refuse(request, endpoint.path, error) }
  }

  /// A key that opens the details of `/readyz` is looked up as any other; without one, or with another, there are none.
  private func admitOpen(
    _ request: HTTPServerRequest, _ endpoint: Endpoint, _ parameters: [String]
  ) throws(Problem) -> HTTPAdmission {
    try checkServed(endpoint)
    guard endpoint.operation == Endpoint.readiness, settings.operations == .keys,
      let shown = try? authentication.shown(by: request), let identity = try? identify(shown, request, [.read])
    else { return .now(take(endpoint, parameters, nil)) }
    switch identity {
    case .known(let key): return .now(take(endpoint, parameters, key))
    case .lookUp(let find): return .later { [self] in take(endpoint, parameters, try? await find()) }
    }
  }

  func checkServed(_ endpoint: Endpoint) throws(Problem) {
    if endpoint.operation == Endpoint.metrics, settings.operations == .elsewhere {
      throw Problem(.notFound, "Metrics are served at the address of `monitor`")
    }
  }

  /// A key that may do what is asked, or how it is found.
  enum Identity {
    case known(IdentifiedKey)
    case lookUp(() async throws(Problem) -> IdentifiedKey)
  }

  func identify(
    _ shown: PresentedKey, _ request: HTTPServerRequest, _ scopes: Set<Scope>
  ) throws(Problem) -> Identity {
    if let found = store.keyring.cached(shown) {
      try authentication.authorize(found.key, scopes, from: request.address)
      return .known(found)
    }
    try beginLookUp(shown, request)
    return .lookUp { [self] () async throws(Problem) -> IdentifiedKey in
      let found = try await lookUp(shown, request)
      try authentication.authorize(found.key, scopes, from: request.address)
      return found
    }
  }

  /// The key of a request whose body has come. A body may take minutes; meanwhile the key may be revoked.
  func stillValid(
    _ identity: IdentifiedKey, _ request: HTTPServerRequest, _ scopes: Set<Scope>
  ) async throws(Problem) -> APIKey {
    guard identity.until <= loop.now else { return identity.key }
    switch try identify(identity.presented, request, scopes) {
    case .known(let found): return found.key
    case .lookUp(let find): return try await find().key
    }
  }

  func access(of endpoint: Endpoint, _ request: HTTPServerRequest) -> Endpoint.Access {
    if settings.operations == .keys, endpoint.operation == Endpoint.metrics { return .key([.read]) }
    if endpoint.hasPages, let form = ListForm(askedBy: request), form != .json { return .key([.export]) }
    if endpoint.hasDryRun, request.query("dry_run") == "true", case .key(let scopes) = endpoint.access {
      return .key(scopes.union([.drafts]))
    }
    return endpoint.access
  }

  private func take(_ endpoint: Endpoint, _ parameters: [String], _ identity: IdentifiedKey?) -> HTTPVerdict {
    .take(permit: Permit(endpoint, parameters, identity), key: identity?.key.id ?? "")
  }

  func refuse(_ request: HTTPServerRequest, _ path: String, _ problem: Problem) -> HTTPVerdict {
    .answer(finish(Answer.problem(problem.bounded), request, path, problem, began: loop.now))
  }

  /// Asked twice: before a body is read, and when it has come.
  func checkRoom(_ request: HTTPServerRequest) throws(Problem) {
    guard requestsAtWork < settings.maximumRequests else {
      turnedAway.add(.requests, request.address, now: loop.now)
      throw Problem(.overloaded, "\(settings.maximumRequests) requests are in progress; try again soon", retryAfter: 1)
    }
  }

  // MARK: Keys that are not known now

  /// Keys that were valid before are looked up without bounds: nobody can lock out a client by showing wrong keys beside it.
  private func beginLookUp(_ shown: PresentedKey, _ request: HTTPServerRequest) throws(Problem) {
    guard !store.keyring.isFamiliar(shown) else { return }
    guard lookUpsAtWork < settings.maximumLookUps else {
      turnedAway.add(.keyLookups, request.address, now: loop.now)
      throw Problem(.overloaded, "Too many unknown keys are being looked up; try again soon", retryAfter: 1)
    }
    guard !request.isFromSharedAddress else { return }
    guard let wait = failedKeys.take(request.address, now: loop.now) else { return }
    turnedAway.add(.failedKeys, request.address, now: loop.now)
    throw Problem(
      .tooManyFailedKeys,
      "Your address showed too many API keys that do not exist; wait, and send a valid key "
        + "(behind a proxy: listen.trusted_proxies)",
      retryAfter: Int(wait / 1_000) + 1)
  }

  private func lookUp(_ shown: PresentedKey, _ request: HTTPServerRequest) async throws(Problem) -> IdentifiedKey {
    let isFamiliar = store.keyring.isFamiliar(shown)
    if !isFamiliar { lookUpsAtWork += 1 }
    defer { if !isFamiliar { lookUpsAtWork -= 1 } }
    let found: KeyLookup
    do throws(StoreError) {
      try await store.session.makeSure()
      found = try await store.keyring.find(shown)
    } catch {
      // Nobody knows whether it was wrong.
      if !isFamiliar { recover(request) }
      throw Problem(error)
    }
    let key = try authentication.valid(found)
    if !isFamiliar { recover(request) }
    return key
  }

  private func recover(_ request: HTTPServerRequest) {
    if !request.isFromSharedAddress { failedKeys.refund(request.address) }
  }
}
