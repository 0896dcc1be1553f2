import CommandFrame
import Domain
import Glibc

/// Which server a command asks, and with which key: what the command line says, then a profile that it names, then
/// `FANFARE_URL` and `FANFARE_KEY`, then the profile `default`.
struct ServerChoice: Equatable {
  static let localURL = "http://127.0.0.1:8080"

  var url: String
  /// Nil: none is known for this server.
  var key: String?

  init(_ arguments: Arguments) throws(UsageProblem) {
    let profiles: Profiles
    do throws(Profiles.Unreadable) {
      profiles = try Profiles()
    } catch {
      throw UsageProblem(text: "\(error.path) is not a valid profile file: correct it, or delete it and log in again")
    }
    let named = arguments.text("--profile") ?? Self.environment("FANFARE_PROFILE")
    if let named, profiles.byName[named] == nil {
      let near = Suggestion.nearest(to: named, among: profiles.byName.keys.sorted())
      throw UsageProblem(
        text: "there is no profile \"\(named.prefix(64))\""
          + (near.map { "; did you mean \($0)?" } ?? "; create it with fanfare login --profile \(named.prefix(64))"))
    }
    let profile = profiles.byName[named ?? Profiles.usual]
    self.init(
      url: arguments.text("--url"), key: try KeyFile.key(of: arguments), profile: profile, isNamed: named != nil,
      environment: (Self.environment("FANFARE_URL"), Self.environment("FANFARE_KEY")))
  }

  /// A profile's key goes to that profile's server only, never to another one that happens to be named beside it.
  init(
    url: String?, key: String?, profile: Profiles.Profile?, isNamed: Bool, environment: (url: String?, key: String?)
  ) {
    let outer = isNamed ? (url: profile?.url, key: nil) : environment
    self.url = url ?? outer.url ?? (isNamed || outer.key == nil ? profile?.url : nil) ?? Self.localURL
    let own = profile.flatMap { Self.isSame($0.url, self.url) ? $0.key : nil }
    self.key = key ?? outer.key ?? own
  }

  private static func isSame(_ one: String, _ other: String) -> Bool {
    func plain(_ url: String) -> String { url.hasSuffix("/") ? String(url.dropLast()) : url }
    return plain(one) == plain(other)
  }

  private static func environment(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
  }
}
