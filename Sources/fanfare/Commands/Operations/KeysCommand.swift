import API
import CommandFrame
import Domain
import Gateway
import JSON
import Loop
import Store

enum KeysCommand {
  static let command = Command(
    name: "keys", summary: "create, list and revoke API keys",
    about: """
      An API key belongs to an app and has scopes: send, devices, read, admin, and register (safe to ship inside an
      app). The secret is shown once, when the key is created; Redis holds only its hash. On a terminal revoke asks first.
      The command opens the store directly; the server need not run.
      """,
    positionals: ["create|list|revoke", "[KEY-ID]"],
    words: ["revoke": ["KEY-ID"]], wordsOfOthers: [],
    options: [
      Command.configuration,
      Command.Option("--app", "ID", "the app (needed only if several are configured)"),
      Command.Option("--scopes", "LIST", "comma-separated (send,devices,read)"),
      Command.Option("--note", "TEXT", "what the key is for"),
      Question.option("revoke: "), Command.json, ListCall.csv(of: "list"),
    ],
    examples: ["fanfare keys create --app shop --scopes send,read --note \"order service\"", "fanfare keys list"]
  ) { arguments in try run(arguments) }

  private static func run(_ arguments: Arguments) throws -> ExitCode {
    guard let verb = arguments.positionals.first, ["create", "list", "revoke"].contains(verb) else {
      throw UsageProblem(text: "say what to do: fanfare keys create, list or revoke")
    }
    let scopes = try scopes(arguments.text("--scopes") ?? "send,devices,read")
    let keyID = arguments.positionals.dropFirst().first
    guard (verb == "revoke") == (keyID != nil) else {
      throw UsageProblem(text: verb == "revoke" ? "name the key: fanfare keys revoke KEY-ID" : "\(verb) takes no key")
    }
    let setup = try Setup.load(arguments)
    let app = try app(arguments, setup)
    let note = arguments.text("--note") ?? ""
    let json = arguments.wantsJSON
    let isTable = arguments.has("--csv")
    if let keyID {
      let question = "Revoke the key \(keyID) of the app \(app.rawValue)?"
      guard Question.isConfirmed(question, arguments) else { return .failure }
    }
    do {
      return try Blocking.run { loop in
        let store = Store(loop: loop, redis: setup.redis, settings: setup.store)
        defer { store.close() }
        try await store.openOnce()
        switch verb {
        case "create":
          let made = try await store.keyring.create(app: app, scopes: scopes, note: note, now: loop.wallNow)
          show([made.key], secret: made.secret, json: json)
        case "list" where isTable:
          var table = CSV.line(["id", "app", "scopes", "note", "created_at"])
          for key in try await store.keyring.keys(app: app) {
            table += CSV.line([key.id, key.app.rawValue, scopeList(key), key.note, key.createdAt.rfc3339])
          }
          let code = Terminal.pour(table)
          if code == .failure { Terminal.complain("standard output did not take all keys", "is the disk full?") }
          return code
        case "list":
          show(try await store.keyring.keys(app: app), secret: nil, json: json)
        default:
          guard try await store.keyring.revoke(keyID ?? "", app: app) else {
            Terminal.complain("app \(app.rawValue) has no key \(keyID ?? "")", "see fanfare keys list")
            return .failure
          }
          if !json { Terminal.print("revoked \(keyID ?? "")") }
        }
        return .success
      }
    } catch let error as StoreError {
      return ServeCommand.explain(.store(error))
    }
  }

  private static func app(_ arguments: Arguments, _ setup: Setup) throws(UsageProblem) -> AppID {
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

  private static func scopes(_ text: String) throws(UsageProblem) -> Set<Scope> {
    var scopes: Set<Scope> = []
    for word in text.split(separator: ",") {
      guard let scope = Scope(rawValue: String(word)) else {
        let known = Scope.allCases.map(\.rawValue).joined(separator: ", ")
        throw UsageProblem(text: "\"\(word)\" is not a scope; the scopes are \(known)")
      }
      scopes.insert(scope)
    }
    guard !scopes.isEmpty else { throw UsageProblem(text: "--scopes is empty") }
    return scopes
  }

  private static func scopeList(_ key: APIKey) -> String {
    key.scopes.map(\.rawValue).sorted().joined(separator: ",")
  }

  private static func show(_ keys: [APIKey], secret: String?, json: Bool) {
    if json {
      var writer = JSONWriter()
      if secret == nil {
        writer.beginObject()
        writer.key("items")
        writer.beginArray()
      }
      for key in keys {
        writer.beginObject()
        writer.member("id", key.id)
        writer.member("app", key.app.rawValue)
        writer.member("secret", secret)
        writer.key("scopes")
        writer.beginArray()
        for scope in key.scopes.map(\.rawValue).sorted() { writer.string(scope) }
        writer.endArray()
        writer.member("note", key.note)
        writer.member("created_at", key.createdAt.rfc3339)
        writer.endObject()
      }
      if secret == nil {
        writer.endArray()
        writer.key("next_cursor")
        writer.null()
        writer.endObject()
      }
      return Terminal.print(json: writer.bytes)
    }
    if let secret {
      Terminal.print(secret)
      Terminal.note("The secret of key \(keys[0].id) is shown only this once.")
      return
    }
    guard !keys.isEmpty else { return Terminal.note("there are no keys; create one with fanfare keys create") }
    var table = Table("id", "scopes", "created at", "note")
    for key in keys { table.row(key.id, scopeList(key), key.createdAt.rfc3339, key.note) }
    table.show()
  }
}
