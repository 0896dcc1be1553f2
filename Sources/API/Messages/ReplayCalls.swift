import Domain
import HTTPServer
import Intake
import JSON
import Loop
import Store
import TLS

/// Sends again what did not arrive. Belongs to the loop.
final class ReplayCalls {
  private static let replayPage = 1_000
  /// Of the place where a replay stopped.
  private static let replayMark = "r:"

  private let loop: EventLoop
  private let store: Store
  private var randomWords = RandomWords()
  private let configuration: AdoptedConfiguration
  private let maximumReplayed: Int
  private let urgentTargets: Int
  private let keys: IdempotencyKeys
  private let rendering: RenderingCheck
  private let preparation: MessagePreparation
  private let forecaster: Forecaster
  private let acceptor: MessageAcceptor
  private let bodies: LargeBodies

  init(
    loop: EventLoop, store: Store, configuration: AdoptedConfiguration, settings: ServiceSettings,
    keys: IdempotencyKeys,
    rendering: RenderingCheck, preparation: MessagePreparation, forecaster: Forecaster, acceptor: MessageAcceptor,
    bodies: LargeBodies
  ) {
    self.loop = loop
    self.store = store
    self.configuration = configuration
    maximumReplayed = settings.maximumReplayed
    urgentTargets = settings.urgentTargets
    self.keys = keys
    self.rendering = rendering
    self.preparation = preparation
    self.forecaster = forecaster
    self.acceptor = acceptor
    self.bodies = bodies
  }

  /// `POST /v1/messages/{id}/replay`: a new message of the same content for deliveries of this one that ended without
  /// having been accepted. Only what has ended is taken, so the message itself may still be under way. What one message
  /// cannot hold is left for the next call: the answer says where to go on. Devices that an earlier replay has reached,
  /// or still sends to, are left out, also one of a message that this one goes back to.
  func replayMessage(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let parent = try call.messageID()
    var idempotency = try IdempotencyKeys.given(in: call.request)
    // The same key and body for another message is another request.
    idempotency?.digest = Digest.sha256(Array(parent.description.utf8) + call.request.body)
    if let answer = try await repeated(idempotency, parent, call) { return answer }
    let selection = try selection(of: call)
    // Also a message that nobody has.
    _ = try await store.reports.found(parent, call)
    let mark = randomWords.next()
    let ancestors = try await ancestors(of: parent)
    // All replays that may have the same devices come one after another.
    let root = ancestors.last ?? parent
    let noted = try await begin(root, mark: mark)
    let answer: Result<HTTPServerResponse, Problem>
    do throws(Problem) {
      // Another request with the key may have made it meanwhile.
      if let known = try await repeated(idempotency, parent, call) {
        answer = .success(known)
      } else {
        let replays = ancestors.isEmpty ? noted : try await replays(of: parent, ancestors)
        answer = .success(try await replay(parent, selection, replays, idempotency, call))
      }
    } catch {
      answer = .failure(error)
    }
    // If it cannot be told now, the next replay is made later.
    try? await store.replays.end(root, mark: mark)
    return try answer.get()
  }

  private func ancestors(of parent: MessageID) async throws(Problem) -> [MessageID] {
    do throws(StoreError) {
      return try await store.replays.ancestors(of: parent)
    } catch {
      throw Problem(error)
    }
  }

  /// Of a message that is a replay itself: its own replays, and those beside it.
  private func replays(of parent: MessageID, _ ancestors: [MessageID]) async throws(Problem) -> [Replay] {
    do throws(StoreError) {
      return try await store.replays.all(of: parent) + store.replays.beside(parent, ancestors: ancestors)
    } catch {
      throw Problem(error)
    }
  }

  /// The answer of an earlier request with the same idempotency key.
  private func repeated(_ idempotency: (key: String, digest: [UInt8])?, _ parent: MessageID, _ call: Call)
    async throws(Problem) -> HTTPServerResponse?
  {
    guard let idempotency, let earlier = try await keys.lookUp(idempotency, call.app) else { return nil }
    var answer = try await acceptor.became(earlier, of: nil, call.app)
    answer.replayOf = parent
    let replays: [Replay]
    do throws(StoreError) {
      replays = try await store.replays.all(of: parent)
    } catch {
      throw Problem(error)
    }
    answer.nextAfter = cursor(at: replays.first { $0.id == answer.id }?.next, try selection(of: call), call)
    return Answer.accepted(answer)
  }

  /// What was replayed of the message so far, once no other replay of it, or of one of these, is being made.
  private func begin(_ parent: MessageID, mark: UInt64) async throws(Problem) -> [Replay] {
    let deadline = loop.now + IdempotencyKeys.milliseconds
    do throws(StoreError) {
      while true {
        if let replays = try await store.replays.begin(parent, mark: mark) { return replays }
        guard loop.now < deadline else { break }
        await loop.sleep(milliseconds: Self.wait)
      }
    } catch {
      throw Problem(error)
    }
    throw Problem(
      .requestInProgress, "Another replay of this message is in progress: repeat the request soon", retryAfter: 1)
  }
  /// Milliseconds between two looks.
  private static let wait: Int64 = 50

  private func replay(
    _ parent: MessageID, _ selection: ReplaySelection, _ replays: [Replay],
    _ idempotency: (key: String, digest: [UInt8])?, _ call: Call
  ) async throws(Problem) -> HTTPServerResponse {
    if selection.outcomes.contains(.cancelled) { try await checkCancelled(parent, call) }
    let start = try start(of: selection, call)
    var earlier = EarlierReplays(replays, from: start, store: store, app: call.app)
    let (devices, next) = try await ended(parent, selection, from: start, &earlier, call)
    guard !devices.isEmpty else {
      throw earlier.problem
        ?? Problem(.nothingToReplay, "No delivery of this message has these outcomes and reasons: see its `counts`")
    }
    let (message, body) = try await content(of: parent, call.app)
    let recipients = try await recipients(at: devices, of: message, &earlier, call.app)
    if recipients.targets.isEmpty, let problem = earlier.problem { throw problem }
    let contents = message.textsByVariant
    let warnings = try rendering.check(contents, recipients.credentials, call.now).notices
    let prepared = PreparedMessage(
      message, recipients, body: body, app: call.app, now: call.now,
      warnings: (earlier.notice.map { [$0] } ?? []) + warnings,
      errorBrake: configuration.apps[call.app]?.errorBrake, urgentTargets: urgentTargets)
    prepared.submission.replayOf = parent
    (prepared.submission.labels.audience, prepared.submission.labels.expression) = (nil, nil)
    if message.shares != nil { prepared.submission.sharedAs = try await seed(of: parent, call.app) }
    try await preparation.foresee(
      prepared, recipients, forecaster.outlook(of: message, contents, call, for: .warning), call, .warning)
    if start == nil, next == nil, let forecast = prepared.forecast, forecast.wouldBeSent == 0 {
      throw Self.reachesNobody(forecast)
    }
    prepared.warnings = call.notices.told(prepared.warnings)
    prepared.submission.idempotency = idempotency
    let id = prepared.submission.id ?? store.acceptance.identify(prepared.submission)
    prepared.submission.id = id
    // Nobody gets it who was not among those that its first message was for.
    prepared.isSeenByTwo = true
    try await acceptor.charge(prepared, call)
    do throws(StoreError) {
      try await store.replays.note(Replay(id: id, from: start, next: next), of: parent, ttl: message.ttl)
    } catch {
      throw Problem(error)
    }
    var answer = try await acceptor.accept(prepared, call)
    answer.replayOf = parent
    answer.nextAfter = cursor(at: next, selection, call)
    return Answer.accepted(answer)
  }

  /// Their devices were deleted or disabled meanwhile, for example.
  private static func reachesNobody(_ forecast: Forecast) -> Problem {
    let reasons = forecast.rows.map { row in
      "\(grouped(row.count)) \(row.exclusion.reason) (\(row.exclusion.explanation))"
    }
    let who = forecast.targets == 1 ? "The only such device gets" : "All \(grouped(forecast.targets)) such devices get"
    return Problem(.nothingToReplay, "\(who) nothing now: \(reasons.joined(separator: ", "))")
  }

  /// Of a cancelled message all that is not final yet is about to be `cancelled`, unless its request is answered: a
  /// replay before that would leave it out.
  private func checkCancelled(_ parent: MessageID, _ call: Call) async throws(Problem) {
    let report = try await store.reports.found(parent, call)
    let left = report.total - report.counts.values.reduce(0, +)
    guard report.state == .cancelled, left > 0 else { return }
    let open = left == 1 ? "1 of its deliveries has" : "\(left) of its deliveries have"
    throw Problem(
      .cancelInProgress,
      "The message is cancelled, and \(open) not ended yet: repeat the request soon, so that none is left out",
      retryAfter: 1)
  }

  func selection(of call: Call) throws(Problem) -> ReplaySelection {
    if call.request.body.isEmpty { return ReplaySelection() }
    return try call.read(.invalidMessage) { document throws(Refusal) in try ReplayReader.read(document) }
  }

  /// Where an earlier replay stopped; nil: nowhere.
  private func start(of selection: ReplaySelection, _ call: Call) throws(Problem) -> DeliveryPlace? {
    guard let after = selection.after else { return nil }
    do throws(Problem) {
      return try call.place(of: after, marked: Self.replayMark, filters: selection.filters) { DeliveryPlace(text: $0) }
    } catch {
      throw Problem(
        error.code,
        "Pass `next_after` of the previous replay, unchanged, with the `outcomes` and `reasons` of that replay")
    }
  }

  /// Where the next replay begins, as a client passes it on.
  private func cursor(at place: DeliveryPlace?, _ selection: ReplaySelection, _ call: Call) -> String? {
    place.map { call.cursor(at: $0.text, marked: Self.replayMark, filters: selection.filters) }
  }

  /// The devices of the deliveries that ended as selected, in the order of the report, as many as one message holds;
  /// and where the others begin.
  private func ended(
    _ parent: MessageID, _ selection: ReplaySelection, from start: DeliveryPlace?, _ earlier: inout EarlierReplays,
    _ call: Call
  ) async throws(Problem) -> (devices: [DeviceID], next: DeliveryPlace?) {
    var devices: [DeviceID] = []
    var filter = DeliveryFilter()
    filter.states = Set(selection.outcomes.map(\.rawValue))
    if selection.reasons?.count == 1 { filter.reason = selection.reasons?.first }
    var cursor = start
    var full: DeliveryPlace?
    repeat {
      let left = maximumReplayed - devices.count
      // Full: only what is to be replayed makes another part.
      if left == 0, full == nil { full = cursor }
      let page: (items: [DeliveryReport], next: DeliveryPlace?)?
      do throws(StoreError) {
        page = try await store.deliveries.page(
          parent, app: call.app, filter: filter, cursor: cursor,
          limit: left > 0 ? min(left, Self.replayPage) : Self.replayPage)
      } catch {
        throw Problem(error)
      }
      guard let page else { throw Problem.noMessage }
      try await earlier.reach(page.next)
      for delivery in page.items where selection.takes(state: delivery.state, reason: delivery.reason) {
        guard !earlier.takes(delivery.device) else { continue }
        if let full { return (devices, full) }
        devices.append(delivery.device)
      }
      earlier.pass(page.next)
      cursor = page.next
    } while cursor != nil
    return (devices, nil)
  }

  private func seed(of parent: MessageID, _ app: AppID) async throws(Problem) -> MessageID? {
    do throws(StoreError) {
      return try await store.archive.seed(of: parent, app: app)
    } catch {
      throw Problem(error)
    }
  }

  private func content(of parent: MessageID, _ app: AppID) async throws(Problem) -> (Message, [UInt8]) {
    let stored: [UInt8]?
    do throws(StoreError) {
      stored = try await store.archive.body(of: parent, app: app)
    } catch {
      throw Problem(error)
    }
    // It goes now, whenever the first one went.
    guard let stored else { throw Self.contentGone }
    let rules = configuration.tokenRules
    func read() throws(Problem) -> (Message, [UInt8]) {
      guard let document = try? JSON.parse(stored, maximumDepth: Call.maximumDepth) else { throw Self.contentGone }
      let timeless = document.without(["send_at", "send_at_local"])
      do throws(Refusal) {
        let message = try MessageReader.read(timeless, providers: rules).message
        return (message, message.sendAt == nil ? timeless.encoded : stored)
      } catch {
        var problem = Problem(error, .invalidMessage)
        problem.detail = "The content of the message that is to be replayed is refused now: \(problem.detail)"
        throw problem
      }
    }
    return try await bodies.read(stored.count) { Result { () throws(Problem) in try read() } }.get()
  }

  private static var contentGone: Problem {
    Problem(
      .nothingToReplay,
      "The content of this message is no longer stored. After its end, a message keeps its content only if it went "
        + "to an audience, came from a draft, or had failed, expired or cancelled deliveries")
  }

  /// Devices as they are registered now; a raw token goes again as the message named it, unless an earlier replay has
  /// reached the device that holds it by now.
  private func recipients(
    at devices: [DeviceID], of message: Message, _ earlier: inout EarlierReplays, _ app: AppID
  ) async throws(Problem) -> ResolvedRecipients {
    let resolver = configuration.resolver(try configuration.tenant(app), message)
    var raw: [DeviceID: Address] = [:]
    switch message.to {
    case .tokens(let addresses): for address in addresses { raw[DeviceID.derived(of: address, in: app)] = address }
    case .channel(let address): raw[DeviceID.derived(of: address, in: app)] = address
    case .devices, .users, .audience, .everyone: break
    }
    do throws(StoreError) {
      var stored = try await store.devices.devices(devices, app: app)
      var targets = zip(devices, stored).map { id, stored in
        stored == nil ? raw[id].map(resolver.target) ?? resolver.target(id, nil) : resolver.target(id, stored)
      }
      // Tokens that were registered under an id of their own meanwhile.
      let places = targets.indices.filter { !targets[$0].registered && targets[$0].address != nil }
      let owners = try await store.tokens.owners(of: places.compactMap { targets[$0].address }, app: app)
      for (place, owner) in zip(places, owners) {
        guard let owner else { continue }
        targets[place] = resolver.target(owner)
        stored[place] = owner
      }
      var seen: Set<DeviceID> = []
      let first = zip(devices, targets).map { device, target in
        seen.insert(target.device).inserted && (target.device == device || !earlier.takes(target.device))
      }
      return ResolvedRecipients(
        targets: zip(targets, first).filter(\.1).map(\.0), devices: zip(stored, first).filter(\.1).map(\.0))
    } catch {
      throw Problem(error)
    }
  }
}

extension ReplaySelection {
  /// What `after` is bound to: the same whatever the order that the request gave.
  fileprivate var filters: [String] {
    ["outcomes"] + outcomes.map(\.rawValue).sorted() + (reasons.map { ["reasons"] + $0.sorted() } ?? [])
  }
}
