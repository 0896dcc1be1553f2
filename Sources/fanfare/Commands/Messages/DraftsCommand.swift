import CommandFrame
import Configuration
import Domain
import GatewayClient
import JSON

/// Drafts of a running server: messages that are written, counted and tried out before they are sent.
enum DraftsCommand {
  static let command = Command(
    name: "drafts", summary: "write a message, count and test it, then send it",
    about: """
      A draft is a message that is not sent yet.
      list        print all drafts
      show        print the message of a draft, and what is missing
      create      store a draft from a file. It may be incomplete; the answer lists what is missing
      edit        open a draft in your editor, or read it from --file. Your text stays in a local file until the server
                  has accepted it, so you can continue after a typo, a refusal, or a change by somebody else
      count       show how many devices the draft would be sent to now
      approve     approve a version that another key has written; needed where the app asks for two people
      test        send the draft to test lists only (see fanfare help test-lists), exactly as everybody will get it
      send        send the draft once, however often you repeat the command: now, at the time that it has, or at the one
                  that --at or --at-local gives. A draft that nobody would get is kept
      delete      delete a draft. On a terminal it asks first
      duplicate   create a new draft from a draft, or from a message that was sent
      """,
    positionals: ["list|show|create|edit|count|test|approve|send|delete|duplicate", "[ID]"],
    words: ["list": [], "create": ["--file FILE"], "test": ["ID", "--list NAME"]], wordsOfOthers: ["ID"],
    options: [
      Command.Option(
        "--file", "FILE", "create, edit: the message in JSON; - reads standard input, and keeps it if it is refused"),
      Command.Option("--name", "TEXT", "create, edit: the name of the draft"),
      Command.Option("--version", "NUMBER", "edit, approve, send, delete: only if the draft still has this version"),
      Command.Option("--list", "NAME", repeats: true, "test: a test list"),
      Command.Option("--variant", "NAME", "test: this variant only (default: all variants)"),
      Command.Option("--at", "TIME", "send: at this time, for example 2026-12-01T09:00:00+01:00"),
      Command.Option(
        "--at-local", "TIME", "send: at this time in each device's local time, for example 2026-12-01T09:00:00"),
      MessageEnd.option(of: "send: "),
      Command.Option("--dry-run", "send: show what would be sent; send nothing"), SendQuestion.option("send, delete: "),
      Command.json, ListCall.csv(of: "list"),
    ] + ServerCall.options(scopes: "send (read for list, show, count and --wait; test for test)"),
    examples: [
      "fanfare drafts create --name 'Spring sale' --file sale.json", "fanfare drafts test drf_01ab… --list team",
      "fanfare drafts send drf_01ab… --at 2026-12-01T09:00:00+01:00", "fanfare drafts duplicate msg_01k…",
    ]
  ) { arguments in try run(arguments) }

  private static func run(_ arguments: Arguments) throws -> ExitCode {
    let id = arguments.positionals.dropFirst().first
    switch (arguments.positionals.first, id) {
    case ("list", nil): return try list(arguments)
    case ("create", nil): return try create(arguments)
    case ("create", let word?) where DraftID(word) == nil && !arguments.has("--file"):
      throw UsageProblem(text: "give the file with --file: fanfare drafts create --file \(word.prefix(200))")
    case ("list", _), ("create", _): throw UsageProblem(text: "list and create take no id")
    case ("show", let id?): return try ServerCall.one("GET", try path(id), arguments, show)
    case ("edit", let id?): return try edit(id, arguments)
    case ("count", let id?): return try ServerCall.one("POST", try path(id) + "/count", arguments, showCount)
    case ("test", let id?): return try test(try path(id), arguments)
    case ("approve", let id?): return try approve(try path(id), arguments)
    case ("send", let id?): return try send(try path(id), arguments)
    case ("delete", let id?):
      guard Question.isConfirmed("Delete the draft \(id)?", arguments) else { return .failure }
      return try ServerCall.one("DELETE", try path(id), arguments, headers: try match(arguments)) { _ in
        Terminal.print("\(id) is deleted")
      }
    case ("duplicate", let id?): return try duplicate(id, arguments)
    case ("show", nil), ("edit", nil), ("count", nil), ("test", nil), ("approve", nil), ("send", nil), ("delete", nil),
      ("duplicate", nil):
      throw UsageProblem(text: "name the draft by its id, drf_… (fanfare drafts list shows them)")
    default:
      throw UsageProblem(
        text: "say what to do: fanfare drafts list, show, create, edit, count, test, approve, send, delete or duplicate"
      )
    }
  }

  /// The version that was seen, and no later one.
  private static func approve(_ path: String, _ arguments: Arguments) throws -> ExitCode {
    let headers = try match(arguments)
    guard !headers.isEmpty else {
      throw UsageProblem(text: "name the version that you have seen with --version (fanfare drafts show tells it)")
    }
    return try ServerCall.one("POST", path + "/approve", arguments, headers: headers) { draft in
      Terminal.print("version \(draft["version"]?.integer ?? 0) is approved")
      tell(draft)
    }
  }

  private static func path(_ id: String) throws(UsageProblem) -> String {
    guard DraftID(id) != nil else {
      throw UsageProblem(text: "\(id.prefix(40)) is not a draft id: a draft id is drf_ and 16 hexadecimal digits")
    }
    return "/v1/drafts/\(id)"
  }

  private static func match(_ arguments: Arguments) throws(UsageProblem) -> [Header] {
    try version(arguments).map { [Header("if-match", "\"\($0)\"")] } ?? []
  }

  private static func version(_ arguments: Arguments) throws(UsageProblem) -> Int? {
    try arguments.integer("--version", in: 1...Int(Int32.max))
  }

  // MARK: Showing

  private static func list(_ arguments: Arguments) throws -> ExitCode {
    try ListCall.whole("/v1/drafts", arguments) { drafts in
      guard !drafts.isEmpty else {
        return Terminal.print("there are no drafts; create one with fanfare drafts create --file FILE")
      }
      var table = Table("id", "version", "changed at", "name")
      for draft in drafts {
        table.row(
          draft["id"]?.string ?? "", String(draft["version"]?.integer ?? 0), draft["updated_at"]?.string ?? "",
          draft["name"]?.string ?? "")
      }
      table.show()
    }
  }

  @Sendable private static func show(_ draft: JSONValue) {
    Terminal.print(draft["message"] ?? .object([]))
    tell(draft)
  }

  /// Id, version and what is still missing, beside what was asked for.
  @Sendable static func tell(_ draft: JSONValue) {
    let name = draft["name"]?.string.map { " \"\($0)\"" } ?? ""
    Terminal.note("\(draft["id"]?.string ?? "")\(name), version \(draft["version"]?.integer ?? 0)")
    if let message = draft["sending_as"]?.string { Terminal.note("it is being sent as \(message)") }
    for violation in draft["missing"]?.array ?? [] {
      let place = violation["pointer"]?.string ?? ""
      Terminal.note(
        "missing before it can be sent: \(place.isEmpty ? "" : place + " ")\(violation["detail"]?.string ?? "")")
    }
    AcceptedAnswer.warn(draft)
  }

  @Sendable private static func showCount(_ count: JSONValue) {
    Terminal.print(ForecastView.whole(count))
    for warning in count["warnings"]?.array ?? [] where !ForecastView.shows(warning) {
      Terminal.note("note: \(warning["detail"]?.string ?? "")")
    }
  }

  // MARK: Writing

  private static func create(_ arguments: Arguments) throws -> ExitCode {
    guard let file = arguments.text("--file") else {
      throw UsageProblem(text: "give the message with --file: fanfare drafts create --file message.json")
    }
    let content = try content(of: file)
    let goOn = { (path: String) in "fanfare drafts create --file \(path)" }
    return try keeping(content, of: file, as: "draft", goOn: goOn) {
      let body = draft(try message(content, of: file), name: arguments.text("--name"))
      let code = try ServerCall.one("POST", "/v1/drafts", arguments, body: body, created)
      if code == .success { KeptFile.accepted(file) }
      return code
    }
  }

  /// Standard input can be read only once: what the server does not take of it stays in a file.
  private static func keeping(
    _ content: [UInt8], of file: String, as name: String, goOn: (_ path: String) -> String,
    _ work: () throws -> ExitCode
  ) throws -> ExitCode {
    func keep() {
      guard file == "-", !content.isEmpty else { return }
      guard let kept = KeptFile(name, ending: "json", content) else {
        return Terminal.note("what you wrote cannot be kept: set XDG_STATE_HOME to a folder that you may write to")
      }
      Terminal.note("what you wrote is kept in \(kept.path)")
      Terminal.note("continue with: \(goOn(kept.quoted))")
    }
    do {
      let code = try work()
      if code != .success { keep() }
      return code
    } catch {
      keep()
      throw error
    }
  }

  @Sendable private static func created(_ draft: JSONValue) {
    Terminal.print(draft["id"]?.string ?? "")
    tell(draft)
  }

  static func draft(_ message: JSONValue, name: String?) -> [UInt8] {
    var members = [JSONMember("message", message)]
    members.set("name", name)
    return JSONValue.object(members).encoded
  }

  static func message(in file: String) throws(UsageProblem) -> JSONValue {
    try message(try content(of: file), of: file)
  }

  private static func content(of file: String) throws(UsageProblem) -> [UInt8] {
    guard let bytes = FileContent.read(file == "-" ? "/dev/stdin" : file) else {
      throw UsageProblem(
        text: file == "-" || FileContent.exists(file) ? "\(file) cannot be read" : "there is no file \(file)")
    }
    return bytes
  }

  private static func message(_ content: [UInt8], of file: String) throws(UsageProblem) -> JSONValue {
    do throws(JSONFault) {
      return try JSON.parse(content)
    } catch {
      throw UsageProblem(text: "\(file) is not JSON: \(error.detail)")
    }
  }

  /// The version that was read is the one that is replaced: of two who edit at once the second is told.
  private static func edit(_ id: String, _ arguments: Arguments) throws -> ExitCode {
    let path = try path(id)
    let version = try version(arguments)
    guard let name = arguments.text("--file") else { return try edit(id, path, version, nil, arguments) }
    let content = try content(of: name)
    let goOn = { (path: String) in "fanfare drafts edit \(id) --file \(path)" }
    return try keeping(content, of: name, as: id, goOn: goOn) {
      let code = try edit(id, path, version, try message(content, of: name), arguments)
      if code == .success { KeptFile.accepted(name) }
      return code
    }
  }

  private static func edit(
    _ id: String, _ path: String, _ version: Int?, _ file: JSONValue?, _ arguments: Arguments
  ) throws -> ExitCode {
    let json = arguments.wantsJSON
    return try ServerCall.run(arguments) { client, _ in
      let read = try await client.call("GET", path)
      guard read.isSuccess, let draft = read.document else { return ServerCall.refused(read, json: json) }
      let last = Int(draft["version"]?.integer ?? 0)
      let isEdited = file == nil && arguments.text("--name") == nil
      // Of an older version a file is shown what has changed since.
      if let version, version > last || isEdited && version < last {
        let fault =
          version > last
          ? "the draft has no version \(version): it has version \(last)"
          : "somebody has changed the draft since version \(version): it has version \(last)"
        Terminal.complain(fault, "leave out --version to edit version \(last)", code: "draft_conflict")
        return .refused
      }
      if isEdited {
        var edit = DraftEdit(id, path, draft, version: version, client, json: json)
        return await edit.run()
      }
      let current = draft["message"] ?? .object([])
      let name = arguments.text("--name") ?? draft["name"]?.string
      let seen = Header("if-match", "\"\(version ?? last)\"")
      let answer = try await client.call("PUT", path, self.draft(file ?? current, name: name), headers: [seen])
      guard answer.isSuccess, let changed = answer.document else {
        if answer.status == 412, let file, draft["message"] == file, draft["name"]?.string == name {
          // An earlier try was saved, and its answer was lost.
          json ? Terminal.print(json: read.body) : tell(draft)
          return .success
        }
        let code = ServerCall.refused(answer, json: json)
        if answer.status == 412, let file, !json { showDifference(of: draft, to: file, expected: version) }
        return code
      }
      json ? Terminal.print(json: answer.body) : tell(changed)
      return .success
    }
  }

  private static func showDifference(of draft: JSONValue, to file: JSONValue, expected: Int?) {
    if let expected, let name = draft["name"]?.string {
      Terminal.note(
        "version \(draft["version"]?.integer ?? 0), \"\(name)\", is not the version \(expected) that you changed")
    }
    let there = PrettyJSON.text(draft["message"] ?? .object([]))
    let difference = LineDifference(from: there, to: PrettyJSON.text(file))
    guard !difference.isEmpty else { return }
    Terminal.note("your file changes version \(draft["version"]?.integer ?? 0) as follows:\n\(difference.text)")
  }

  // MARK: Sending

  private static func test(_ path: String, _ arguments: Arguments) throws -> ExitCode {
    let lists = arguments.texts("--list")
    guard !lists.isEmpty else {
      throw UsageProblem(text: "name a test list: --list NAME (create one with fanfare test-lists set)")
    }
    var members: [JSONMember] = []
    members.set("lists", strings: lists)
    members.set("variant", arguments.text("--variant"))
    let body = JSONValue.object(members).encoded
    let json = arguments.wantsJSON
    return try ServerCall.run(arguments) { client, _ in
      let answer = try await client.call("POST", path + "/test", body)
      guard answer.isSuccess else { return ServerCall.refused(answer, json: json) }
      let tests = answer.document?["items"]?.array ?? []
      if json {
        Terminal.print(json: answer.body)
      } else {
        for test in tests { tellTest(test) }
      }
      // Nothing of it is queued.
      guard tests.allSatisfy({ $0["state"]?.string == "completed" }) else { return .success }
      if !json {
        Terminal.complain(
          "nobody gets this test: no device on the test lists can be sent to",
          "fanfare test-lists show NAME shows who is on a list")
      }
      return .failure
    }
  }

  private static func tellTest(_ test: JSONValue) {
    let variant = test["variant"]?.string.map { "variant \($0): " } ?? ""
    Terminal.print(test["id"]?.string ?? "")
    Terminal.note("\(variant)\(counted(test["targets"]?.integer ?? 0, "device"))")
    AcceptedAnswer.warn(test)
  }

  private static func send(_ path: String, _ arguments: Arguments) throws -> ExitCode {
    let headers = try match(arguments)
    let time = try SendTimeOption.read(arguments)
    let body = time.map { JSONValue.object([$0]).encoded } ?? []
    let wait = try MessageEnd.seconds(arguments)
    let dryRun = path + "/send?dry_run=true"
    guard !arguments.has("--dry-run") else {
      try SendCall.checkDryRun(wait)
      return try ServerCall.one(
        "POST", dryRun, arguments, body: body, headers: headers, words: CommandWords.timed(by: arguments),
        ForecastView.showDryRun)
    }
    let answer = try SendQuestion.ask(dryRun, arguments, body: body, headers: headers)
    guard answer == .success else { return answer }
    let call = SendCall(
      path: path + "/send", body: body, headers: headers, wait: wait, repeated: AcceptedAnswer.tellSentDraft)
    return try call.run(arguments)
  }

  private static func duplicate(_ id: String, _ arguments: Arguments) throws -> ExitCode {
    let path = MessageID(id) == nil ? try path(id) : "/v1/messages/\(id)"
    return try ServerCall.one("POST", path + "/duplicate", arguments, created)
  }
}
