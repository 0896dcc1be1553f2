import Domain
import Intake
import JSON
import Loop
import Store

/// Makes a message of a document: read, aimed, checked and foreseen, all but stored. Belongs to the loop.
final class MessagePreparation {
  private let store: Store
  private let configuration: AdoptedConfiguration
  private let maximumTargets: Int
  private let urgentTargets: Int
  private let check: MessageCheck
  private let recipientResolver: RecipientResolver
  private let subscribers: SubscriberCheck
  private let forecaster: Forecaster
  private let bodies: LargeBodies

  init(
    store: Store, configuration: AdoptedConfiguration, settings: ServiceSettings, check: MessageCheck,
    recipientResolver: RecipientResolver, subscribers: SubscriberCheck, forecaster: Forecaster, bodies: LargeBodies
  ) {
    self.store = store
    self.configuration = configuration
    maximumTargets = settings.maximumTargets
    urgentTargets = settings.urgentTargets
    self.check = check
    self.recipientResolver = recipientResolver
    self.subscribers = subscribers
    self.forecaster = forecaster
    self.bodies = bodies
  }

  /// Without what later checks find.
  func read(_ document: JSONValue, _ call: Call) throws(Problem) -> MessageReading {
    do throws(Refusal) {
      return try MessageReader.read(
        document, providers: configuration.tokenRules, maximumTargets: maximumTargets, now: call.now,
        faults: FaultBudget(suggestions: call.suggestions))
    } catch {
      throw Problem(error, .invalidMessage)
    }
  }

  /// Reads a document, which a body or a line of so many bytes holds. `faults`: shared by all lines of a request.
  func reading(
    of document: JSONValue, bytes: Int, _ call: Call, _ faults: FaultBudget
  ) async throws(Refusal) -> MessageReading {
    let (rules, maximumTargets, now) = (configuration.tokenRules, maximumTargets, call.now)
    func read() throws(Refusal) -> MessageReading {
      try MessageReader.read(document, providers: rules, maximumTargets: maximumTargets, now: now, faults: faults)
    }
    guard bodies.areLarge(bytes) else { return try read() }
    return try await bodies.read(bytes) { Result { () throws(Refusal) in try read() } }.get()
  }

  /// From a document to all but a stored message. `body` is what will be stored of it.
  func prepare(_ document: JSONValue, body: [UInt8], _ call: Call, for purpose: ForecastPurpose)
    async throws(Problem) -> PreparedMessage
  {
    try await prepare(try await readWhole(document, of: body.count, call), document, body: body, call, for: purpose)
  }

  /// Refused with what later checks find as well.
  func readWhole(_ document: JSONValue, of bytes: Int, _ call: Call) async throws(Problem) -> MessageReading {
    let faults = FaultBudget(suggestions: call.suggestions)
    do throws(Refusal) {
      return try await reading(of: document, bytes: bytes, call, faults)
    } catch {
      throw Problem(await check.withLaterFaults(error, document, call, faults), .invalidMessage)
    }
  }

  func prepare(
    _ reading: MessageReading, _ document: JSONValue, body: [UInt8], _ call: Call, owners: OwnerLookup = .lookedUp,
    for purpose: ForecastPurpose = .warning
  ) async throws(Problem) -> PreparedMessage {
    var message = reading.message
    var body = body
    if message.liveActivity != nil, document["live_activity"]?["timestamp"] == nil {
      // Written into what is stored: whoever reads it later must find the same time.
      let time = max(call.now, message.sendAt?.earliest ?? call.now).milliseconds / 1_000
      message.liveActivity?.timestamp = time
      let unstamped = body
      body = await bodies.read(body.count) { Self.stamped(unstamped, time) }
    }
    var warnings = reading.warnings.map { Notice(pointer: $0.pointer, code: $0.code, detail: $0.detail) }
    let contents = message.textsByVariant
    let outlook = forecaster.outlook(of: message, contents, call, for: purpose)
    let checked = message
    let (recipients, notices) = try await check.perform(checked, contents, call) { () throws(Problem) in
      try await recipientResolver.resolve(
        checked, call, document: document, keepsDevices: outlook.asksDevices, owners: owners)
    }
    warnings += recipients.warnings
    warnings += try await subscribers.notices(of: recipients, call.app)
    warnings += notices
    let prepared = PreparedMessage(
      message, recipients, body: body, app: call.app, now: call.now, warnings: warnings,
      errorBrake: configuration.found(call.app)?.errorBrake, urgentTargets: urgentTargets)
    try await foresee(prepared, recipients, outlook, call, purpose)
    prepared.warnings = call.notices.told(prepared.warnings)
    return prepared
  }

  /// Warns of all who will get nothing. Of a message that has a holdout this chooses the id, as that says who is in it.
  func foresee(
    _ prepared: PreparedMessage, _ recipients: ResolvedRecipients, _ outlook: Outlook, _ call: Call,
    _ purpose: ForecastPurpose
  )
    async throws(Problem)
  {
    let isAsked = purpose == .answer
    guard isAsked || outlook.asksDevices || !recipients.isWhole else { return }
    if !isAsked, prepared.message.shares != nil {
      let id = prepared.submission.id ?? store.acceptance.identify(prepared.submission)
      prepared.submission.id = id
      outlook.split = prepared.submission.split(id)
    }
    let forecast = try await forecaster.forecast(recipients, outlook, call, purpose)
    prepared.forecast = forecast
    prepared.warnings += Notice.of(forecast)
  }

  private static func stamped(_ body: [UInt8], _ time: Int64) -> [UInt8] {
    guard let document = try? JSON.parse(body, Call.limits), var members = document.object,
      var activity = members["live_activity"]?.object
    else { preconditionFailure("a message was read that cannot be read") }
    activity.set("timestamp", .integer(time))
    members.set("live_activity", .object(activity))
    return JSONValue.object(members).encoded
  }
}
