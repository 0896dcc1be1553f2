import Domain
import HTTPServer
import Loop
import Store

/// Pages of web sites may register their browsers, where an app names their origins (CORS, `registration.origins`). It
/// holds for the route of registrations alone, and gives no cookies or other credentials of the browser.
extension Service {
  /// The answer to a browser that asks whether a page may register; nil: it is no such question, or no app names the
  /// page's origin. The question has no key: which app it is for comes with the registration.
  func preflight(_ request: HTTPServerRequest) -> HTTPServerResponse? {
    guard request.method == "OPTIONS", !settings.onlyOpen, !configuration.origins.isEmpty,
      request.path == Endpoint.registrationPath,
      request.header("access-control-request-method") == "POST", let origin = Self.origin(of: request),
      configuration.origins.contains(origin)
    else { return nil }
    let headers = [
      Header("access-control-allow-methods", "POST"),
      Header("access-control-allow-headers", "authorization, content-type, \(RequestIdentity.header)"),
      // Seconds.
      Header("access-control-max-age", "600"),
    ]
    return finish(
      HTTPServerResponse(status: 204, headers: headers), request, Endpoint.registrationPath, nil, began: loop.now)
  }

  /// The answer with what a browser needs to show it to the page. A key of another app lets no page see its answers.
  func sharing(_ response: HTTPServerResponse, with request: HTTPServerRequest) -> HTTPServerResponse {
    guard !configuration.origins.isEmpty, request.path == Endpoint.registrationPath,
      request.method == "POST" || request.method == "OPTIONS"
    else { return response }
    var shared = response
    // Caches must not give one origin the answer for another, nor for none.
    shared.headers.append(Header("vary", "Origin"))
    guard let origin = Self.origin(of: request), names(origin, request) else { return shared }
    shared.headers.append(Header("access-control-allow-origin", origin))
    if request.method == "POST" {
      shared.headers.append(Header("access-control-expose-headers", "retry-after, www-authenticate"))
    }
    return shared
  }

  private func names(_ origin: String, _ request: HTTPServerRequest) -> Bool {
    guard let key = (request.permit as? Permit)?.identity?.key else { return configuration.origins.contains(origin) }
    return configuration.apps[key.app]?.registration.origins.contains(origin) ?? false
  }

  /// Nil: none, or several.
  private static func origin(of request: HTTPServerRequest) -> String? {
    let origins = request.headers.filter { $0.name == "origin" }
    return origins.count == 1 ? origins[0].value : nil
  }
}
