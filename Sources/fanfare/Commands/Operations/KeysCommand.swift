import API
import CommandFrame
import Configuration
import Domain
import Gateway
import Intake
import Loop
import Store

enum KeysCommand {
  private static let verbsOfOne = ["show", "change", "rotate", "revoke"]
  private static let usualScopes = "send,devices,read"

  static let command = Command(
    name: "keys", summary: "create, change and revoke API keys",
    about: """
      An API key belongs to an app and has scopes: send, devices, read, export (whole lists and all devices), channels,
      test (sends drafts to test lists), keys (the API keys of the app), admin (everything), and register (safe to ship
      inside an app). A secret is shown once, when it is created; Redis holds only its hash. A rotated key has a second
      secret; the former one stays valid for a time. A change takes effect everywhere within a second. On a terminal
      revoke asks first. The command opens the store directly; the server does not have to run.
      """,
    positionals: ["create|list|show|change|rotate|revoke", "[KEY-ID]"],
    words: Dictionary(uniqueKeysWithValues: verbsOfOne.map { ($0, ["KEY-ID"]) }), wordsOfOthers: [],
    options: [
      Command.configuration,
      Command.Option("--app", "ID", "the app (needed only if several are configured)"),
      Command.Option("--name", "TEXT", "create, change: what the key is for"),
      Command.Option("--scopes", "LIST", "create, change: comma-separated (default of a new key: \(usualScopes))"),
      Command.Option(
        "--expires", "WHEN", "create, change: when it expires, such as 90d or 2026-12-01T09:00:00Z, or never (never)"),
      Command.Option(
        "--address", "ADDRESS", repeats: true,
        "create, change: from where it may be used, such as 10.0.0.0/8 or 2001:db8::7, or any (any)"),
      Command.Option("--keep", "DURATION", "rotate: how long the former secret stays valid, at most 30d (1d)"),
      Question.option("revoke: "), Command.json, ListCall.csv(of: "list"),
    ],
    examples: [
      "fanfare keys create --app shop --scopes send,read --name \"order service\"", "fanfare keys list",
      "fanfare keys rotate key_0f1e2d3c4b5a6978 --keep 7d",
    ]
  ) { arguments in try run(arguments) }

  private static func run(_ arguments: Arguments) throws -> ExitCode {
    guard let verb = arguments.positionals.first, (["create", "list"] + verbsOfOne).contains(verb) else {
      throw UsageProblem(text: "say what to do: fanfare keys create, list, show, change, rotate or revoke")
    }
    let keyID = arguments.positionals.dropFirst().first
    guard verbsOfOne.contains(verb) == (keyID != nil) else {
      throw UsageProblem(text: keyID == nil ? "name the key: fanfare keys \(verb) KEY-ID" : "\(verb) takes no key")
    }
    let edit = try KeyOptions.edit(arguments)
    let keep = try KeyOptions.keep(arguments)
    if verb == "change", edit == KeyEdit() {
      throw UsageProblem(text: "say what to change: --name, --scopes, --expires or --address")
    }
    let setup = try Setup.load(arguments)
    let app = try app(arguments, setup)
    if verb == "revoke" {
      let question = "Revoke the key \(keyID ?? "") of the app \(app.rawValue)?"
      guard Question.isConfirmed(question, arguments) else { return .failure }
    }
    let work = Work(verb: verb, id: keyID ?? "", app: app, edit: edit, keep: keep)
    let view = KeyView(json: arguments.wantsJSON, isTable: arguments.has("--csv"))
    do {
      return try Blocking.run { loop in
        let store = Store(loop: loop, redis: setup.redis, settings: setup.store)
        defer { store.close() }
        try await store.openOnce()
        guard let operation = work.operation else {
          return try await work.run(store.keyring, now: loop.wallNow, view).code
        }
        var entry = AuditEntry(command: operation, at: loop.wallNow)
        entry.object = keyID.map(AuditEntry.withoutSecret)
        return try await store.audit.record(entry, app: app) {
          try await work.run(store.keyring, now: loop.wallNow, view)
        } tell: { done, entry in
          entry.created = done.created
        }.code
      }
    } catch let error as StoreError {
      return ServeCommand.explain(.store(error))
    } catch let fault as KeyringFault {
      return explain(fault, keyID ?? "", app)
    }
  }

  private struct Work {
    let verb: String
    let id: String
    let app: AppID
    let edit: KeyEdit
    let keep: Int64

    /// As the audit calls it; nil: it changes nothing.
    var operation: String? { ["list", "show"].contains(verb) ? nil : "\(verb)Key" }

    /// `created`: the id of a new key.
    func run(
      _ keyring: APIKeyring, now: WallTime, _ view: KeyView
    ) async throws -> (code: ExitCode, created: String?) {
      switch verb {
      case "create":
        let scopes = try edit.scopes ?? KeyOptions.scopes(KeysCommand.usualScopes)
        let new = NewKey(
          name: edit.name ?? "", scopes: scopes, expiresAt: edit.expiresAt ?? nil, addresses: edit.addresses ?? [])
        let made = try await keyring.create(new, app: app, now: now)
        view.made(made.key, made.secret)
        return (.success, made.key.id)
      case "list": return (view.list(try await keyring.keys(app: app)), nil)
      case "show":
        guard let key = try await keyring.keys(app: app).first(where: { $0.id == id }) else {
          throw KeyringFault.refused(.unknown)
        }
        view.show(key)
      case "change": view.show(try await keyring.change(id, of: app, edit, now: now))
      case "rotate":
        let rotated = try await keyring.rotate(id, of: app, keep: keep, now: now)
        view.made(rotated.key, rotated.secret)
      default:
        try await keyring.revoke(id, of: app, now: now)
        view.revoked(id)
      }
      return (.success, nil)
    }
  }

  static func explain(_ fault: KeyringFault, _ id: String, _ app: AppID) -> ExitCode {
    switch fault {
    case .store(let error): return ServeCommand.explain(.store(error))
    case .refused(.unknown): Terminal.complain("app \(app.rawValue) has no key \(id)", "see fanfare keys list")
    case .refused(.rotating(let until)):
      Terminal.complain(
        "\(id) has two secrets until \(until.rfc3339)", "wait until then, or end all former secrets with --keep 0s")
    case .refused(.full):
      Terminal.complain("app \(app.rawValue) has \(APIKey.mostOfApp) keys, which is the limit", "revoke some")
    // Whoever has the machine is refused nothing else.
    case .refused(let refusal): Terminal.complain("the key is not changed (\(refusal))")
    }
    return .failure
  }

  static func app(_ arguments: Arguments, _ setup: Setup) throws(UsageProblem) -> AppID {
    let known = setup.apps.keys.map(\.rawValue).sorted()
    guard let name = arguments.text("--app") else {
      guard known.count == 1 else {
        throw UsageProblem(text: "name the app with --app: \(known.joined(separator: ", "))")
      }
      return AppID(rawValue: known[0])
    }
    guard known.contains(name) else {
      throw UsageProblem(text: "there is no app \"\(name)\"; the configured apps are \(known.joined(separator: ", "))")
    }
    return AppID(rawValue: name)
  }
}
