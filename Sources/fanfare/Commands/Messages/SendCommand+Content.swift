import CommandFrame
import Domain
import JSON

/// What a message has besides its plain texts: buttons, a Live Activity, variants.
extension SendCommand {
  static let contentOptions = [
    Command.Option("--button", "ID=TEXT[=URL]", repeats: true, "a button, and what it opens"),
    Command.Option(
      "--variant", "NAME=PERCENT:TITLE|BODY", repeats: true,
      "a variant and its share; without a TITLE or BODY, the message's own"),
    Command.Option("--variants", "FILE", "variants as a JSON array, if they change more than texts"),
    Command.Option("--holdout", "PERCENT", "the share of devices that gets nothing"),
    Command.Option("--event", "NAME", "of a Live Activity: start, update or end"),
    Command.Option(
      "--activity", "ID",
      "name of the Live Activity; sends to all devices that follow it unless you name others"),
    Command.Option("--content-state", "JSON", "the state that a Live Activity shows"),
    Command.Option("--attributes-type", "NAME", "with --event start: the app's type of the attributes"),
    Command.Option("--attributes", "JSON", "with --event start: the activity's fixed attributes"),
  ]

  static let limitOptions = [
    Command.Option(
      "--quiet-hours", "FROM-TO[=skip]", "when devices get nothing, by their own clocks: 22:00-08:00; or off"),
    Command.Option("--topic", "NAME", "the topic that --cap counts by"),
    Command.Option("--cap", "COUNT/PERIOD", "the most messages of the topic per device, for example 2/day or 3/week"),
    Command.Option("--rate", "NUMBER", "deliveries per second, at most"),
    Command.Option("--reach", "NAME", "latest_device_per_user: one device of each user"),
  ]

  static func cap(_ arguments: Arguments) throws(UsageProblem) -> JSONValue? {
    guard let text = arguments.text("--cap") else { return nil }
    let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2, let most = Whole.read(parts[0], in: 1...15), ["day", "week"].contains(parts[1]) else {
      throw UsageProblem(text: "--cap takes COUNT/day or COUNT/week with a count of 1 to 15, for example --cap 2/day")
    }
    return .object([JSONMember("max", .integer(Int64(most))), JSONMember("per", .string(parts[1]))])
  }

  static func quietHours(_ arguments: Arguments) throws(UsageProblem) -> JSONValue? {
    guard let text = arguments.text("--quiet-hours") else { return nil }
    if text == "off" { return .bool(false) }
    let action = text.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
    let times = action[0].split(separator: "-", omittingEmptySubsequences: false).map(String.init)
    guard times.count == 2, !times.contains(""), action.count == 1 || action.count == 2 && action[1] == "skip" else {
      throw UsageProblem(
        text:
          "--quiet-hours takes FROM-TO, for example 22:00-08:00, followed by =skip to leave out the devices; or off")
    }
    return .object([
      JSONMember("from", .string(times[0])), JSONMember("to", .string(times[1])),
      JSONMember("else", .string(action.count == 2 ? "skip" : "hold")),
    ])
  }

  static func buttons(_ arguments: Arguments) throws(UsageProblem) -> JSONValue? {
    let texts = arguments.texts("--button")
    guard !texts.isEmpty else { return nil }
    var buttons: [JSONValue] = []
    for text in texts {
      // A URL may hold the mark as well.
      let parts = text.split(separator: "=", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
      guard parts.count > 1, !parts.contains("") else {
        throw UsageProblem(
          text: "--button takes ID=TEXT or ID=TEXT=URL, for example --button 'open=Show me=https://example.com/1'")
      }
      var button = [JSONMember("id", .string(parts[0])), JSONMember("text", .string(parts[1]))]
      if parts.count == 3 { button.append(JSONMember("url", .string(parts[2]))) }
      buttons.append(.object(button))
    }
    return .array(buttons)
  }

  /// Nil: none is asked for. `known`: of a file.
  static func liveActivity(
    _ arguments: Arguments, beside known: [JSONMember], hasRecipients: Bool
  ) throws(UsageProblem) -> [JSONMember]? {
    var activity = known
    activity.set("event", arguments.text("--event"))
    activity.set("content_state", try object("--content-state", arguments))
    activity.set("attributes_type", arguments.text("--attributes-type"))
    activity.set("attributes", try object("--attributes", arguments))
    if hasRecipients { activity.set("activity_id", arguments.text("--activity")) }
    let isAsked = ["--event", "--activity", "--content-state", "--attributes-type", "--attributes"]
      .contains(where: arguments.has)
    guard isAsked else { return nil }
    guard let event = activity["event"]?.string else {
      throw UsageProblem(text: "a Live Activity needs --event start, --event update or --event end")
    }
    guard !arguments.has("--background") else {
      throw UsageProblem(text: "--background and a Live Activity exclude each other: they are two kinds of push")
    }
    guard event != "start" || hasRecipients else {
      throw UsageProblem(
        text: "--event start needs recipients, as nobody follows the activity yet: --device, --user, --audience or "
          + "--everyone")
    }
    return activity
  }

  static func variants(_ arguments: Arguments) throws(UsageProblem) -> JSONValue? {
    let texts = arguments.texts("--variant")
    if let file = arguments.text("--variants") {
      guard texts.isEmpty else {
        throw UsageProblem(text: "--variant and --variants exclude each other: put all variants into the file")
      }
      let variants = try document(file)
      guard variants.array != nil else { throw UsageProblem(text: "\(file) does not hold a JSON array") }
      return variants
    }
    guard !texts.isEmpty else { return nil }
    var variants: [JSONValue] = []
    for text in texts {
      guard let variant = variant(text) else {
        throw UsageProblem(
          text: "--variant takes NAME=PERCENT, NAME=PERCENT:TITLE or NAME=PERCENT:TITLE|BODY, "
            + "for example --variant 'loud=45:COME BACK!'")
      }
      variants.append(.object(variant))
    }
    return .array(variants)
  }

  static func holdout(_ arguments: Arguments) throws(UsageProblem) -> JSONValue? {
    guard let text = arguments.text("--holdout") else { return nil }
    guard let share = number(text[...]) else {
      throw UsageProblem(text: "--holdout takes a share in percent, for example --holdout 10")
    }
    return share
  }

  private static func variant(_ text: String) -> [JSONMember]? {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty else { return nil }
    let content = parts[1].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard let weight = number(content[0]) else { return nil }
    var variant = [JSONMember("name", .string(String(parts[0]))), JSONMember("weight", weight)]
    guard content.count == 2 else { return variant }
    let words = content[1].split(separator: "|", maxSplits: 1, omittingEmptySubsequences: false)
    var notification: [JSONMember] = []
    for (name, word) in zip(["title", "body"], words) where !word.isEmpty {
      notification.append(JSONMember(name, .string(String(word))))
    }
    variant.set("notification", members: notification)
    return variant
  }

  /// As JSON writes it.
  private static func number(_ text: Substring) -> JSONValue? {
    guard let value = try? JSON.parse(Array(text.utf8)) else { return nil }
    switch value {
    case .integer, .unsigned, .double: return value
    case .null, .bool, .string, .array, .object: return nil
    }
  }

  private static func object(_ option: String, _ arguments: Arguments) throws(UsageProblem) -> JSONValue? {
    guard let text = arguments.text(option) else { return nil }
    guard let value = try? JSON.parse(Array(text.utf8)), value.object != nil else {
      throw UsageProblem(text: "\(option) takes a JSON object, for example \(option) '{\"home\":1}'")
    }
    return value
  }
}
