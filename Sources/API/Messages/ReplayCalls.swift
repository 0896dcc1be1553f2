import Domain
import HTTPServer
import Intake
import JSON
import Store
import TLS

/// Sends again what did not arrive. Belongs to the loop.
final class ReplayCalls {
  private static let replayPage = 1_000
  /// Of the place where a replay stopped.
  private static let replayMark = "r:"

  private let store: Store
  private let configuration: AdoptedConfiguration
  private let maximumReplayed: Int
  private let urgentTargets: Int
  private let keys: IdempotencyKeys
  private let rendering: RenderingCheck
  private let preparation: MessagePreparation
  private let forecaster: Forecaster
  private let acceptor: MessageAcceptor

  init(
    store: Store, configuration: AdoptedConfiguration, settings: ServiceSettings, keys: IdempotencyKeys,
    rendering: RenderingCheck, preparation: MessagePreparation, forecaster: Forecaster, acceptor: MessageAcceptor
  ) {
    self.store = store
    self.configuration = configuration
    maximumReplayed = settings.maximumReplayed
    urgentTargets = settings.urgentTargets
    self.keys = keys
    self.rendering = rendering
    self.preparation = preparation
    self.forecaster = forecaster
    self.acceptor = acceptor
  }

  /// `POST /v1/messages/{id}/replay`: a new message of the same content for deliveries of this one that ended without
  /// having been accepted. Only what has ended is taken, so the message itself may still be under way. What one message
  /// cannot hold is left for the next call: the answer says where to go on.
  func replayMessage(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let parent = try call.messageID()
    var idempotency = try IdempotencyKeys.given(in: call.request)
    // The same key and body for another message is another request.
    idempotency?.digest = Digest.sha256(Array(parent.description.utf8) + call.request.body)
    if let idempotency, let earlier = try await keys.lookUp(idempotency, call.app) {
      var answer = try await acceptor.became(earlier, of: nil, call.app)
      answer.nextAfter = try await ended(parent, try selection(of: call), call).next
      return Answer.accepted(answer)
    }
    let selection = try selection(of: call)
    if selection.outcomes.contains(.cancelled) { try await checkCancelled(parent, call) }
    let (devices, next) = try await ended(parent, selection, call)
    guard !devices.isEmpty else {
      throw Problem(
        .nothingToReplay, "No delivery of this message has these outcomes and reasons: see its `counts`")
    }
    let (message, body) = try await content(of: parent, call.app)
    let recipients = try await recipients(at: devices, of: message, call.app)
    let contents = message.textsByVariant
    let warnings = try rendering.check(contents, recipients.credentials, call.now).notices
    let prepared = PreparedMessage(
      message, recipients, body: body, app: call.app, now: call.now, warnings: warnings,
      errorBrake: configuration.apps[call.app]?.errorBrake, urgentTargets: urgentTargets)
    prepared.submission.replayOf = parent
    prepared.submission.labels.audience = nil
    if message.shares != nil { prepared.submission.sharedAs = try await seed(of: parent, call.app) }
    try await preparation.foresee(
      prepared, recipients, forecaster.outlook(of: message, contents, call, for: .warning), call, .warning)
    prepared.warnings = call.notices.told(prepared.warnings)
    prepared.submission.idempotency = idempotency
    var answer = try await acceptor.accept(prepared, call.app)
    answer.nextAfter = next
    return Answer.accepted(answer)
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
      "The message is cancelled, and \(open) not ended yet: repeat the request soon, so that the replay leaves none out",
      retryAfter: 1)
  }

  private func selection(of call: Call) throws(Problem) -> ReplaySelection {
    if call.request.body.isEmpty { return ReplaySelection() }
    let document = try call.document()
    do throws(Refusal) {
      return try ReplayReader.read(document)
    } catch {
      throw Problem(error, .invalidMessage)
    }
  }

  /// The devices of the deliveries that ended as selected, in the order of the report, as many as one message holds;
  /// and where the others begin.
  private func ended(_ parent: MessageID, _ selection: ReplaySelection, _ call: Call) async throws(Problem)
    -> (devices: [DeviceID], next: String?)
  {
    var devices: [DeviceID] = []
    var filter = DeliveryFilter()
    filter.states = Set(selection.outcomes.map(\.rawValue))
    if selection.reasons?.count == 1 { filter.reason = selection.reasons?.first }
    var cursor: DeliveryPlace?
    var full: DeliveryPlace?
    if let after = selection.after {
      do throws(Problem) {
        cursor = try call.place(of: after, marked: Self.replayMark, filters: selection.filters) {
          DeliveryPlace(text: $0)
        }
      } catch {
        throw Problem(
          error.code,
          "Pass `next_after` of the replay before, unchanged, with the `outcomes` and `reasons` of that replay")
      }
    }
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
      for delivery in page.items where selection.takes(state: delivery.state, reason: delivery.reason) {
        if let full {
          return (devices, call.cursor(at: full.text, marked: Self.replayMark, filters: selection.filters))
        }
        devices.append(delivery.device)
      }
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
    guard let stored, let document = try? JSON.parse(stored, maximumDepth: Call.maximumDepth) else {
      throw Problem(
        .nothingToReplay,
        "The content of this message is no longer stored. After its end, a message keeps its content only if "
          + "deliveries failed, expired or were cancelled")
    }
    let message: Message
    do throws(Refusal) {
      message = try MessageReader.read(
        document.without(["send_at", "send_at_local"]), providers: configuration.tokenRules
      ).message
    } catch {
      var problem = Problem(error, .invalidMessage)
      problem.detail = "The content of the message that is to be replayed is refused now: \(problem.detail)"
      throw problem
    }
    return (message, message.sendAt == nil ? document.without(["send_at", "send_at_local"]).encoded : stored)
  }

  /// Devices as they are registered now; a raw token goes again as the message named it.
  private func recipients(at devices: [DeviceID], of message: Message, _ app: AppID) async throws(Problem)
    -> ResolvedRecipients
  {
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
      let first = targets.map { seen.insert($0.device).inserted }
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
