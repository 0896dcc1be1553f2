import Domain

/// A way of sending, and the figures it is to reach.
struct DispatchScenario: Sendable {
  var name: String
  var about: String
  /// Whose devices, and their share of all.
  var shares: [(provider: ProviderName, share: Double)] = [(.apns, 1)]
  /// Listed tokens in messages of this size, in place of an audience.
  var listed: Int?
  /// A first name and three languages, in place of one text for all.
  var personal = false
  var connections = 2
  var streams = 500
  var delay: Int64 = 0
  var faults = false
  var goaway = 0
  var stalled: ProviderName?
  /// Direct sends to single tokens meanwhile.
  var urgent = false
  /// The scenario that it is compared with, run by run.
  var baseline: String?
  var figures: [Metric: Double] = [:]

  static let all = [
    DispatchScenario(
      name: "audience", about: "an audience of APNs devices, one body for all",
      figures: [.rate: 100_000, .together: 8, .ratio: 1.3, .memory: 200]),
    DispatchScenario(
      name: "fcm", about: "the same to FCM, 16 connections of 100 streams", shares: [(.fcm, 1)], connections: 16,
      streams: 100, figures: [.rate: 80_000]),
    DispatchScenario(
      name: "personal", about: "an audience of APNs devices, a first name in each text, three languages",
      personal: true, figures: [.rate: 60_000]),
    DispatchScenario(
      name: "onesignal", about: "an audience of OneSignal subscriptions", shares: [(.oneSignal, 1)],
      figures: [.rate: 300_000]),
    DispatchScenario(
      name: "two", about: "APNs and OneSignal together, without a third",
      shares: [(.apns, 0.5), (.oneSignal, 0.5)]),
    DispatchScenario(
      name: "stalled", about: "three providers, FCM never answers",
      shares: [(.apns, 1.0 / 3), (.oneSignal, 1.0 / 3), (.fcm, 1.0 / 3)], stalled: .fcm, baseline: "two",
      figures: [.clean: 0.9]),
    DispatchScenario(
      name: "faults", about: "1 % each of 410, 429 and 503, a GOAWAY every 20,000 requests", faults: true,
      goaway: 20_000, baseline: "audience", figures: [.clean: 0.8]),
    DispatchScenario(name: "delay-5", about: "answers after 5 ms", delay: 5, baseline: "audience"),
    DispatchScenario(
      name: "delay-20", about: "answers after 20 ms, 4 connections of 1,000 streams", connections: 4,
      streams: 1_000, delay: 20, baseline: "audience"),
    DispatchScenario(
      name: "urgent", about: "direct sends while an audience is sent: from the request to the provider's door",
      urgent: true, figures: [.late: 50]),
    DispatchScenario(
      name: "listed", about: "listed tokens in messages of 10,000, accepted and sent", listed: 10_000,
      baseline: "audience", figures: [.cost: 1.3]),
  ]

  static func named(_ name: String) -> DispatchScenario? { all.first { $0.name == name } }
  var providers: [ProviderName] { shares.map(\.provider) }
  /// Devices of one provider among `count`.
  func devices(_ provider: ProviderName, of count: Int) -> Int {
    Int(Double(count) * (shares.first { $0.provider == provider }?.share ?? 0))
  }
  /// Those who will be reached.
  func reachable(of count: Int) -> Int {
    providers.filter { $0 != stalled }.reduce(0) { $0 + devices($1, of: count) }
  }
}
