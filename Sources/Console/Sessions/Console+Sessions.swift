package import API
import Domain
package import HTTPServer
import Store

extension Console {
  enum Found {
    case none
    case unavailable(Problem)
    case visitor(Visitor)
  }

  /// Whoever may look at anything may sign in. A key of an app's copies is in everybody's hands.
  static let scopes = Set(Scope.allCases).subtracting([.register])

  /// Who is signed in. A key that was revoked, has ended or is used from elsewhere ends the session.
  func found(_ visit: Visit) async -> Found {
    guard let token = visit.token else { return .none }
    do throws(StoreError) {
      guard let session = try await sessions.find(token, prolongs: !visit.isRefresh) else { return .none }
      switch await service.identify(session.key, visit.request, any: Self.scopes) {
      case .success(let identity): return .visitor(Visitor(visit, session, identity.key, service))
      case .failure(let problem) where problem.code.isRetryable: return .unavailable(problem)
      case .failure: return .none
      }
    } catch {
      return .unavailable(Problem(error))
    }
  }

  package func admit(upload request: HTTPServerRequest) async -> UploadVerdict {
    let visit = Visit(request, settings)
    if let fault = visit.forgery { return .refuse(refusal(403, fault, visit)) }
    switch await found(visit) {
    case .none: return .refuse(signInPage(visit, status: 401))
    case .unavailable(let problem): return .refuse(unavailable(problem, visit))
    case .visitor(let visitor): return .take(visitor.key)
    }
  }

  func signIn(_ visit: Visit) async -> HTTPServerResponse {
    guard visit.request.method == "POST" else { return signInPage(visit) }
    guard visit.mayCarryKeys else { return signInPage(visit, status: 403) }
    switch await service.identify(
      visit.field("key").filter { !$0.isWhitespace }, visit.request, any: Self.scopes)
    {
    case .failure(let problem): return signInPage(visit, status: problem.code.status, refused: problem)
    case .success(let identity):
      do throws(StoreError) {
        if let former = visit.token { try await sessions.end(former) }
        let token = try await service.record(.signIn, of: (identity.key.app, identity.key.id), visit.request) {
          () throws(StoreError) in try await sessions.begin(identity)
        }
        if visit.isResumed, let session = try await sessions.find(token, prolongs: true) {
          let pages = ComposePages(console: self, visitor: Visitor(visit, session, identity.key, service))
          var page = await pages.resumed()
          page.headers.append(visit.cookie(token))
          return page
        }
        return redirect(visit.target ?? Link(), headers: [visit.cookie(token)])
      } catch {
        return unavailable(Problem(error), visit)
      }
    }
  }

  /// By a link that `fanfare console` made. It is used by the form of its page, as whatever shows a link in advance asks for
  /// it too.
  func enter(_ invitation: String, _ visit: Visit) async -> HTTPServerResponse {
    guard visit.mayCarryKeys else { return signInPage(visit, status: 403) }
    guard visit.request.method == "POST" else { return enterPage(invitation, visit) }
    do throws(StoreError) {
      if let former = visit.token { try await sessions.end(former) }
      guard let (app, key) = try await sessions.inviter(invitation),
        let token = try await service.record(
          .signIn, of: (app, key), visit.request, isRefused: { $0 == nil },
          { () throws(StoreError) in try await sessions.accept(invitation) })
      else {
        return signInPage(visit, status: 410, isUsed: true)
      }
      return redirect(Link(), headers: [visit.cookie(token)])
    } catch {
      return unavailable(Problem(error), visit)
    }
  }

  func signOut(_ visitor: Visitor, everywhere: Bool) async -> HTTPServerResponse {
    do throws(StoreError) {
      let (app, key) = (visitor.key.app, visitor.key.id)
      try await service.record(everywhere ? .signOutEverywhere : .signOut, of: (app, key), visitor.visit.request) {
        () throws(StoreError) in
        if everywhere { try await sessions.endAll(of: key, app: app) }
        if let token = visitor.visit.token { try await sessions.end(token) }
      }
    } catch {
      return unavailable(Problem(error), visitor.visit)
    }
    return redirect(Link("sign-in"), headers: [visitor.visit.cookie(nil)])
  }
}

extension Visit {
  /// A session ended while somebody wrote: what they wrote came with the form, and comes back behind the sign-in.
  var isResumed: Bool { !field(Self.resume).isEmpty }
  static let resume = "resume"

  /// What a form had that nobody was signed in for, to be sent again with the sign-in.
  var written: [(name: String, value: String)] {
    guard request.method == "POST", path == ["compose"] || isResumed else { return [] }
    let others = ["key", "target", "act", Visitor.formField, Self.resume]
    return form.filter { !others.contains($0.name) && !$0.value.isEmpty }
  }

  /// Where somebody wanted to go before they were asked to sign in: a page of the console.
  var target: Link? {
    let wanted = field("target")
    guard wanted.hasPrefix(Link.root + "/"), wanted.utf8.count <= 2_000 else { return nil }
    let halves = wanted.dropFirst(Link.root.count).split(separator: "?", maxSplits: 1)
    guard let parts = halves.first.flatMap(Self.parts), !parts.isEmpty, !parts.contains(where: Link.isRelative) else {
      return nil
    }
    let query = halves.count == 2 ? Form.read(Array(halves[1].utf8), Form.type) : []
    return Link(parts: parts, query: query)
  }

  /// The page itself, as it was asked for.
  var address: String {
    let query = request.query.map { Link.escaped($0.name) + "=" + Link.escaped($0.value) }.joined(separator: "&")
    return request.path + (query.isEmpty ? "" : "?" + query)
  }
}
