import Configuration
import Domain
import JSON
import Loop

/// Sends through a running server, by its HTTP API.
enum SendCommand {
  static let command = Command(
    name: "send", summary: "send a message through a running server",
    about: """
      Posts one message to a running server and prints its id. Targets are devices, users, or raw tokens written as
      PROVIDER:TOKEN; one kind of them per message. --file sends a whole message as the API takes it; options given beside
      it replace its fields. The server and the key may come from FANFARE_URL and FANFARE_KEY.
      """,
    options: ServerCall.options(scopes: "send (and read for --wait)") + [
      Command.Option("--to-token", "PROVIDER:TOKEN", repeats: true, "a raw token, as apns:…, fcm:…, onesignal:…"),
      Command.Option("--environment", "NAME", "of raw APNs tokens: production or sandbox"),
      Command.Option("--device", "ID", repeats: true, "a registered device"),
      Command.Option("--user", "ID", repeats: true, "all devices of a user"),
      Command.Option("--title", "TEXT", "title of the notification"),
      Command.Option("--body", "TEXT", "text of the notification"),
      Command.Option("--data", "JSON", "an object for the app"),
      Command.Option("--background", "no notification: wake the app with --data"),
      Command.Option("--ttl", "SECONDS", "how long it is worth delivering"),
      Command.Option("--priority", "NAME", "high, normal or low"),
      Command.Option("--collapse-key", "KEY", "replaces earlier ones with the same key"),
      Command.Option("--at", "TIME", "send it then, as 2026-12-01T09:00:00+01:00"),
      Command.Option("--at-local", "TIME", "… when each device's own clock shows it, as 2026-12-01T09:00:00"),
      Command.Option("--idempotency-key", "KEY", "makes a repeated call answer with the first id"),
      Command.Option("--file", "FILE", "a whole message in JSON; - reads standard input"),
      Command.Option("--wait", "SECONDS", "wait until every delivery has ended, then print how"),
      Command.json,
    ],
    examples: [
      "fanfare send --to-token fcm:dGVz… --title Hello --body World",
      "fanfare send --user 4711 --file message.json --wait 30",
    ]
  ) { arguments in try run(arguments) }

  private static func run(_ arguments: Arguments) throws -> ExitCode {
    let body = try message(arguments).encoded
    let wait = try arguments.integer("--wait", in: 1...86_400)
    let headers = arguments.text("--idempotency-key").map { [Header("idempotency-key", $0)] } ?? []
    let json = arguments.wantsJSON
    return try ServerCall.run(arguments) { client, loop in
      let answer = try await client.call("POST", "/v1/messages", body, headers: headers)
      guard answer.isSuccess, let id = answer.document?["id"]?.string else {
        return ServerCall.refused(answer, json: json)
      }
      guard let wait else {
        json ? Terminal.print(answer.body) : Terminal.print(id)
        for warning in answer.document?["warnings"]?.array ?? [] where !json {
          Terminal.note(
            "note: \(warning["detail"]?.string ?? warning.string ?? String(decoding: warning.encoded, as: UTF8.self))")
        }
        return .success
      }
      return try await watch(id, client, loop, seconds: wait, json: json)
    }
  }

  /// Prints how the deliveries ended. Success only if all were accepted.
  private static func watch(
    _ id: String, _ client: Client, _ loop: EventLoop, seconds: Int, json: Bool
  ) async throws -> ExitCode {
    let deadline = loop.now + Int64(seconds) * 1_000
    while true {
      let answer = try await client.call("GET", "/v1/messages/\(id)")
      guard answer.isSuccess, let report = answer.document else { return ServerCall.refused(answer, json: json) }
      let state = report["state"]?.string ?? ""
      if state == "completed" || state == "cancelled" || loop.now > deadline {
        json ? Terminal.print(answer.body) : Terminal.print("\(id) \(state)\(MessageCounts(report).text)")
        let counts = MessageCounts(report)
        return state == "completed" && counts.total == counts.outcomes["accepted", default: 0] ? .success : .failure
      }
      await loop.sleep(milliseconds: 100)
    }
  }

  /// The message that file and options together describe.
  static func message(_ arguments: Arguments) throws(UsageProblem) -> JSONValue {
    var members: [JSONMember] = []
    if let file = arguments.text("--file") { members = try read(file) }
    func set(_ key: String, _ value: JSONValue) {
      members.removeAll { $0.key == key }
      members.append(JSONMember(key, value))
    }
    if let to = try recipients(arguments) { set("to", to) }
    if !members.contains(where: { $0.key == "to" }) {
      throw UsageProblem(text: "nobody is named: give --to-token, --device or --user, or \"to\" in --file")
    }
    if arguments.has("--background") { set("kind", .string("background")) }
    var notification = members.first { $0.key == "notification" }?.value.object ?? []
    for (option, key) in [("--title", "title"), ("--body", "body")] {
      guard let text = arguments.text(option) else { continue }
      notification.removeAll { $0.key == key }
      notification.append(JSONMember(key, .string(text)))
    }
    if !notification.isEmpty { set("notification", .object(notification)) }
    if let data = arguments.text("--data") {
      guard let value = try? JSON.parse(Array(data.utf8)), value.object != nil else {
        throw UsageProblem(text: "--data takes a JSON object, as --data '{\"order\":\"881\"}'")
      }
      set("data", value)
    }
    if let ttl = try arguments.integer("--ttl", in: 0...Message.maximumTTL) { set("ttl", .integer(Int64(ttl))) }
    if let priority = arguments.text("--priority") { set("priority", .string(priority)) }
    if let time = arguments.text("--at") { set("send_at", .string(time)) }
    if let time = arguments.text("--at-local") { set("send_at_local", .string(time)) }
    if let key = arguments.text("--collapse-key") { set("collapse_key", .string(key)) }
    return .object(members)
  }

  private static func read(_ file: String) throws(UsageProblem) -> [JSONMember] {
    guard let bytes = FileContent.read(file == "-" ? "/dev/stdin" : file) else {
      throw UsageProblem(text: "\(file) cannot be read")
    }
    do {
      guard let members = try JSON.parse(bytes).object else { throw UsageProblem(text: "\(file) holds no JSON object") }
      return members
    } catch let fault as JSONFault {
      throw UsageProblem(text: "\(file) is not JSON: \(fault.detail)")
    } catch let problem as UsageProblem {
      throw problem
    } catch {
      preconditionFailure("\(error)")
    }
  }

  private static func recipients(_ arguments: Arguments) throws(UsageProblem) -> JSONValue? {
    var kinds: [JSONMember] = []
    let devices = arguments.texts("--device")
    if !devices.isEmpty { kinds.append(JSONMember("devices", .array(devices.map { .string($0) }))) }
    let users = arguments.texts("--user")
    if !users.isEmpty { kinds.append(JSONMember("users", .array(users.map { .string($0) }))) }
    let tokens = try tokens(arguments)
    if !tokens.isEmpty { kinds.append(JSONMember("tokens", .array(tokens))) }
    guard kinds.count < 2 else { throw UsageProblem(text: "name devices, users or tokens, one kind per message") }
    return kinds.isEmpty ? nil : .object(kinds)
  }

  /// Raw tokens, as a message lists them.
  static func tokens(_ arguments: Arguments) throws(UsageProblem) -> [JSONValue] {
    var tokens: [JSONValue] = []
    for text in arguments.texts("--to-token") {
      let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
      guard parts.count == 2 else { throw UsageProblem(text: "--to-token takes PROVIDER:TOKEN, as fcm:dGVz…") }
      guard Providers.byName[ProviderName(rawValue: parts[0])] != nil else {
        let known = Providers.all.map(\.name.rawValue).joined(separator: ", ")
        throw UsageProblem(text: "no provider is called \"\(parts[0])\"; there are \(known)")
      }
      var token = [JSONMember("provider", .string(parts[0])), JSONMember("token", .string(parts[1]))]
      if let environment = arguments.text("--environment"), parts[0] == "apns" {
        token.append(JSONMember("environment", .string(environment)))
      }
      tokens.append(.object(token))
    }
    return tokens
  }
}
