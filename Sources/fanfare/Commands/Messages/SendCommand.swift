import CommandFrame
import Configuration
import Domain
import Gateway
import GatewayClient
import JSON

/// Sends through a running server, by its HTTP API.
enum SendCommand {
  static let command = Command(
    name: "send", summary: "send a message through a running server",
    about: """
      Posts one message to a running server and prints its id. Recipients are devices, users, raw tokens written as
      PROVIDER:TOKEN, an audience, or everyone; one kind of recipient per message. --file sends a complete message in
      the API's format (docs/message.md); options given with it replace its fields. Fields without an option, such as
      other kinds, `providers`, `localized` and `overrides`, belong in the file. --dry-run shows what would be sent, and
      sends nothing. On a terminal, a message to an audience, to everyone or for local times shows its forecast and asks
      first; --yes skips the question. With --wait the exit code is 0 only if there were recipients, and each delivery
      was accepted, or skipped for a reason that is not a failure (docs/outcomes.md lists them); otherwise it is 1, and
      the reason is printed. The server and the key may come from FANFARE_URL and FANFARE_KEY, or from a profile
      (fanfare help login).
      """,
    options: [
      Command.Option(
        "--to-token", "PROVIDER:TOKEN", repeats: true, "a raw token: apns:…, fcm:…, onesignal:…, webpush:…"),
      Command.Option("--environment", "NAME", "environment of raw APNs tokens: production or sandbox"),
      Command.Option("--device", "ID", repeats: true, "a registered device"),
      Command.Option("--user", "ID", repeats: true, "all devices of a user"),
      Command.Option(
        "--audience", "EXPRESSION", "an audience, for example 'plan:pro && lang:de' (fanfare help audience)"),
      Command.Option("--everyone", "every device"),
      Command.Option("--title", "TEXT", "title of the notification"),
      Command.Option("--subtitle", "TEXT", "subtitle of the notification (APNs)"),
      Command.Option("--body", "TEXT", "text of the notification"),
      Command.Option("--image", "URL", "https URL of a picture"),
      Command.Option("--link", "URL", "what a tap opens: https, or an app's own scheme"),
      Command.Option("--badge", "NUMBER", "the number on the app's icon; 0 removes it"),
      Command.Option("--sound", "NAME", "a sound of the app, or default"),
      Command.Option(
        "--data", "JSON or KEY=VALUE", repeats: true,
        "data for the app: a JSON object, or KEY=VALUE for each text value"),
    ] + contentOptions + [
      Command.Option("--background", "a background push: wake the app with --data, without a notification"),
      Command.Option("--ttl", "SECONDS", "time to live: afterwards the message expires"),
    ] + limitOptions + [
      Command.Option("--priority", "NAME", "high, normal or low"),
      Command.Option("--collapse-key", "KEY", "replaces earlier messages with the same collapse key"),
      Command.Option("--name", "TEXT", "the name of the message"),
      Command.Option("--label", "KEY:VALUE", repeats: true, "a label by which you can find the message"),
      Command.Option("--at", "TIME", "send it at this time, for example 2026-12-01T09:00:00+01:00"),
      Command.Option(
        "--at-local", "TIME", "send it at this time in each device's local time, for example 2026-12-01T09:00:00"),
      Command.Option("--idempotency-key", "KEY", "a repeated call with this key returns the first id"),
      Command.Option("--file", "FILE", "a complete message in JSON; - reads standard input"),
      MessageEnd.option(),
      SendQuestion.option(),
      Command.Option("--dry-run", "show who would get it and what would be sent; send nothing"),
      Command.json,
    ] + ServerCall.options(scopes: "send (and read for --wait)"),
    examples: [
      "fanfare send --to-token fcm:dGVz… --title Hello --body World",
      "fanfare send --audience 'plan:pro && lang:de' --title Sale --name 'Spring sale' --label campaign:spring --dry-run",
      "fanfare send --user 4711 --file message.json --wait 30",
      "fanfare send --audience churned --title 'We miss you' --variant plain=50 --variant 'loud=50:COME BACK!'",
      "fanfare send --event update --activity match-7 --content-state '{\"home\":1}'",
    ]
  ) { arguments in try run(arguments) }

  private static func run(_ arguments: Arguments) throws -> ExitCode {
    let message = try message(arguments)
    let body = message.encoded
    let wait = try MessageEnd.seconds(arguments)
    guard !arguments.has("--dry-run") else {
      try SendCall.checkDryRun(wait)
      return try ServerCall.one(
        "POST", "/v1/messages?dry_run=true", arguments, body: body, words: CommandWords.timed(by: arguments),
        ForecastView.showDryRun)
    }
    let to = message["to"]
    if to?["audience"] != nil || to?["everyone"] != nil || message["send_at_local"] != nil {
      let answer = try SendQuestion.ask("/v1/messages?dry_run=true", arguments, body: body)
      guard answer == .success else { return answer }
    }
    let headers = arguments.text("--idempotency-key").map { [Header("idempotency-key", $0)] } ?? []
    let call = SendCall(
      path: "/v1/messages", body: body, headers: headers, wait: wait, repeated: AcceptedAnswer.tellRepeat)
    return try call.run(arguments)
  }

  /// The message that file and options together describe.
  static func message(_ arguments: Arguments) throws(UsageProblem) -> JSONValue {
    var members: [JSONMember] = []
    if let file = arguments.text("--file") { members = try read(file) }
    members.set("to", try recipients(arguments))
    let activity = try liveActivity(
      arguments, beside: members["live_activity"]?.object ?? [], hasRecipients: members["to"] != nil)
    if let activity {
      members.set("kind", "live_activity")
      members.set("live_activity", .object(activity))
      if members["to"] == nil, let id = arguments.text("--activity") {
        members.set("to", .object([JSONMember("activity", .string(id))]))
      }
    }
    if members["to"] == nil {
      throw UsageProblem(
        text: "recipients are missing: give --to-token, --device, --user, --audience or --everyone, or \"to\" in --file"
      )
    }
    if arguments.has("--background") { members.set("kind", "background") }
    var notification = members["notification"]?.object ?? []
    for name in ["title", "subtitle", "body", "image", "link", "sound"] {
      notification.set(name, arguments.text("--" + name))
    }
    notification.set("badge", try arguments.integer("--badge", in: 0...Int(Int32.max)))
    notification.set("buttons", try buttons(arguments))
    members.set("notification", members: notification)
    members.set("variants", try variants(arguments))
    members.set("holdout", try holdout(arguments))
    if let data = try data(arguments) { members.set("data", .object(data)) }
    members.set("ttl", try arguments.integer("--ttl", in: 0...Message.maximumTTL))
    members.set("rate_per_second", try arguments.integer("--rate", in: 1...1_000_000))
    for (option, key) in [("--topic", "topic"), ("--reach", "reach")] { members.set(key, arguments.text(option)) }
    if let cap = try cap(arguments) { members.set("cap", cap) }
    if let quiet = try quietHours(arguments) { members.set("quiet_hours", quiet) }
    for (option, key) in [
      ("--priority", "priority"), ("--collapse-key", "collapse_key"), ("--name", "name"),
    ] {
      members.set(key, arguments.text(option))
    }
    if let time = try SendTimeOption.read(arguments) {
      members.removeAll { ["send_at", "send_at_local"].contains($0.key) }
      members.append(time)
    }
    if let labels = try labels(arguments, beside: members["labels"]?.object ?? []) {
      members.set("labels", .object(labels))
    }
    return .object(members)
  }

  /// `--data '{…}'`, or `--data key=value` once or more.
  private static func data(_ arguments: Arguments) throws(UsageProblem) -> [JSONMember]? {
    let texts = arguments.texts("--data")
    guard let first = texts.first else { return nil }
    if texts.count == 1, let members = (try? JSON.parse(Array(first.utf8)))?.object { return members }
    var members: [JSONMember] = []
    for text in texts {
      guard let (key, value) = parts(of: text, at: "=") else {
        throw UsageProblem(
          text: "--data takes a JSON object (--data '{\"order\":\"881\"}') or KEY=VALUE (--data order=881)")
      }
      members.set(key, value)
    }
    return members
  }

  private static func labels(_ arguments: Arguments, beside known: [JSONMember]) throws(UsageProblem) -> [JSONMember]? {
    var labels = known
    var given: Set<String> = []
    let texts = arguments.texts("--label")
    for text in texts {
      guard let (key, value) = parts(of: text, at: ":") else {
        throw UsageProblem(text: "--label takes KEY:VALUE, for example --label campaign:spring")
      }
      guard given.insert(key).inserted else { throw UsageProblem(text: "--label \(key) is given twice") }
      labels.set(key, value)
    }
    return texts.isEmpty ? nil : labels
  }

  /// Nil where there is no mark, or nothing before it.
  private static func parts(of text: String, at mark: Character) -> (String, String)? {
    guard let place = text.firstIndex(of: mark), place > text.startIndex else { return nil }
    return (String(text[..<place]), String(text[text.index(after: place)...]))
  }

  private static func read(_ file: String) throws(UsageProblem) -> [JSONMember] {
    guard let members = try document(file).object else {
      throw UsageProblem(text: "\(file) does not hold a JSON object")
    }
    return members
  }

  /// Of a file, or of standard input for `-`.
  static func document(_ file: String) throws(UsageProblem) -> JSONValue {
    guard let bytes = FileContent.read(file == "-" ? "/dev/stdin" : file) else {
      throw UsageProblem(
        text: file == "-" || FileContent.exists(file) ? "\(file) cannot be read" : "there is no file \(file)")
    }
    do throws(JSONFault) {
      return try JSON.parse(bytes)
    } catch {
      throw UsageProblem(text: "\(file) is not JSON: \(error.detail)")
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
    kinds.set("audience", arguments.text("--audience"))
    if arguments.has("--everyone") { kinds.set("everyone", .bool(true)) }
    guard kinds.count < 2 else {
      throw UsageProblem(text: "a message has one kind of recipient: devices, users, tokens, an audience or everyone")
    }
    return kinds.isEmpty ? nil : .object(kinds)
  }

  /// Raw tokens, as a message lists them.
  static func tokens(_ arguments: Arguments) throws(UsageProblem) -> [JSONValue] {
    var tokens: [JSONValue] = []
    for text in arguments.texts("--to-token") {
      let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
      guard parts.count == 2 else { throw UsageProblem(text: "--to-token takes PROVIDER:TOKEN, for example fcm:dGVz…") }
      guard Providers.byName[ProviderName(rawValue: parts[0])] != nil else {
        let known = Providers.all.map(\.name.rawValue).joined(separator: ", ")
        throw UsageProblem(text: "there is no provider \"\(parts[0])\"; the providers are \(known)")
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
