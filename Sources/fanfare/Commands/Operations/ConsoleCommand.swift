import API
import CommandFrame
import Configuration
import Domain
import Gateway
import JSON
import Loop
import Store

/// Signs somebody at this machine in to the console, without a key.
enum ConsoleCommand {
  private static let usualScopes = "admin"
  /// Of the key behind the link.
  private static let life: Int64 = 43_200_000

  static let command = Command(
    name: "console", summary: "print a link that signs in to the console once",
    about: """
      Prints a link to the console of this gateway. It signs in once, within five minutes, in any browser that reaches the
      gateway. The session does what an API key with these scopes may do; that key is created for it, expires after 12
      hours, and is listed by fanfare keys. The command opens the store directly; the server must run when the link is
      opened.
      """,
    positionals: [],
    options: [
      Command.configuration,
      Command.Option("--app", "ID", "the app (needed only if several are configured)"),
      Command.Option("--scopes", "LIST", "comma-separated (default: \(usualScopes))"),
      Command.Option("--base", "URL", "where the browser reaches the gateway (default: its listen.address and port)"),
      Command.json,
    ],
    examples: ["fanfare console", "fanfare console --scopes read --base https://push.example.com"]
  ) { arguments in try run(arguments) }

  private static func run(_ arguments: Arguments) throws -> ExitCode {
    let scopes = try KeyOptions.scopes(arguments.text("--scopes") ?? usualScopes)
    let setup = try Setup.load(arguments)
    let app = try KeysCommand.app(arguments, setup)
    guard setup.configuration.console.isServed else {
      Terminal.complain("the console is turned off", "set console.enabled to true and start the gateway again")
      return .failure
    }
    var base = arguments.text("--base") ?? address(setup.configuration)
    while base.hasSuffix("/") { base.removeLast() }
    do {
      let token = try Blocking.run { loop in
        let store = Store(loop: loop, redis: setup.redis, settings: setup.store)
        defer { store.close() }
        try await store.openOnce()
        try await dropEnded(store.keyring, app, now: loop.wallNow)
        let new = NewKey(name: APIKey.nameOfLinks, scopes: scopes, expiresAt: loop.wallNow + life)
        let entry = AuditEntry(command: "createKey", at: loop.wallNow)
        let made = try await store.audit.record(entry, app: app) {
          try await store.keyring.create(new, app: app, now: loop.wallNow)
        } tell: { made, entry in
          entry.created = made.key.id
        }
        guard let shown = store.keyring.presented(Array(made.secret.utf8)),
          case .valid(let identity) = try await store.keyring.find(shown)
        else { throw StoreError.unavailable("the new key is not found", retryAfter: 1) }
        return try await store.consoleSessions.invite(identity)
      }
      let link = "\(base)/console/enter/\(token)"
      if arguments.wantsJSON {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("url", link)
        writer.member("seconds", Int(ConsoleSessions.linkMilliseconds / 1_000))
        writer.endObject()
        Terminal.print(writer.bytes)
      } else {
        Terminal.print(link)
      }
      return .success
    } catch let error as StoreError {
      return ServeCommand.explain(.store(error))
    } catch let fault as KeyringFault {
      return KeysCommand.explain(fault, "", app)
    }
  }

  /// Keys of earlier links, so that they do not fill the app's place for keys.
  private static func dropEnded(_ keyring: APIKeyring, _ app: AppID, now: WallTime) async throws {
    for key in try await keyring.keys(app: app) where key.name == APIKey.nameOfLinks {
      if let end = key.expiresAt, end <= now { try await keyring.revoke(key.id, of: app, now: now) }
    }
  }

  /// As the gateway's own machine reaches it.
  private static func address(_ configuration: Configuration) -> String {
    let listen = configuration.listen
    let isEverywhere = ["0.0.0.0", "::"].contains(listen.address)
    let host = isEverywhere ? "127.0.0.1" : listen.address.contains(":") ? "[\(listen.address)]" : listen.address
    return "\(listen.certificate == nil ? "http" : "https")://\(host):\(listen.port)"
  }
}
