import CommandFrame
import Domain
import JSON

/// Devices for people.
enum DeviceView {
  static let options = [
    Command.Option("--user", "ID", "list: devices of this user"),
    Command.Option("--tag", "TAG", "list: devices with this tag"),
    Command.Option("--provider", "NAME", repeats: true, "list: devices of this provider"),
    Command.Option("--platform", "NAME", "list: devices of this platform"),
    Command.Option("--environment", "NAME", "list: production or sandbox"),
    Command.Option("--token-kind", "NAME", repeats: true, "list: devices with this kind of token"),
    Command.Option("--status", "NAME", repeats: true, "list: active, disabled or dead"),
    Question.option("delete: "),
  ]

  static func run(_ action: String, _ id: String?, _ arguments: Arguments) throws -> ExitCode {
    if action == "list" { return try list(arguments) }
    guard let id else { throw UsageProblem(text: "name the device: fanfare devices \(action) ID") }
    let path = "/v1/devices/\(ServerCall.escaped(id))"
    switch action {
    case "show": return try ServerCall.one("GET", path, arguments, show)
    case "delete":
      guard Question.isConfirmed("Delete the device \(id)?", arguments) else { return .failure }
      return try ServerCall.one("DELETE", path, arguments) { _ in Terminal.print("\(id) is deleted") }
    default: return try ListCall.run(path + "/timeline", [], arguments, limit: usual, timeline)
    }
  }
  private static let usual = 50

  private static func list(_ arguments: Arguments) throws -> ExitCode {
    func words(_ option: String) -> String? {
      let texts = arguments.texts(option)
      return texts.isEmpty ? nil : texts.joined(separator: ",")
    }
    let query = [
      ("user", arguments.text("--user")), ("tag", arguments.text("--tag")), ("provider", words("--provider")),
      ("platform", arguments.text("--platform")), ("environment", arguments.text("--environment")),
      ("token_kind", words("--token-kind")), ("status", words("--status")),
    ]
    return try ListCall.run("/v1/devices", query, arguments, limit: usual) { items, isWhole in
      list(items)
      ListCall.tellRest(items.count, isWhole)
      for option in ["--user", "--tag"] where items.isEmpty && arguments.text(option)?.contains(",") == true {
        Terminal.note("note: \(option) takes one \(option.dropFirst(2)): list several one after the other")
      }
    }
  }

  static func list(_ devices: [JSONValue]) {
    guard !devices.isEmpty else { return Terminal.note("no device matches") }
    var table = Table("id", "provider", "platform", "status", "user", "tags", "seen at", state: "status")
    for device in devices {
      table.row(
        device["id"]?.string ?? "", device["provider"]?.string ?? "", device["platform"]?.string ?? "",
        device["status"]?.string ?? "", device["user"]?.string ?? "", words(device["tags"]),
        device["last_seen_at"]?.string ?? device["registered_at"]?.string ?? "")
    }
    table.show()
  }

  private static func words(_ list: JSONValue?) -> String {
    (list?.array ?? []).compactMap(\.string).joined(separator: " ")
  }

  @Sendable private static func show(_ device: JSONValue) {
    let id = device["id"]?.string ?? ""
    let status = device["status"]?.string ?? ""
    Terminal.print("\(id) \(Style.of(state: status)?.on(status) ?? status)")
    var table = Table()
    for member in device.object ?? [] where !["id", "status", "tombstone"].contains(member.key) {
      switch member.value {
      case .string(let text): table.row(member.key, text)
      case .array(let items) where items.isEmpty: continue
      case .object(let members) where members.isEmpty: continue
      case .array(let items) where items.allSatisfy({ $0.string != nil }): table.row(member.key, words(member.value))
      default: table.row(member.key, String(decoding: member.value.encoded, as: UTF8.self))
      }
    }
    Terminal.print(table.text)
    guard let tombstone = device["tombstone"] else { return }
    let reason = tombstone["reason"]?.string ?? ""
    if reason.hasPrefix(Tombstone.movedPrefix) {
      return Terminal.print(
        "its token belongs to device \(reason.dropFirst(Tombstone.movedPrefix.count)) since "
          + (tombstone["dead_at"]?.string ?? ""))
    }
    let message = tombstone["message"]?.string.map { ", by \($0)" } ?? ""
    Terminal.print(
      "its provider called the token dead at \(tombstone["dead_at"]?.string ?? ""): \(reason)\(message)"
    )
  }

  @Sendable private static func timeline(_ entries: [JSONValue], _ isWhole: Bool) {
    guard !entries.isEmpty else { return Terminal.note("no message to this device in the last 7 days") }
    var table = Table("accepted at", "message", "name", "kind", "state", "reason", "attempts", state: "state")
    for entry in entries {
      table.row(
        entry["accepted_at"]?.string ?? "", entry["message"]?.string ?? "", entry["name"]?.string ?? "",
        entry["kind"]?.string ?? "", entry["state"]?.string ?? "", entry["reason"]?.string ?? "",
        DeliveryView.attempts(of: entry))
    }
    table.show()
    ListCall.tellRest(entries.count, isWhole)
  }
}

/// Deliveries of a message for people.
enum DeliveryView {
  /// Nothing where no record is kept: there was one at least.
  static func attempts(of delivery: JSONValue) -> String {
    guard delivery["earliest_attempt_at"] == nil else { return "" }
    return String((delivery["attempts"]?.array?.count ?? 0) + Int(delivery["attempts_omitted"]?.integer ?? 0))
  }

  static func run(_ path: String, _ arguments: Arguments) throws -> ExitCode {
    let states = arguments.texts("--state")
    let reasons = arguments.texts("--reason")
    guard reasons.count < 2 else { throw UsageProblem(text: "deliveries takes one --reason") }
    let query = [
      ("state", states.isEmpty ? nil : states.joined(separator: ",")), ("reason", reasons.first),
      ("provider", arguments.text("--provider")), ("platform", arguments.text("--platform")),
      ("variant", arguments.text("--variant")),
    ]
    return try ListCall.run(path + "/deliveries", query, arguments, limit: 100, tellingLast: tellUnlisted) {
      items, isWhole in
      guard !items.isEmpty else { return Terminal.note("no delivery matches") }
      var table = Table(
        "device", "user", "provider", "platform", "variant", "state", "reason", "next attempt at", "attempts",
        "last attempt at", state: "state")
      for item in items {
        table.row(
          item["device"]?.string ?? "", item["user"]?.string ?? "", item["provider"]?.string ?? "",
          item["platform"]?.string ?? "", item["variant"]?.string ?? "", item["state"]?.string ?? "",
          reason(of: item), item["next_attempt_at"]?.string ?? "", attempts(of: item), lastAttempt(of: item))
      }
      table.show()
      ListCall.tellRest(items.count, isWhole)
    }
  }

  /// Members of an audience that have no row yet.
  @Sendable private static func tellUnlisted(_ page: JSONValue) {
    guard let wait = page["not_listed"] else { return }
    let count = grouped(wait["count"]?.integer ?? 0)
    Terminal.note("not listed yet: \(count) that wait \(ForecastView.TimeWait.text(of: wait))")
  }

  private static func reason(of delivery: JSONValue) -> String {
    let reason = delivery["reason"]?.string ?? ""
    return delivery["moved_to"]?.string.map { "\(reason) to \($0)" } ?? reason
  }

  /// Where no more is known, the span of time in which it was, as `2026-12-01T09:00:01Z–09:00:04Z`.
  private static func lastAttempt(of delivery: JSONValue) -> String {
    if let earliest = delivery["earliest_attempt_at"]?.string, let latest = delivery["latest_attempt_at"]?.string {
      func seconds(_ time: String) -> String { time.prefix { $0 != "." && $0 != "Z" } + "Z" }
      let (from, to) = (seconds(earliest), seconds(latest))
      guard from != to else { return from }
      return from.prefix(11) == to.prefix(11) ? "\(from)–\(to.dropFirst(11))" : "\(from)–\(to)"
    }
    return delivery["attempts"]?.array?.last?["attempted_at"]?.string ?? ""
  }
}
