import Domain
import HTTPServer

/// What browsers are told of every page: it runs and shows nothing but what this process serves, stands in no frame, and is
/// kept nowhere.
enum SafeHeaders {
  static func page(_ visit: Visit) -> [Header] {
    var headers = [
      Header("content-type", "text/html; charset=utf-8"), Header("cache-control", "no-store"),
      Header("content-security-policy", policy), Header("x-content-type-options", "nosniff"),
      Header("referrer-policy", "same-origin"), Header("cross-origin-opener-policy", "same-origin"),
      Header("cross-origin-resource-policy", "same-origin"), Header("x-frame-options", "DENY"),
      Header("permissions-policy", "camera=(), microphone=(), geolocation=()"),
      Header("vary", "accept-language, cookie"),
    ]
    if visit.settings.servesTLS { headers.append(Header("strict-transport-security", "max-age=31536000")) }
    return headers
  }

  private static let policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    + "frame-ancestors 'none'; base-uri 'none'"
}
