import Domain
import HTTPServer
import TLS

/// A file of the console. Its address has the hash of its content, so that a browser may keep it for ever.
struct Asset: Sendable {
  let link: Link
  private let type: String
  private let content: [UInt8]
  private let path: String

  static let style = Asset("console", "css", "text/css; charset=utf-8", PackageResources.console_css)
  static let script = Asset("console", "js", "text/javascript; charset=utf-8", PackageResources.console_js)
  static let icon = Asset("icon", "svg", "image/svg+xml", PackageResources.icon_svg)
  private static let all = [style, script, icon]

  private init(_ name: String, _ ending: String, _ type: String, _ content: [UInt8]) {
    let hash = Hex.text(Digest.sha256(content).prefix(8))
    link = Link("assets", "\(name).\(hash).\(ending)")
    (self.type, self.content) = (type, content)
    path = link.text
  }

  /// Nil: the path is none of a file.
  static func find(_ path: String) -> Asset? { all.first { $0.path == path } }

  func response(to request: HTTPServerRequest) -> HTTPServerResponse {
    HTTPServerResponse(
      status: 200,
      headers: [
        Header("content-type", type), Header("cache-control", "public, max-age=31536000, immutable"),
        Header("x-content-type-options", "nosniff"), Header("cross-origin-resource-policy", "same-origin"),
      ], body: content)
  }
}
