import API
import APNs
import CommandFrame
import Configuration
import Domain
import Gateway
import Glibc
import Intake
import JSON

/// What the vendors would get, without a server, a store or a network.
enum RenderCommand {
  static let command = Command(
    name: "render", summary: "show the provider requests of a message, offline",
    about: """
      Reads a message in the API's format, and prints the request that each provider would get for a sample device:
      method, address, headers, body, size and the vendor's size limit. Nothing is sent, and secrets are
      masked. The message needs no recipients. The command uses the accounts of the configuration, or sample
      accounts if there is none. --simulator also writes the payload as a file for the iOS simulator.
      """,
    positionals: ["FILE"],
    options: [
      Command.configuration,
      Command.Option("--app", "ID", "the app, if the configuration has several"),
      Command.Option("--language", "TAG", "the sample device's language, for localized texts"),
      Command.Option("--attribute", "NAME=VALUE", repeats: true, "an attribute of the sample device, for placeholders"),
      Command.Option("--simulator", "FILE.apns", "write the APNs payload for xcrun simctl push, or drag and drop"),
      Command.Option("--bundle-id", "ID", "the app in the simulator (default: the request's topic)"),
      Command.json,
    ],
    examples: [
      "fanfare render message.json", "fanfare render message.json --simulator order.apns --bundle-id com.example.app",
    ]
  ) { arguments in try run(arguments) }

  private static func run(_ arguments: Arguments) throws -> ExitCode {
    guard let file = arguments.positionals.first else {
      throw UsageProblem(text: "name the message: fanfare render FILE (- is standard input)")
    }
    let message: Message
    do {
      message = try read(file)
    } catch let refusal as Refusal {
      tell(refusal, file)
      return .refused
    }
    let (samples, faults) = SampleRequests.make(
      message, try sources(arguments), facts: try facts(arguments), startedAt: now)
    show(samples, faults, json: arguments.wantsJSON)
    if let path = arguments.text("--simulator") {
      guard write(samples, message, to: path, bundleID: arguments.text("--bundle-id")) else { return .failure }
    }
    return faults.isEmpty && !samples.isEmpty ? .success : .refused
  }

  private static func facts(_ arguments: Arguments) throws(UsageProblem) -> DeviceFacts {
    var facts = DeviceFacts(language: arguments.text("--language"))
    for text in arguments.texts("--attribute") {
      let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 2 else {
        throw UsageProblem(text: "--attribute takes NAME=VALUE, for example first_name=Ana")
      }
      facts.attributes.set(parts[0], parts[1])
    }
    return facts
  }

  private static var now: WallTime { WallTime(seconds: Int64(time(nil))) }

  /// The message of a file; one that names nobody is for raw tokens.
  private static func read(_ file: String) throws -> Message {
    guard let bytes = FileContent.read(file == "-" ? "/dev/stdin" : file) else {
      throw UsageProblem(
        text: file == "-" || FileContent.exists(file) ? "\(file) cannot be read" : "there is no file \(file)")
    }
    let document: JSONValue
    do { document = try JSON.parse(bytes) } catch {
      throw UsageProblem(text: "\(file) is not JSON: \(error.detail)")
    }
    guard case .object(var members) = document else { throw UsageProblem(text: "\(file) does not hold a JSON object") }
    let isForNobody = members["to"] == nil
    if isForNobody { members.append(JSONMember("to", .object([JSONMember("users", .array([.string("sample")]))]))) }
    let whole = JSONValue.object(members)
    return try MessageReader.read(whole, providers: Providers.byName.mapValues(\.tokens)).message
  }

  private static func tell(_ refusal: Refusal, _ file: String) {
    Terminal.complain("\(file) is not a valid message")
    for violation in refusal.violations {
      Terminal.note("  " + FieldName.sentence(violation.detail, at: violation.pointer))
    }
  }

  /// Of the app that is named, or the only one; made up where there is no configuration.
  private static func sources(_ arguments: Arguments) throws -> [SampleRequests.Source] {
    let isNamed = arguments.has(Command.configuration.name) || getenv("FANFARE_CONFIG") != nil
    guard isNamed || FileContent.exists(Setup.file(arguments)) else { return SampleAccounts.make() }
    let setup = try Setup.load(arguments)
    let ids = setup.apps.keys.map(\.rawValue).sorted()
    let wanted = arguments.text("--app") ?? (ids.count == 1 ? ids[0] : nil)
    guard let wanted else { throw UsageProblem(text: "say which app: --app \(ids.joined(separator: ", --app "))") }
    guard let app = setup.apps[AppID(rawValue: wanted)] else {
      throw UsageProblem(text: "there is no app \"\(wanted)\"; the apps are \(ids.joined(separator: ", "))")
    }
    return app.credentials.compactMap { route in setup.accounts[route.credential].map { (route, $0) } }
  }

  // MARK: Showing

  private static func show(_ samples: [RequestSample], _ faults: [RenderFault], json: Bool) {
    if json {
      var writer = JSONWriter()
      writer.beginObject()
      writer.key("requests")
      writer.beginArray()
      for sample in samples { sample.write(to: &writer) }
      writer.endArray()
      writer.endObject()
      Terminal.print(json: writer.bytes)
    } else {
      for sample in samples { Terminal.print(sample.text + "\n") }
      if samples.isEmpty, faults.isEmpty { Terminal.note("No account supports this kind of message.") }
    }
    for fault in faults {
      Terminal.complain(FieldName.sentence(fault.detail, at: fault.pointer))
    }
  }

  private static func write(_ samples: [RequestSample], _ message: Message, to path: String, bundleID: String?) -> Bool
  {
    guard message.kind == .alert || message.kind == .background,
      let sample = samples.first(where: { $0.provider == .apns })
    else {
      Terminal.complain("the simulator accepts only APNs alerts and background pushes", "this message is neither")
      return false
    }
    let topic = sample.request.headers.first { $0.name == "apns-topic" }?.value
    guard let bundleID = bundleID ?? topic else {
      Terminal.complain("the simulator needs the app's bundle id", "give --bundle-id com.example.app")
      return false
    }
    guard FileContent.write(SimulatorFile.contents(body: sample.request.body, bundleID: bundleID), to: path) else {
      Terminal.complain("\(path) cannot be written")
      return false
    }
    Terminal.note("send \(path) to the simulator: xcrun simctl push booted \(path)")
    return true
  }
}
