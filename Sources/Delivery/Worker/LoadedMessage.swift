import Domain
import Loop
import Store

/// A message in memory: decoded once, rendered once per variant, credential and language.
final class LoadedMessage {
  let id: MessageID
  let app: AppID
  /// Nil: it cannot be read; its deliveries fail.
  let content: Message?
  let acceptedAt: WallTime
  let startedAt: WallTime
  /// No attempt but the first starts after it.
  let expiresAt: WallTime
  /// No first attempt starts after it.
  let startBy: WallTime
  /// A direct send that keeps its place.
  let ordered: Bool
  /// Its deliveries leave nothing in their lanes while they wait for a retry.
  let isAudience: Bool
  /// Its deliveries need nothing but their request, unless another meets them at their token. Of an audience: nobody
  /// supersedes them, and no receipt is kept.
  let takesFastPath: Bool
  /// Texts differ from device to device.
  let isPersonal: Bool
  var collapseKey: String? { content?.collapseKey }
  /// What an operator wants of it, as far as is known here.
  private(set) var control: Control?
  /// It is paused or cancelled: the one thing that is asked before each delivery of it.
  private(set) var isStopped = false
  var isCancelled: Bool { control?.word == .cancelled }
  /// Nil: it goes to all devices at the same time.
  let timing: Timing?
  /// … in place of which it stands for devices of another time.
  private(set) var origin: LoadedMessage?
  private var later: [WallTime: LoadedMessage] = [:]
  /// Deliveries in memory: `DeliveryLedger` counts them.
  var users = 0
  /// Which device gets which variant; nil: everyone gets the same.
  private let split: VariantSplit?
  /// Of each variant, or of the message itself.
  private var renderings: [Renderings]

  static let unreadable = "unreadable_message"

  static let atOnce = Message.atOnce

  init(_ stored: StoredMessage, content: Message?, timing: Timing? = nil) {
    self.timing = timing
    isAudience = content.map { !$0.to.isDirect } ?? false
    takesFastPath =
      content.map { message in
        message.variants.isEmpty && message.cap == nil
          && (message.to.isDirect
            ? timing == nil && message.kind != .liveActivity
            : message.collapseKey == nil && !message.keepReceipts)
      } ?? false
    isPersonal = content.map { !MessageTexts($0).isShared } ?? false
    ordered = content.map { $0.ordered && $0.to.isDirect } ?? false
    // Its targets come with the jobs; a list of them is not kept. A channel is rendered for.
    var content = content
    if content?.to.isList == true { content?.to = .tokens([]) }
    self.content = content
    split = content?.variants.isEmpty == false ? stored.split : nil
    renderings = (content?.contents ?? []).map { Renderings($0.message, startedAt: stored.startedAt) }
    id = stored.id
    app = stored.app
    acceptedAt = stored.acceptedAt
    startedAt = stored.startedAt
    let life = Int64(content?.ttl ?? Message.defaultTTL) * 1000
    expiresAt = stored.startedAt + life
    startBy = stored.startedAt + max(life, Self.atOnce)
    if let control = stored.control { adopt(control) }
  }

  /// For devices for whom sending began at another time: `ttl` counts from then, and what is rendered says so.
  private init(_ origin: LoadedMessage, startedAt: WallTime) {
    self.origin = origin
    self.startedAt = startedAt
    timing = origin.timing
    isAudience = origin.isAudience
    takesFastPath = origin.takesFastPath
    isPersonal = origin.isPersonal
    ordered = origin.ordered
    content = origin.content
    split = origin.split
    renderings = (content?.contents ?? []).map { Renderings($0.message, startedAt: startedAt) }
    id = origin.id
    app = origin.app
    acceptedAt = origin.acceptedAt
    let life = origin.expiresAt - origin.startedAt
    expiresAt = startedAt + life
    startBy = startedAt + max(life, Self.atOnce)
    if let control = origin.control { adopt(control) }
  }

  /// They know their origin, which would keep each other for ever.
  func forgetLater() { later = [:] }

  func begun(at time: WallTime) -> LoadedMessage {
    if time == startedAt { return self }
    if let known = later[time] { return known }
    let message = LoadedMessage(self, startedAt: time)
    later[time] = message
    return message
  }

  /// As it is for a device that has a start of its own: its time, and so its end, are those of the device's zone.
  func begun(for target: ClaimedTarget) -> LoadedMessage {
    timing?.start(target.facts?.timeZone).map(begun(at:)) ?? self
  }

  /// How it goes to devices of a zone now; nil: it does not. `until`: when their quiet hours begin.
  func localTimeGroup(_ zone: String?, now: WallTime) -> (message: LoadedMessage, until: WallTime?)? {
    guard let timing else { return (self, nil) }
    guard case .go = timing.decide(zone, now: now) else { return nil }
    return (timing.start(zone).map(begun) ?? self, timing.closing(zone, after: now))
  }

  /// Of two the later one holds; false: it is known, or a later one is.
  @discardableResult
  func adopt(_ news: Control) -> Bool {
    guard news.version > control?.version ?? 0 else { return false }
    control = news
    isStopped = news.word != .running
    for message in later.values { message.adopt(news) }
    return true
  }

  /// It is paused, and may yet go on: its time runs all the same.
  func isHeld(now: WallTime) -> Bool { control?.word == .paused && now <= startBy }

  /// What kept a delivery that was never attempted until its time had ended; nil: nothing that is known.
  func expiryReason(_ sender: Sender) -> String? {
    control?.word == .paused ? Control.expiredReason : sender.status.told.condition?.reason
  }

  /// Its account is another one now.
  func forgetRenderings(of credential: CredentialID) {
    for variant in renderings.indices { renderings[variant].forget(credential) }
    for message in later.values { message.forgetRenderings(of: credential) }
  }

  /// Which of its contents a device gets; 0 where there is one.
  func content(for device: DeviceID) -> Int {
    if let split, case .variant(let index) = split.place(of: device), index < renderings.count { index } else { 0 }
  }

  /// What goes to a device with these facts; nil: none are known. `content`: as `content(for:)` has it.
  func rendering(_ account: any ProviderAccount, _ content: Int, for facts: DeviceFacts?)
    -> Result<Rendering, Unrenderable>
  {
    guard content < renderings.count else { return .failure(.refused(code: Self.unreadable)) }
    return renderings[content].rendering(account, for: facts)
  }

  /// Devices for whom it differs cannot share a request.
  func likeness(_ account: any ProviderAccount, _ content: Int, for facts: DeviceFacts?) -> String {
    guard content < renderings.count else { return "" }
    let likeness = renderings[content].likeness(account, for: facts)
    return split == nil ? likeness : "\(content) \(likeness)"
  }
}

extension Recipients {
  fileprivate var isDirect: Bool {
    switch self {
    case .devices, .users, .tokens, .channel: true
    case .audience, .everyone: false
    }
  }
  /// Of several.
  fileprivate var isList: Bool {
    switch self {
    case .devices(let devices): devices.count > 1
    case .users(let users): users.count > 1
    case .tokens(let tokens): tokens.count > 1
    case .channel, .audience, .everyone: false
    }
  }
}
