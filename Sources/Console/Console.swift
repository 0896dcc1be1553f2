package import API
import Domain
package import HTTPServer
package import Loop
package import Store

/// What an operator decides about the console.
package struct ConsoleSettings: Sendable {
  /// Shown on every page, so that nobody takes one environment for another. Empty: none is named.
  package var environment = ""
  package var colour = Colour.grey
  /// The API serves HTTPS itself.
  package var servesTLS = false
  /// Names no environment, and takes keys only from the machine itself.
  package init() {}

  /// Of the environment's name.
  package enum Colour: String, Sendable, CaseIterable { case grey, blue, green, amber, red, violet }
}

/// The pages for product, marketing and operations, below `/console`. A client of the API within its process: a page shows
/// what the operations answer to the key that signed in, so nobody sees or does more than by that key. Belongs to the
/// loop of the service.
package final class Console: WebPages {
  /// `/console`.
  package let root = Link.root
  package let maximumBodyOf: @Sendable (String) -> Int = { path in
    uploads[String(path.dropFirst(Link.root.count))] ?? 16_384
  }
  /// What takes more than a form of a few fields, by its path.
  private static let uploads: [String: Int] = [
    "/compose": 786_432, "/compose/check": 786_432, "/audiences": 262_144,
    "/import": ConsoleUploads.longest + 65_536,
  ]

  let service: Service
  let sessions: ConsoleSessions
  let loop: EventLoop
  let settings: ConsoleSettings

  /// `service` is not started yet; it serves these pages once it is told to.
  package init(service: Service, sessions: ConsoleSessions, loop: EventLoop, settings: ConsoleSettings) {
    (self.service, self.sessions, self.loop, self.settings) = (service, sessions, loop, settings)
  }

  /// On the loop. Never fails: what goes wrong is a page that says so.
  package func answer(_ request: HTTPServerRequest) async -> HTTPServerResponse {
    if let asset = Asset.find(request.path) { return asset.response(to: request) }
    let visit = Visit(request, settings)
    guard let path = visit.path else { return refusal(400, .badAddress, visit) }
    if request.method == "POST", let fault = visit.forgery { return refusal(403, fault, visit) }
    if path == ["sign-in"] { return await signIn(visit) }
    if path.count == 2, path[0] == "enter" { return await enter(path[1], visit) }
    switch await found(visit) {
    case .none where visit.isFollowedFromElsewhere: return Frame.again(visit)
    case .none: return signInPage(visit, status: request.method == "POST" || visit.isRefresh ? 401 : 200)
    case .unavailable(let problem): return unavailable(problem, visit)
    case .visitor(let visitor): return await answer(path, visitor)
    }
  }

  private func answer(_ path: [String], _ visitor: Visitor) async -> HTTPServerResponse {
    let isPost = visitor.visit.request.method == "POST"
    if isPost, !visitor.hasFormSecret {
      // Somebody who has signed in again meanwhile keeps what they wrote; nothing is done.
      guard path == ["compose"] else { return refusal(403, .forgedForm, visitor.visit) }
      return await ComposePages(console: self, visitor: visitor).resumed()
    }
    let page = isPost ? await act(path, visitor) : await view(path, visitor)
    return page ?? refusal(404, .noSuchPage, visitor.visit)
  }

  /// Changes nothing. Nil: there is no such page.
  private func view(_ path: [String], _ visitor: Visitor) async -> HTTPServerResponse? {
    switch (path.first, path.count) {
    case (nil, _): await overview(visitor)
    case ("campaigns", 1): await campaigns(visitor)
    case ("campaigns", _): await CampaignPages(console: self, visitor: visitor).view(path.dropFirst())
    case ("compose", _), ("drafts", _), ("test-lists", _):
      await ComposePages(console: self, visitor: visitor).view(path)
    case ("people", _), ("devices", _): await PeoplePages(console: self, visitor: visitor).view(path)
    case ("audiences", _), ("tags", _): await AudiencePages(console: self, visitor: visitor).view(path)
    case ("import", _): await ImportPages(console: self, visitor: visitor).view(path)
    case ("operations", 1): await operations(visitor)
    case ("keys", _): await KeyPages(console: self, visitor: visitor).view(path.dropFirst())
    case ("audit", 1): await AuditPage(console: self, visitor: visitor).page()
    default: nil
    }
  }

  /// Does something, and leads to a page. Nil: there is no such act.
  private func act(_ path: [String], _ visitor: Visitor) async -> HTTPServerResponse? {
    switch (path.first, path.count) {
    case ("campaigns", _): await CampaignPages(console: self, visitor: visitor).act(path.dropFirst())
    case ("compose", _), ("drafts", _), ("test-lists", _): await ComposePages(console: self, visitor: visitor).act(path)
    case ("people", _), ("devices", _): await PeoplePages(console: self, visitor: visitor).act(path)
    case ("audiences", _): await AudiencePages(console: self, visitor: visitor).act(path)
    case ("import", _): await ImportPages(console: self, visitor: visitor).act(path)
    case ("keys", _): await KeyPages(console: self, visitor: visitor).act(path.dropFirst())
    case ("prunes", 2): await decide(prunes: path[1], visitor)
    case ("sign-out", 1): await signOut(visitor, everywhere: false)
    case ("sign-out-everywhere", 1): await signOut(visitor, everywhere: true)
    default: nil
    }
  }
}
