import CommandFrame
import Domain
import GatewayClient
import JSON
import Loop

/// Messages of a running server: what became of them, and what can be done about it.
enum MessagesCommand {
  private static let scopes = "read (send for reschedule, pause, resume, cancel and replay; export for --csv)"
  static let command = Command(
    name: "messages", summary: "list, tail, show, watch, reschedule, pause, resume, cancel and replay messages",
    about: """
      list         print the newest messages that match all filters
      tail         list them, then print a line for each new message and each change, until ctrl-C
      show         print one message with its counts by provider, outcome and reason
      deliveries   list the devices of a message with state and reason
      watch        print the progress of a message until it has ended. Exit code 0: completed, 1: cancelled.
                   With --json, one line for each change
      reschedule   change a message's time, until it starts, also while it is paused. On a terminal it shows
                   the forecast and asks first
      pause        stop a message within a second. Requests in flight finish. Its ttl keeps running; that of a message
                   that has not started counts from its planned time
      resume       continue a paused message where it stopped
      cancel       end all deliveries that were not sent yet, and print how many. It cannot be undone: on a terminal it
                   asks first
      replay       send deliveries that failed or expired again, as a new message, and print its id. Devices that an
                   earlier replay has reached, or still sends to, are left out. They are sent at once, even if the
                   message was planned for later: on a terminal it shows how many, and asks first. With --wait it
                   exits like fanfare send --wait
      """,
    positionals: ["list|tail|show|deliveries|watch|reschedule|pause|resume|cancel|replay", "[ID]"],
    words: ["list": [], "tail": [], "reschedule": ["ID", "--at TIME|--at-local TIME"]], wordsOfOthers: ["ID"],
    options: ServerCall.options(scopes: scopes) + [
      Command.Option(
        "--state", "NAME", repeats: true, "list, tail: messages in this state; deliveries: with this state or outcome"),
      Command.Option("--label", "KEY:VALUE", "list, tail: messages with this label"),
      Command.Option("--name", "TEXT", "list, tail: messages whose name contains this text"),
      Command.Option("--topic", "TEXT", "list, tail: messages of this topic"),
      Command.Option("--audience", "EXPRESSION", "list, tail: messages for this audience, or with this term in it"),
      Command.Option("--from", "TIME", "list: accepted since, for example 2026-12-01T09:00:00Z"),
      Command.Option("--to", "TIME", "list: accepted before"),
      Command.Option("--provider", "NAME", "deliveries: of this provider"),
      Command.Option("--platform", "NAME", "deliveries: of this platform"),
      Command.Option("--variant", "NAME", "deliveries: of this variant"),
      Command.Option("--at", "TIME", "reschedule: the new time with its offset, for example 2026-12-01T09:00:00+01:00"),
      Command.Option(
        "--at-local", "TIME", "reschedule: the new time in each device's local time, for example 2026-12-01T09:00:00"),
      Command.Option("--version", "NUMBER", "reschedule: only if the message still has this version"),
      Command.Option(
        "--outcome", "NAME", repeats: true, "replay: deliveries with this outcome (default: failed and expired)"),
      Command.Option("--reason", "WORD", repeats: true, "replay, deliveries: only with this reason, as show prints it"),
      Command.Option("--idempotency-key", "KEY", "replay: a repeated call with this key returns the first id"),
      Command.Option("--wait", "SECONDS", "replay: wait until every delivery has ended, then print how"),
      Question.option("cancel, replay, reschedule: ", "; reschedule: even if every local time has passed"),
      Command.json,
    ] + ListCall.options(defaultLimit, of: "list, tail, deliveries"),
    examples: [
      "fanfare messages list --label campaign:spring", "fanfare messages deliveries msg_01k… --state failed,dead --csv",
      "fanfare messages show msg_01k…", "fanfare messages watch msg_01k…",
      "fanfare messages pause msg_01k…",
      "fanfare messages replay msg_01k… --outcome failed --reason ServiceUnavailable",
    ]
  ) { arguments in try run(arguments) }

  private static func run(_ arguments: Arguments) throws -> ExitCode {
    let id = arguments.positionals.dropFirst().first
    switch (arguments.positionals.first, id) {
    case ("list", nil): return try list(arguments)
    case ("tail", nil): return try MessageTail.run(try filters(arguments), arguments)
    case ("tail", _): throw UsageProblem(text: "tail takes no id; fanfare messages watch ID follows one message")
    case ("deliveries", let id?): return try DeliveryView.run(try path(id), arguments)
    case ("list", _): throw UsageProblem(text: "list takes no id; fanfare messages show ID shows one message")
    case ("show", let id?): return try ServerCall.one("GET", try path(id), arguments) { show($0) }
    case ("pause", let id?), ("resume", let id?):
      return try ServerCall.one("POST", try path(id) + "/\(arguments.positionals[0])", arguments) { show($0) }
    case ("watch", let id?): return try MessageWatch.run(id, try path(id), arguments)
    case ("cancel", let id?): return try cancel(id, try path(id), arguments)
    case ("reschedule", let id?): return try reschedule(id, arguments)
    case ("replay", let id?): return try MessageReplay.run(try path(id), arguments)
    case ("show", nil), ("deliveries", nil), ("watch", nil), ("reschedule", nil), ("pause", nil), ("resume", nil),
      ("cancel", nil),
      ("replay", nil):
      throw UsageProblem(text: "name the message by its id, msg_…")
    default:
      throw UsageProblem(
        text:
          "say what to do: fanfare messages list, tail, show, deliveries, watch, reschedule, pause, resume, cancel or replay"
      )
    }
  }

  private static func path(_ id: String) throws(UsageProblem) -> String {
    guard MessageID(id) != nil else {
      throw UsageProblem(text: "\(id.prefix(40)) is not a message id: a message id is msg_ and 26 characters")
    }
    return "/v1/messages/\(id)"
  }

  private static let defaultLimit = 20

  private static func filters(_ arguments: Arguments) throws(UsageProblem) -> [(name: String, value: String?)] {
    let states = arguments.texts("--state")
    return [
      ("state", states.isEmpty ? nil : states.joined(separator: ",")), ("label", arguments.text("--label")),
      ("name", arguments.text("--name")), ("topic", arguments.text("--topic")),
      ("audience", arguments.text("--audience")),
      ("from", try SendTimeOption.time("--from", arguments)), ("to", try SendTimeOption.time("--to", arguments)),
    ]
  }

  private static func list(_ arguments: Arguments) throws -> ExitCode {
    try ListCall.run("/v1/messages", try filters(arguments), arguments, limit: defaultLimit) { items, isWhole in
      guard !items.isEmpty else { return Terminal.note("no message matches") }
      // All of them, so that each row adds up.
      let outcomes = Outcome.allCases.map(\.rawValue)
      let columns = outcomes.map { $0 == Outcome.accepted.rawValue ? "accepted by vendor" : $0 }
      let arePlanned = items.allSatisfy { $0["state"]?.string == "scheduled" }
      var table = Table(
        head: ["id", "state", "kind", "created at", "starts at", "audience", "targets"] + columns + ["name"],
        state: "state",
        spare: ["kind"] + (arePlanned ? ["created at"] : []) + columns.reversed() + [
          "targets", "audience", "created at",
        ])
      for report in items {
        let counts = MessageCounts(report)
        table.row(
          [
            report["id"]?.string ?? "", report["state"]?.string ?? "", report["kind"]?.string ?? "",
            report["accepted_at"]?.string ?? "", startCell(of: report), report["audience"]?.string ?? "",
            grouped(counts.total),
          ] + outcomes.map { grouped(counts.outcomes[$0, default: 0]) } + [report["name"]?.string ?? ""])
      }
      table.show()
      ListCall.tellRest(items.count, isWhole)
    }
  }

  /// Of a message that was scheduled: a time by each device's own clock is marked.
  private static func startCell(of report: JSONValue) -> String {
    report["starts_at_local"]?.string.map { "\($0) local" } ?? report["starts_at"]?.string ?? ""
  }

  private static func show(_ report: JSONValue) {
    let counts = MessageCounts(report)
    let why = report["paused_reason"]?.string.map { " (\($0))" } ?? ""
    let name = report["name"]?.string.map { " \"\($0)\"" } ?? ""
    let state = report["state"]?.string ?? ""
    Terminal.print("\(report["id"]?.string ?? "")\(name) \(Style.of(state: state)?.on(state) ?? state)\(why)")
    if let audience = report["audience"]?.string {
      let meant = report["audience_expression"]?.string.map { ", when it was accepted: \($0)" } ?? ""
      Terminal.print("to the audience \(audience)\(meant)")
    }
    if let time = report["accepted_at"]?.string { Terminal.print("accepted at \(time)") }
    let progress = report["progress"]
    Terminal.print(
      "\(counted(counts.total, "target")): \(grouped(progress?["final"]?.integer ?? 0)) ended, "
        + "\(grouped(progress?["retrying"]?.integer ?? 0)) waiting for a retry, "
        + "\(grouped(progress?["pending"]?.integer ?? 0)) pending")
    for wait in waits(report) { Terminal.print(wait) }
    if ["scheduled", "paused", "cancelled"].contains(state), report["first_attempt_at"] == nil,
      let start = start(of: report)
    {
      let version = report["version"]?.integer.map { "; version \($0)" } ?? ""
      // One that is paused and has no version has begun: nobody was reached.
      let verb = ["cancelled": "would have started at", "paused": "planned for"][state] ?? "starts at"
      let isHeld = state == "paused" && report["version"] != nil
      let ttl = isHeld ? ". Its ttl counts from then. It can be moved (fanfare messages reschedule)" : ""
      Terminal.print("\(verb) \(start)\(version)\(ttl)")
    }
    for (key, words) in [
      ("replay_of", "replay of"), ("draft_of", "sent from the draft"), ("test_of", "test of the draft"),
    ] {
      if let other = report[key]?.string { Terminal.print("\(words) \(other)") }
    }
    let replays = (report["replayed_by"]?.array ?? []).compactMap(\.string)
    if !replays.isEmpty { Terminal.print("replayed by \(replays.joined(separator: ", "))") }
    guard !counts.lines.isEmpty else { return }
    var table = Table()
    for line in counts.lines { table.row(line.provider, line.outcome, line.reason ?? "", grouped(line.count)) }
    Terminal.print(table.text)
    if let variants = report["variants"]?.array, !variants.isEmpty { show(variants: variants) }
  }

  /// What keeps deliveries of a message waiting, a line for each cause.
  static func waits(_ report: JSONValue) -> [String] {
    var lines: [String] = []
    if let wait = report["waiting_for_time"] {
      lines.append("\(grouped(wait["count"]?.integer ?? 0)) wait \(ForecastView.TimeWait.text(of: wait))")
    }
    for wait in report["waiting_for"]?.array ?? [] {
      let next = wait["next_try_at"]?.string.map { ", next try \($0)" } ?? ""
      let until = wait["not_before_at"]?.string.map { ", the provider asks to wait until \($0)" } ?? ""
      lines.append(
        "\(grouped(wait["count"]?.integer ?? 0)) wait for credential \(wait["credential"]?.string ?? ""), "
          + "\(wait["state"]?.string ?? "") since "
          + "\(wait["began_at"]?.string ?? ""): \(wait["reason"]?.string ?? "")\(next)\(until)")
    }
    return lines
  }

  /// `msg_01… "Spring sale" (scheduled, starts at 2026-12-01T09:00:00Z (UTC), 12,000 targets)`
  static func named(_ report: JSONValue) -> String {
    let name = report["name"]?.string.map { " \"\($0)\"" } ?? ""
    let state = report["state"]?.string ?? ""
    var facts = [state]
    if report["first_attempt_at"] == nil, let start = start(of: report) {
      let verb = ["cancelled": "would have started at", "paused": "planned for"][state] ?? "starts at"
      if ["scheduled", "paused", "cancelled"].contains(state) { facts.append("\(verb) \(start)") }
    }
    facts.append(counted(report["targets"]?.integer ?? 0, "target"))
    return "\(report["id"]?.string ?? "")\(name) (\(facts.joined(separator: ", ")))"
  }

  /// Of a scheduled message, with whose clock it is told by.
  static func start(of report: JSONValue) -> String? {
    let local = report["starts_at_local"]?.string.map { "\($0) by each device's own clock" }
    guard let start = report["starts_at"]?.string else { return local }
    let zone = report["starts_at_zone"]?.string ?? "UTC"
    return local.map { "\($0), first in \(zone): \(start)" } ?? "\(start) (\(zone))"
  }

  private static func show(variants: [JSONValue]) {
    // All that occur, so that each row adds up.
    let outcomes = Outcome.allCases.map(\.rawValue).filter { outcome in
      outcome == Outcome.accepted.rawValue
        || variants.contains { ($0["outcomes"]?[outcome]?.integer ?? 0) > 0 }
    }
    var table = Table(head: ["variant", "ended"] + outcomes)
    for variant in variants {
      table.row(
        [variant["name"]?.string ?? "", grouped(variant["final"]?.integer ?? 0)]
          + outcomes.map { grouped(variant["outcomes"]?[$0]?.integer ?? 0) })
    }
    table.show()
  }

  /// What is in flight finishes, so that the last word comes a little later.
  private static func cancel(_ id: String, _ path: String, _ arguments: Arguments) throws -> ExitCode {
    let json = arguments.wantsJSON
    return try ServerCall.run(arguments) { client, loop in
      if Question.isAsked(arguments) {
        let report = try await client.call("GET", path)
        // A key that may send need not be allowed to read.
        let message = report.isSuccess ? report.document.map(named) : nil
        guard Question.isConfirmed("Cancel \(message ?? id)?", arguments) else { return .failure }
      }
      var answer = try await client.call("POST", path + "/cancel")
      let end = loop.now + settling
      while answer.isSuccess, answer.document?["completed_at"] == nil, loop.now < end {
        await loop.sleep(milliseconds: 100)
        let later = try await client.call("GET", path)
        // A key that may send need not be allowed to read.
        guard later.isSuccess else { break }
        answer = later
      }
      guard answer.isSuccess, let report = answer.document else { return ServerCall.refused(answer, json: json) }
      guard !json else {
        Terminal.print(json: answer.body)
        return .success
      }
      Terminal.print("\(report["id"]?.string ?? "") cancelled")
      Terminal.print(MessageWatch.sums(MessageCounts(report)))
      if report["completed_at"] == nil { Terminal.note("requests in flight finish; see fanfare messages show") }
      return .success
    }
  }

  /// Milliseconds that cancel waits for the last outcomes.
  private static let settling: Int64 = 3_000

  private static func reschedule(_ id: String, _ arguments: Arguments) throws -> ExitCode {
    guard let time = try SendTimeOption.read(arguments) else {
      throw UsageProblem(text: "give the new time: --at or --at-local")
    }
    var members = [time]
    if let version = try arguments.integer("--version", in: 1...Int(Int32.max)) {
      members.append(JSONMember("version", .integer(Int64(version))))
    }
    let (path, body) = (try path(id), JSONValue.object(members).encoded)
    let answer = try SendQuestion.ask(path + "?dry_run=true", arguments, body: body, words: .reschedule)
    guard answer == .success else { return answer }
    return try ServerCall.one("PATCH", path, arguments, body: body, words: CommandWords.ofMove) { report in
      show(report)
      AcceptedAnswer.warn(report)
    }
  }
}
