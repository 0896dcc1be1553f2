import Configuration
import Domain
import JSON

/// Drafts of a running server: messages that are written, counted and tried out before they are sent.
enum DraftsCommand {
  static let command = Command(
    name: "drafts", summary: "write a message, count and test it, then send it",
    about: """
      A draft is a message that is not sent yet. create keeps one from a file; it may be incomplete, and what it lacks is
      told. edit opens it in your editor, or takes it from --file; if somebody else has changed it meanwhile, nothing is
      lost: you are told so. count says whom it would reach now. test sends it to test lists only (see fanfare help
      test-lists), as everybody would get it. send sends it, once, however often it is asked. duplicate makes a new draft of
      a draft, or of a message that was sent.
      """,
    positionals: ["list|show|create|edit|count|test|send|delete|duplicate", "[ID]"],
    options: [
      Command.Option("--file", "FILE", "create, edit: the message in JSON; - reads standard input"),
      Command.Option("--name", "TEXT", "create, edit: what people call it"),
      Command.Option("--version", "NUMBER", "edit, send, delete: only if it is at this version still"),
      Command.Option("--list", "NAME", repeats: true, "test: a test list"),
      Command.Option("--variant", "NAME", "test: this variant only (else each of them)"),
      Command.Option("--dry-run", "send: show what would be sent, and send nothing"),
      Command.json,
    ] + ServerCall.options(scopes: "send (read for list, show and count)"),
    examples: [
      "fanfare drafts create --name 'Spring sale' --file sale.json", "fanfare drafts test drf_01ab… --list team",
      "fanfare drafts send drf_01ab…", "fanfare drafts duplicate msg_01k…",
    ]
  ) { arguments in try run(arguments) }

  private static func run(_ arguments: Arguments) throws -> ExitCode {
    let id = arguments.positionals.dropFirst().first
    switch (arguments.positionals.first, id) {
    case ("list", nil): return try list(arguments)
    case ("create", nil): return try create(arguments)
    case ("list", _), ("create", _): throw UsageProblem(text: "list and create take no id")
    case ("show", let id?): return try ServerCall.one("GET", try path(id), arguments, show)
    case ("edit", let id?): return try edit(try path(id), arguments)
    case ("count", let id?): return try ServerCall.one("POST", try path(id) + "/count", arguments, showCount)
    case ("test", let id?): return try test(try path(id), arguments)
    case ("send", let id?): return try send(try path(id), arguments)
    case ("delete", let id?):
      return try ServerCall.one("DELETE", try path(id), arguments, headers: try match(arguments)) { _ in
        Terminal.print("\(id) is deleted")
      }
    case ("duplicate", let id?): return try duplicate(id, arguments)
    case ("show", nil), ("edit", nil), ("count", nil), ("test", nil), ("send", nil), ("delete", nil),
      ("duplicate", nil):
      throw UsageProblem(text: "name the draft by its id, drf_… (fanfare drafts list shows them)")
    default:
      throw UsageProblem(
        text: "say what to do: fanfare drafts list, show, create, edit, count, test, send, delete or duplicate")
    }
  }

  private static func path(_ id: String) throws(UsageProblem) -> String {
    guard DraftID(id) != nil else {
      throw UsageProblem(text: "\(id.prefix(40)) is no draft's id: it is drf_ and 16 hexadecimal digits")
    }
    return "/v1/drafts/\(id)"
  }

  private static func match(_ arguments: Arguments) throws(UsageProblem) -> [Header] {
    let version = try arguments.integer("--version", in: 1...Int(Int32.max))
    return version.map { [Header("if-match", "\"\($0)\"")] } ?? []
  }

  // MARK: Showing

  private static func list(_ arguments: Arguments) throws -> ExitCode {
    try ServerCall.one("GET", "/v1/drafts", arguments) { page in
      let drafts = page["items"]?.array ?? []
      guard !drafts.isEmpty else {
        return Terminal.print("there is no draft: fanfare drafts create --file FILE makes one")
      }
      var table = Table()
      table.row("id", "version", "changed at", "name")
      for draft in drafts {
        table.row(
          draft["id"]?.string ?? "", String(draft["version"]?.integer ?? 0), draft["updated_at"]?.string ?? "",
          draft["name"]?.string ?? "")
      }
      Terminal.print(table.text)
    }
  }

  @Sendable private static func show(_ draft: JSONValue) {
    Terminal.print(draft["message"]?.encoded ?? [])
    tell(draft)
  }

  /// Id, version and what is still missing, beside what was asked for.
  @Sendable private static func tell(_ draft: JSONValue) {
    let name = draft["name"]?.string.map { " \"\($0)\"" } ?? ""
    Terminal.note("\(draft["id"]?.string ?? "")\(name), version \(draft["version"]?.integer ?? 0)")
    if let message = draft["sending_as"]?.string { Terminal.note("it is being sent as \(message)") }
    for violation in draft["missing"]?.array ?? [] {
      let place = violation["pointer"]?.string ?? ""
      Terminal.note("before it can be sent: \(place.isEmpty ? "" : place + " ")\(violation["detail"]?.string ?? "")")
    }
    warn(draft)
  }

  @Sendable private static func warn(_ answer: JSONValue) {
    for warning in answer["warnings"]?.array ?? [] { Terminal.note("note: \(warning["detail"]?.string ?? "")") }
  }

  @Sendable private static func showCount(_ count: JSONValue) {
    let total = count["total"]?.integer ?? 0
    Terminal.print("\(total) device\(total == 1 ? "" : "s") would get it now")
    var table = Table()
    for (title, list, key) in [("by provider", "by_provider", "provider"), ("by platform", "by_platform", "platform")] {
      for (place, row) in (count[list]?.array ?? []).enumerated() {
        table.row(place == 0 ? title : "", row[key]?.string ?? "not told", String(row["count"]?.integer ?? 0))
      }
    }
    if total > 0 { Terminal.print(table.text) }
    warn(count)
  }

  // MARK: Writing

  private static func create(_ arguments: Arguments) throws -> ExitCode {
    guard let file = arguments.text("--file") else {
      throw UsageProblem(text: "give the message: fanfare drafts create --file message.json")
    }
    let body = draft(try message(in: file), name: arguments.text("--name"))
    return try ServerCall.one("POST", "/v1/drafts", arguments, body: body, created)
  }

  @Sendable private static func created(_ draft: JSONValue) {
    Terminal.print(draft["id"]?.string ?? "")
    tell(draft)
  }

  private static func draft(_ message: JSONValue, name: String?) -> [UInt8] {
    var members = [JSONMember("message", message)]
    members.set("name", name)
    return JSONValue.object(members).encoded
  }

  private static func message(in file: String) throws(UsageProblem) -> JSONValue {
    guard let bytes = FileContent.read(file == "-" ? "/dev/stdin" : file) else {
      throw UsageProblem(text: "\(file) cannot be read")
    }
    do throws(JSONFault) {
      return try JSON.parse(bytes)
    } catch {
      throw UsageProblem(text: "\(file) is not JSON: \(error.detail)")
    }
  }

  /// The version that was read is the one that is replaced: of two who edit at once the second is told.
  private static func edit(_ path: String, _ arguments: Arguments) throws -> ExitCode {
    let json = arguments.wantsJSON
    let given = try match(arguments)
    let file = try arguments.text("--file").map { file throws(UsageProblem) in try message(in: file) }
    return try ServerCall.run(arguments) { client, _ in
      let read = try await client.call("GET", path)
      guard read.isSuccess, let draft = read.document else { return ServerCall.refused(read, json: json) }
      let old = draft["message"] ?? .object([])
      let name = arguments.text("--name") ?? draft["name"]?.string
      var message = file ?? old
      if file == nil, arguments.text("--name") == nil {
        guard let edited = Editor.edit(old.encoded, name: "message.json") else {
          Terminal.complain("the editor did not end well: nothing was changed", "set EDITOR, or use --file")
          return .failure
        }
        do throws(JSONFault) {
          message = try JSON.parse(edited)
        } catch {
          Terminal.complain("what you wrote is not JSON: \(error.detail)", "nothing was changed")
          return .failure
        }
      }
      let seen = given.isEmpty ? [Header("if-match", "\"\(draft["version"]?.integer ?? 0)\"")] : given
      let answer = try await client.call("PUT", path, self.draft(message, name: name), headers: seen)
      guard answer.isSuccess, let changed = answer.document else { return ServerCall.refused(answer, json: json) }
      json ? Terminal.print(answer.body) : tell(changed)
      return .success
    }
  }

  // MARK: Sending

  private static func test(_ path: String, _ arguments: Arguments) throws -> ExitCode {
    let lists = arguments.texts("--list")
    guard !lists.isEmpty else {
      throw UsageProblem(text: "say who gets it: --list NAME (fanfare test-lists set makes a list)")
    }
    var members: [JSONMember] = []
    members.set("lists", strings: lists)
    members.set("variant", arguments.text("--variant"))
    return try ServerCall.one("POST", path + "/test", arguments, body: JSONValue.object(members).encoded) { answer in
      for test in answer["items"]?.array ?? [] {
        let variant = test["variant"]?.string.map { "variant \($0): " } ?? ""
        Terminal.print(test["id"]?.string ?? "")
        Terminal.note("\(variant)\(test["targets"]?.integer ?? 0) devices")
        warn(test)
      }
    }
  }

  private static func send(_ path: String, _ arguments: Arguments) throws -> ExitCode {
    let headers = try match(arguments)
    guard arguments.has("--dry-run") else {
      return try ServerCall.one("POST", path + "/send", arguments, headers: headers) { answer in
        Terminal.print(answer["id"]?.string ?? "")
        if let targets = answer["targets"]?.integer { Terminal.note("\(targets) devices") }
        warn(answer)
      }
    }
    return try ServerCall.one("POST", path + "/send?dry_run=true", arguments, headers: headers) { answer in
      for request in answer["requests"]?.array ?? [] {
        let variant = request["variant"]?.string.map { ", variant \($0)" } ?? ""
        Terminal.print("\(request["provider"]?.string ?? "")\(variant): \(request["url"]?.string ?? "")")
        Terminal.print(request["body"]?.encoded ?? [])
      }
      Terminal.note("\(answer["targets"]?.integer ?? 0) devices; nothing was sent")
      warn(answer)
    }
  }

  private static func duplicate(_ id: String, _ arguments: Arguments) throws -> ExitCode {
    let path = MessageID(id) == nil ? try path(id) : "/v1/messages/\(id)"
    return try ServerCall.one("POST", path + "/duplicate", arguments, created)
  }
}
