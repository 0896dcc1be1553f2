import Audience
import Domain
import Intake
import JSON
import Loop
import Store

/// How much a forecast may cost.
package struct ForecastBounds: Sendable {
  /// So many devices are looked at one by one; of more only a sample.
  package var exact: Int
  package var sample: Int

  /// `sample`: devices looked at one by one where there are more than `exact`.
  package init(exact: Int, sample: Int) {
    self.exact = exact
    self.sample = sample
  }
}

/// What a forecast is for.
enum ForecastPurpose {
  /// Somebody asks for the figure.
  case answer
  /// It only warns: a send must not wait for it.
  case warning
}

/// Says what would come of a message if it were sent now. Belongs to the loop.
final class Forecaster {
  /// Of a message that has no id yet.
  private static let trialSeed = MessageID(acceptedAt: WallTime(milliseconds: 0), partition: 0, random: 0)

  private let loop: EventLoop
  private let store: Store
  private let configuration: AdoptedConfiguration
  private let bounds: (answer: ForecastBounds, warning: ForecastBounds)
  private let recipientResolver: RecipientResolver
  private let attributes: AttributeCheck
  private let zones: ZoneBook

  init(
    loop: EventLoop, store: Store, configuration: AdoptedConfiguration,
    bounds: (answer: ForecastBounds, warning: ForecastBounds), recipientResolver: RecipientResolver,
    attributes: AttributeCheck, zones: ZoneBook
  ) {
    self.loop = loop
    self.store = store
    self.configuration = configuration
    self.bounds = bounds
    self.recipientResolver = recipientResolver
    self.attributes = attributes
    self.zones = zones
  }

  func outlook(of message: Message, _ contents: [VariantTexts], _ call: Call, for purpose: ForecastPurpose) -> Outlook {
    Outlook(
      message, contents, app: call.app, clock: configuration.apps[call.app]?.clock ?? AppClock(), zones: zones,
      accounts: configuration.accounts, now: call.now, purpose: purpose)
  }

  /// What would come of this message, and what is to be known of it before it is sent. `id`: of one that is stored, which
  /// says who is in its holdout.
  func count(
    _ message: Message, _ call: Call, document: JSONValue, _ purpose: ForecastPurpose = .answer,
    stored id: MessageID? = nil
  ) async throws(Problem) -> (forecast: Forecast, warnings: [Notice]) {
    let contents = message.textsByVariant
    let outlook = outlook(of: message, contents, call, for: purpose)
    if let id, let shares = message.shares { outlook.split = VariantSplit(shares: shares, seed: id) }
    let recipients = try await recipientResolver.resolve(
      message, call, document: document, keepsDevices: outlook.asksDevices)
    let forecast = try await forecast(recipients, outlook, call, purpose)
    let unknown = Notice.of(unknownAttributes: try await attributes.unknown(in: contents, call))
    return (forecast, call.notices.told(recipients.warnings + unknown + Notice.of(forecast)))
  }

  /// What would come of a message that is aimed so. `outlook`: with its split, if it is known.
  func forecast(_ recipients: ResolvedRecipients, _ outlook: Outlook, _ call: Call, _ purpose: ForecastPurpose)
    async throws(Problem)
    -> Forecast
  {
    let bounds = purpose == .answer ? self.bounds.answer : self.bounds.warning
    var forecast = Forecast()
    if outlook.split == nil, let shares = outlook.message.shares {
      outlook.split = VariantSplit(shares: shares, seed: Self.trialSeed)
      forecast.holdoutIsDrawn = shares.holdout > 0
      forecast.variantsAreDrawn = outlook.variantsDiffer
    }
    for (exclusion, count) in recipients.others { forecast.exclude(exclusion, count) }
    guard let selection = recipients.selection, let count = recipients.count else {
      return try await add(recipients.targets, recipients.devices, to: forecast, outlook, call, bounds)
    }
    let resolver = configuration.resolver(try configuration.tenant(call.app), outlook.message)
    if outlook.asksDevices, count.total <= bounds.exact {
      let devices = try await recipientResolver.members(
        selection, resolver, call, partitions: count.byPartition.keys.sorted())
      return try await add(devices.map(resolver.target), devices, to: forecast, outlook, call, bounds)
    }
    var queued: [ProviderName: Int] = [:]
    for (route, members) in count.byRoute {
      let end = resolver.route(of: route.address)
      switch end {
      case .ended(let outcome, let reason):
        forecast.exclude(Forecast.Exclusion(outcome, reason, note: resolver.note(of: end, at: route.address)), members)
      case .queue: queued[route.provider, default: 0] += members
      }
    }
    guard outlook.asksDevices else {
      for (provider, members) in queued { forecast.send(by: provider, members) }
      return forecast
    }
    let devices = try await sample(selection, resolver, count, call, bounds)
    let samples = try await look(at: devices.map(resolver.target), devices, outlook, call.now)
    forecast.sample = devices.count
    for (provider, members) in queued {
      forecast.add(samples[provider] ?? Forecast(), ofProvider: provider, scaledTo: members)
    }
    return forecast
  }

  /// Targets that are known one by one. `devices`: as many, or none where nothing depends on them.
  private func add(
    _ targets: [SubmissionTarget], _ devices: [StoredDevice?], to given: Forecast, _ outlook: Outlook, _ call: Call,
    _ bounds: ForecastBounds
  ) async throws(Problem) -> Forecast {
    var forecast = given
    let resolver = configuration.resolver(try configuration.tenant(call.app), outlook.message)
    var queued: [ProviderName: [Int]] = [:]
    for (place, target) in targets.enumerated() {
      switch target.route {
      case .ended(let outcome, let reason):
        forecast.exclude(Forecast.Exclusion(outcome, reason, note: resolver.note(of: target)))
      case .queue(let credential):
        let provider = target.address?.provider ?? configuration.accounts[credential]?.provider ?? .apns
        queued[provider, default: []].append(place)
      }
    }
    guard outlook.asksDevices else {
      for (provider, places) in queued { forecast.send(by: provider, places.count) }
      return forecast
    }
    let total = queued.values.reduce(0) { $0 + $1.count }
    let step = total <= bounds.exact ? 1 : (total + bounds.sample - 1) / bounds.sample
    var looked = 0
    for (provider, places) in queued {
      let some = stride(from: 0, to: places.count, by: step).map { places[$0] }
      looked += some.count
      let samples = try await look(
        at: some.map { targets[$0] }, some.map { devices.isEmpty ? nil : devices[$0] }, outlook, call.now)
      forecast.add(samples[provider] ?? Forecast(), ofProvider: provider, scaledTo: places.count)
    }
    if step > 1 { forecast.sample = looked }
    return forecast
  }

  /// What becomes of these, by provider.
  private func look(
    at targets: [SubmissionTarget], _ devices: [StoredDevice?], _ outlook: Outlook, _ now: WallTime
  ) async throws(Problem) -> [ProviderName: Forecast] {
    var full: Set<DeviceID> = []
    if let cap = outlook.message.cap {
      do throws(StoreError) {
        full = try await store.caps.full(
          cap, among: targets.filter(\.registered).map(\.device), app: outlook.app, now: outlook.startedAt)
      } catch {
        throw Problem(error)
      }
    }
    var found: [ProviderName: Forecast] = [:]
    for (place, target) in targets.enumerated() {
      await loop.giveWay()
      guard case .queue(let credential) = target.route,
        let provider = target.address?.provider ?? configuration.accounts[credential]?.provider
      else { continue }
      if let exclusion = outlook.exclusion(of: target, devices[place], full: full) {
        found[provider, default: Forecast()].exclude(exclusion)
      } else {
        found[provider, default: Forecast()].send(by: provider)
        let time = outlook.time(of: target, devices[place])
        if let wait = time.wait { found[provider]?.wait(for: wait.reason, until: wait.until, wait.until) }
        if time.hasPassed { found[provider]?.pass() }
      }
    }
    return found
  }

  /// Partitions that a sample is taken from: devices lie in them by chance.
  private static let sampledPartitions = 8

  /// Members that the message can go to, spread over the audience.
  private func sample(
    _ selection: AudienceSelection, _ resolver: RouteResolver, _ count: AudienceCount, _ call: Call,
    _ bounds: ForecastBounds
  ) async throws(Problem) -> [StoredDevice] {
    let all = count.byPartition.keys.sorted()
    let step = max(1, all.count / Self.sampledPartitions)
    let some = stride(from: 0, to: all.count, by: step).map { all[$0] }.prefix(Self.sampledPartitions)
    return try await recipientResolver.members(
      selection, resolver, call, partitions: Array(some), sample: max(1, bounds.sample / max(1, some.count)))
  }
}
