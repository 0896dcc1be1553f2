import Domain
import HTTPServer
import Intake
import JSON
import Store

/// Shows what would be sent.
struct DryRuns {
  let store: Store
  let configuration: AdoptedConfiguration
  let recipientResolver: RecipientResolver

  /// Samples of one answer: one for each account and kind of token, not one for each device.
  private static let samples = 24

  /// What would be sent, for one device of each kind, in each variant. The draft has passed every check of a send;
  /// nothing is stored.
  func answer(_ prepared: PreparedMessage, _ call: Call) async throws(Problem) -> HTTPServerResponse {
    var targets = prepared.submission.targets
    if let audience = prepared.submission.audience {
      targets = try await recipientResolver.sampleMembers(of: audience, prepared.message, call)
    }
    let chosen = sampleTargets(targets)
    let devices: [StoredDevice?]
    do throws(StoreError) {
      devices = try await store.devices.devices(chosen.map(\.device), app: call.app)
    } catch {
      throw Problem(error)
    }
    // Who may send need not be allowed to read what is known of devices.
    let readsDevices = call.may(.devices) || call.may(.read)
    var samples: [RequestSample] = []
    for (target, stored) in zip(chosen, devices) {
      guard case .queue(let credential) = target.route, let account = configuration.accounts[credential],
        let address = target.registered ? stored?.device.address : target.address
      else { continue }
      for (variant, content) in prepared.message.contents {
        let facts = stored?.device.facts ?? DeviceFacts()
        let shown = readsDevices || !target.registered ? address : masked(address, content, account)
        // It was rendered for this account when the draft was checked.
        let sample = try? RequestSample(
          content, variant: variant, to: shown,
          device: stored?.device.id, facts: readsDevices ? facts : masked(facts, content), by: account,
          startedAt: call.now)
        if let sample { samples.append(sample) }
      }
    }
    let warnings = prepared.warnings + (WantedWait(call.request) == nil ? [] : [.ofWaitInDryRun])
    return Answer.json { writer in
      writer.member("dry_run", true)
      writer.member("targets", prepared.count)
      prepared.submission.schedule?.write(to: &writer)
      prepared.forecast?.write(to: &writer)
      writer.key("requests")
      writer.beginArray()
      for sample in samples { sample.write(to: &writer) }
      writer.endArray()
      writer.key("warnings")
      writer.beginArray()
      for warning in warnings { warning.write(to: &writer) }
      writer.endArray()
    }
  }

  /// The first target of each account and kind of token, and of those that need the token of an activity the first that
  /// has one.
  private func sampleTargets(_ targets: [SubmissionTarget]) -> [SubmissionTarget] {
    var seen: Set<[String]> = []
    var chosen: [SubmissionTarget] = []
    for target in targets where chosen.count < Self.samples {
      guard case .queue(let credential) = target.route, let account = configuration.accounts[credential],
        let address = target.address
      else { continue }
      let kind = [
        credential.rawValue, address.tokenKind.rawValue, account.recipientClass(of: address),
        address.liveActivityToken == nil ? "" : "activity",
      ]
      if seen.insert(kind).inserted { chosen.append(target) }
    }
    return chosen
  }

  /// With each placeholder in place of what would fill it, and in the message's own language.
  private func masked(_ facts: DeviceFacts, _ message: Message) -> DeviceFacts {
    let attributes = MessageTexts(message).slots.map { JSONMember($0.name, .string("{{\($0.name)}}")) }
    return DeviceFacts(platform: facts.platform, attributes: attributes)
  }

  private static let mask = "TOKEN"

  /// With another token of the same form.
  private func masked(_ address: Address, _ message: Message, _ account: any ProviderAccount) -> Address {
    var address = address
    let parts = address.token.split(separator: ":", maxSplits: 2).map(String.init)
    if configuration.tokenRules[address.provider]?.form == .document {
      address.token = account.sampleToken(address.tokenKind, for: message)
    } else {
      address.token = parts.count == 3 && parts[0] == "alias" ? "alias:\(parts[1]):\(Self.mask)" : Self.mask
    }
    if address.liveActivityToken != nil { address.liveActivityToken = Self.mask }
    return address
  }
}
