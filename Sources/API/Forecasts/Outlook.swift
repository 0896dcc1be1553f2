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
  private let timing: Timing?
  private let life: Int64
  private let contents: [MessageTexts]
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
    accounts: [CredentialID: any ProviderAccount], now: WallTime
  ) {
    self.message = message
    self.app = app
    self.accounts = accounts
    self.contents = contents.map(\.texts)
    startedAt = Schedule(message, now: now)?.startAt ?? now
    life = max(Int64(message.ttl) * 1_000, Message.atOnce)
    let timing = Timing(message, clock, zones)
    self.timing = timing
    asksDevices =
      message.holdout > 0 || message.cap != nil || message.kind == .liveActivity
      || contents.contains { !$0.texts.slots.isEmpty } || timing?.mayExclude(life: life) == true
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
        return .skipped(.attributeMissing)
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
