import Domain
import HTTPServer
import Intake
import JSON
import Store
import TLS

extension Service {
  /// What one replay takes: all that a message may list.
  private static let maximumReplayed = 65_535
  private static let replayPage = 1_000

  /// `POST /v1/messages/{id}/replay`: a new message of the same content for deliveries of this one that ended without
  /// having been accepted. Only what has ended is taken, so the message itself may still be under way.
  func replayMessage(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let parent = try messageID(of: call)
    var idempotency = try idempotency(of: call.request)
    // The same key and body for another message is another request.
    idempotency?.digest = Digest.sha256(Array(parent.description.utf8) + call.request.body)
    if let idempotency, let earlier = try await lookUp(idempotency, call.app) {
      return Answer.accepted(try await became(earlier, of: nil, call.app))
    }
    let selection = try selection(of: call)
    let devices = try await ended(parent, selection, call.app)
    guard !devices.isEmpty else {
      throw Problem(
        .nothingToReplay, "No delivery of this message has ended so: see its `counts` for outcomes and reasons")
    }
    let (message, body) = try await content(of: parent, call.app)
    let targets = try await targets(devices, of: message, call.app)
    var warnings = Notice.ofSkipped(targets)
    warnings += try checkRendering(message.textsByVariant, Aim(targets: targets).credentials, call.now)
    let draft = Draft(
      message, Aim(targets: targets), body: body, app: call.app, now: call.now, warnings: warnings,
      errorBrake: apps[call.app]?.errorBrake, settings)
    draft.submission.replayOf = parent
    if message.shares != nil { draft.submission.sharedAs = try await seed(of: parent, call.app) }
    draft.submission.idempotency = idempotency
    return Answer.accepted(try await accept(draft, call.app))
  }

  private func selection(of call: Call) throws(Problem) -> ReplaySelection {
    if call.request.body.isEmpty { return ReplaySelection() }
    let document = try call.document()
    do throws(Refusal) {
      return try Intake.replay(from: document)
    } catch {
      throw Problem(error, .invalidMessage)
    }
  }

  /// The devices of the deliveries that ended as selected, in the order of the report.
  private func ended(_ parent: MessageID, _ selection: ReplaySelection, _ app: AppID) async throws(Problem)
    -> [DeviceID]
  {
    var devices: [DeviceID] = []
    var filter = DeliveryFilter()
    filter.states = Set(selection.outcomes.map(\.rawValue))
    if selection.reasons?.count == 1 { filter.reason = selection.reasons?.first }
    var cursor: String?
    repeat {
      let page: (items: [DeliveryReport], next: String?)?
      do throws(StoreError) {
        page = try await store.deliveries(parent, app: app, filter: filter, cursor: cursor, limit: Self.replayPage)
      } catch {
        throw Problem(error)
      }
      guard let page else { throw Self.noMessage }
      for delivery in page.items where selection.takes(state: delivery.state, reason: delivery.reason) {
        devices.append(delivery.device)
      }
      guard devices.count <= Self.maximumReplayed else {
        throw Problem(
          .invalidMessage,
          "More than \(Self.maximumReplayed) deliveries ended so: replay them in parts, by `outcomes` and `reasons`")
      }
      cursor = page.next
    } while cursor != nil
    return devices
  }

  private func seed(of parent: MessageID, _ app: AppID) async throws(Problem) -> MessageID? {
    do throws(StoreError) {
      return try await store.seed(of: parent, app: app)
    } catch {
      throw Problem(error)
    }
  }

  private func content(of parent: MessageID, _ app: AppID) async throws(Problem) -> (Message, [UInt8]) {
    let stored: [UInt8]?
    do throws(StoreError) {
      stored = try await store.body(of: parent, app: app)
    } catch {
      throw Problem(error)
    }
    // It goes now, whenever the first one went.
    guard let stored, let document = try? JSON.parse(stored, maximumDepth: Call.maximumDepth),
      let message = try? Intake.message(from: document.without(["send_at", "send_at_local"]))
    else {
      throw Problem(
        .nothingToReplay,
        "The content of this message is not kept any more: that of an ended message stays only where "
          + "deliveries failed or expired")
    }
    return (message, message.sendAt == nil ? document.without(["send_at", "send_at_local"]).encoded : stored)
  }

  /// Devices as they are registered now; a raw token goes again as the message named it.
  private func targets(_ devices: [DeviceID], of message: Message, _ app: AppID) async throws(Problem)
    -> [SubmissionTarget]
  {
    let tenant = try tenant(app)
    let fates = fates(tenant, message)
    var raw: [DeviceID: Address] = [:]
    switch message.to {
    case .tokens(let addresses): for address in addresses { raw[Store.derivedID(of: address, in: app)] = address }
    case .channel(let address): raw[Store.derivedID(of: address, in: app)] = address
    case .devices, .users, .audience, .everyone: break
    }
    do throws(StoreError) {
      let stored = try await store.devices(devices, app: app)
      var targets = zip(devices, stored).map { id, stored in
        stored == nil ? raw[id].map(fates.target) ?? fates.target(id, nil) : fates.target(id, stored)
      }
      // Tokens that were registered under an id of their own meanwhile.
      let places = targets.indices.filter { !targets[$0].registered && targets[$0].address != nil }
      let owners = try await store.owners(of: places.compactMap { targets[$0].address }, app: app)
      for (place, owner) in zip(places, owners) { if let owner { targets[place] = fates.target(owner) } }
      var seen: Set<DeviceID> = []
      return targets.filter { seen.insert($0.device).inserted }
    } catch {
      throw Problem(error)
    }
  }
}
