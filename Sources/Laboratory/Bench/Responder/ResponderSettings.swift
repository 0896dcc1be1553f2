import CommandFrame
import Domain

/// What a bare responder stands for, and how it behaves.
struct ResponderSettings: Sendable {
  var directory = ""
  var provider = ProviderName.apns
  /// Allowed per connection.
  var streams = 500
  /// Milliseconds before each answer.
  var delay: Int64 = 0
  /// One request in a hundred each is answered 410, 429 and 503; the rest as usual.
  var faults = false
  /// A GOAWAY after so many requests; 0: none.
  var goaway = 0
  /// Takes requests and never answers.
  var stalled = false
  /// Tells when the request of this number came, counted from 1; 0: none.
  var milestone = 0

  static let options = [
    Command.Option("--dir", "DIR", "responder: where its CA certificate lands"),
    Command.Option("--vendor", "NAME", "responder: apns, fcm or onesignal (apns)"),
    Command.Option("--delay", "MS", "milliseconds before each answer (0)"),
    Command.Option("--faults", "responder: one request in a hundred each gets 410, 429, 503"),
    Command.Option("--goaway", "N", "responder: a GOAWAY after every N requests (0: none)"),
    Command.Option("--stalled", "responder: never answers"),
    Command.Option("--milestone", "N", "responder: report when the request of this number arrives"),
  ]

  init() {}

  init(_ arguments: Arguments, streams: Int) throws {
    guard let directory = arguments.text("--dir") else { throw UsageProblem(text: "the responder needs --dir") }
    self.directory = directory
    self.streams = streams
    if let name = arguments.text("--vendor") {
      provider = ProviderName(rawValue: name)
      guard [.apns, .fcm, .oneSignal].contains(provider) else {
        throw UsageProblem(text: "--vendor is apns, fcm or onesignal")
      }
    }
    delay = Int64(try arguments.integer("--delay", in: 0...60_000) ?? 0)
    goaway = try arguments.integer("--goaway", in: 0...10_000_000) ?? 0
    milestone = try arguments.integer("--milestone", in: 0...100_000_000) ?? 0
    faults = arguments.has("--faults")
    stalled = arguments.has("--stalled")
  }

  /// For a child process.
  var arguments: [String] {
    var words = [
      "bench", "responder", "--dir", directory, "--vendor", provider.rawValue, "--streams", "\(streams)", "--delay",
      "\(delay)", "--goaway", "\(goaway)", "--milestone", "\(milestone)",
    ]
    if faults { words.append("--faults") }
    if stalled { words.append("--stalled") }
    return words
  }
}

/// What a responder has seen.
struct ResponderTally: Sendable {
  var requests = 0
  /// More than requests where one names many.
  var recipients = 0
  var connections = 0
  var first: Instant?
  var last: Instant?
  var milestone: Instant?
  /// When the requests to marked tokens came, in nanoseconds.
  var marked: [String: Int64] = [:]

  /// Tokens that begin like this are told one by one.
  static let mark = "ee"

  mutating func received(_ count: Int, milestone number: Int, now: Instant) {
    if first == nil { first = now }
    last = now
    requests += 1
    let before = recipients
    recipients += count
    if number > before, number <= recipients { milestone = now }
  }
}
