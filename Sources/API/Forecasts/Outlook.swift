import Domain
import Intake
import Store

/// Says of one device of a message why it would get nothing if its turn came now. Asks what sending asks, by the same
/// means and in the same order: its route, its share, its time, its cap, its texts, its request. Belongs to the loop.
final class Outlook {
  let message: Message
  let app: AppID
  /// When sending begins: now, or when the message is due.
  let startedAt: WallTime
  /// Who gets which variant, and who nothing; nil: everyone gets the same.
  var split: VariantSplit?
  /// Something depends on the device, and not on its route alone.
  let asksDevices: Bool
  /// Which variant a device gets decides whether it gets anything.
  let variantsDiffer: Bool
  private let timing: Timing?
  private let life: Int64
  private let contents: [MessageTexts]
  /// The reason told of a device that lacks an attribute; it names the attributes that the texts need.
  private let missing: Forecast.Exclusion
  private let accounts: [CredentialID: any ProviderAccount]
  private var shared: [Form: Rendered] = [:]

  /// What all devices of an account get whose texts are the same.
  private struct Form: Hashable {
    var credential: CredentialID
    var content: Int
    var choice: MessageTexts.Choice
  }
  private enum Rendered {
    case sent(needsLiveActivityToken: Bool)
    case refused(code: String)
  }

  init(
    _ message: Message, _ contents: [VariantTexts], app: AppID, clock: AppClock, zones: ZoneBook,
    accounts: [CredentialID: any ProviderAccount], now: WallTime, purpose: ForecastPurpose
  ) {
    self.message = message
    self.app = app
    self.accounts = accounts
    self.contents = contents.map(\.texts)
    missing = Self.missing(contents.flatMap { $0.texts.slots })
    startedAt = Schedule(message, now: now)?.startAt ?? now
    life = max(Int64(message.ttl) * 1_000, Message.atOnce)
    let timing = Timing(message, clock, zones)
    self.timing = timing
    variantsDiffer = contents.count > 1 && contents.contains { !$0.texts.slots.isEmpty }
    asksDevices =
      message.holdout > 0 || message.cap != nil || message.kind == .liveActivity
      || contents.contains { !$0.texts.slots.isEmpty } || timing?.mayExclude(life: life) == true
      // Who asks for the figure is told who waits.
      || (timing != nil && purpose == .answer)
      // Some clocks may have passed a local time already.
      || Self.hasBegun(message.sendAt, now)
  }

  private static func missing(_ slots: [Placeholder]) -> Forecast.Exclusion {
    let reason = SkipReason.attributeMissing
    var names: [String] = []
    for slot in slots where slot.fallback == nil && !names.contains(slot.name) { names.append(slot.name) }
    guard let first = names.first else { return .skipped(reason) }
    let named =
      names.prefix(namesTold).map { "`\($0)`" }.joined(separator: " or ") + (names.count > namesTold ? " …" : "")
    return Forecast.Exclusion(
      .skipped, reason.rawValue, note: "the device has no \(named): give a default, such as `{{\(first)|there}}`")
  }
  /// Attributes that are named where devices lack one.
  private static let namesTold = 3

  private static func hasBegun(_ time: SendTime?, _ now: WallTime) -> Bool {
    guard case .local(let local)? = time else { return false }
    return now - local.earliest > late
  }

  /// Nil: it would be sent. `device`: as it is registered. `full`: those whose cap is used up.
  func exclusion(of target: SubmissionTarget, _ device: StoredDevice?, full: Set<DeviceID>)
    -> Forecast.Exclusion?
  {
    let credential: CredentialID
    switch target.route {
    case .ended(let outcome, let reason): return Forecast.Exclusion(outcome, reason)
    case .queue(let account): credential = account
    }
    let place = split?.place(of: target.device) ?? .all
    if place == .holdout { return .skipped(.holdout) }
    let facts = target.registered ? device?.device.facts : nil
    if let timing,
      case .ended(let outcome, let reason) = timing.plan(
        facts?.timeZone, startedAt: startedAt, life: life, now: startedAt)
    {
      return Forecast.Exclusion(outcome, reason ?? outcome.rawValue)
    }
    if full.contains(target.device) { return .skipped(.capped) }
    guard let account = accounts[credential], let address = device?.device.address ?? target.address else { return nil }
    var content = 0
    if case .variant(let index) = place { content = index }
    return unrenderable(account, content, facts ?? DeviceFacts(), address)
  }

  /// What the message's times mean for a device that is sent to: why it waits and until when, or that its clock has
  /// passed the local time.
  func time(of target: SubmissionTarget, _ device: StoredDevice?) -> (
    wait: (reason: String, until: WallTime)?, hasPassed: Bool
  ) {
    guard let timing else { return (nil, false) }
    let zone = target.registered ? device?.device.facts.timeZone : nil
    let start = timing.start(zone)
    switch timing.plan(zone, startedAt: startedAt, life: life, now: startedAt) {
    case .hold(let until, _): return ((until == start ? Timing.localReason : Timing.quietReason, until), false)
    case .go: return (nil, start.map { startedAt - $0 > Self.late } ?? false)
    case .ended: return (nil, false)
    }
  }
  /// Milliseconds for which a time counts as now.
  private static let late: Int64 = 60_000

  private func unrenderable(
    _ account: any ProviderAccount, _ content: Int, _ facts: DeviceFacts, _ address: Address
  ) -> Forecast.Exclusion? {
    let texts = contents[content]
    let choice = texts.choice(for: facts.language, providerChooses: account.choosesLanguage)
    let form = Form(credential: account.credential, content: content, choice: choice)
    let rendered: Rendered
    if let known = shared[form] {
      rendered = known
    } else {
      let isShared = texts.slots(of: choice).isEmpty
      guard let own = texts.message(for: facts, providerChooses: account.choosesLanguage) else {
        return missing
      }
      rendered = render(own, account)
      if isShared { shared[form] = rendered }
    }
    switch rendered {
    case .refused(let code): return Forecast.Exclusion(.failed, code)
    case .sent(let needsToken):
      return needsToken && address.liveActivityToken == nil ? .skipped(.noLiveActivityToken) : nil
    }
  }

  private func render(_ message: Message, _ account: any ProviderAccount) -> Rendered {
    do throws(RenderFault) {
      return .sent(needsLiveActivityToken: try account.render(message, startedAt: startedAt).needsLiveActivityToken)
    } catch {
      return .refused(code: error.code)
    }
  }
}

extension Forecast.Exclusion {
  static func skipped(_ reason: SkipReason) -> Forecast.Exclusion { Forecast.Exclusion(.skipped, reason.rawValue) }
}
