import Audience
import Domain
import HTTPServer
import JSON
import Store

/// A message that was read, aimed and found good, and is not stored yet. It has one owner at a time; a class, so
/// that handing it on copies none of a message's forty members.
final class PreparedMessage {
  var message: Message
  var submission: Submission
  var warnings: [Notice]
  /// Nil: each target will be sent to.
  var forecast: Forecast?
  /// One person wrote it, and another one approved it or sends it.
  var isSeenByTwo = false
  /// The tokens of its deliveries are taken.
  var isCharged = false

  init(
    _ message: Message, _ recipients: ResolvedRecipients, body: [UInt8], app: AppID, now: WallTime, warnings: [Notice],
    errorBrake appBrake: ErrorBrake?, urgentTargets: Int
  ) {
    let isUrgent = recipients.audience == nil && recipients.targets.count <= urgentTargets
    submission = Submission(
      app: app, body: body, kind: message.kind, urgency: isUrgent ? .urgent : .bulk, acceptedAt: now)
    submission.message = message
    submission.ttl = message.ttl
    submission.collapseKey = message.collapseKey
    submission.ordered = message.ordered
    submission.targets = recipients.targets
    submission.asksOwner = recipients.asksOwner
    submission.audience = recipients.audience
    submission.keepReceipts = message.keepReceipts
    submission.keepsContent = message.to.expression != nil
    submission.ratePerSecond = message.ratePerSecond
    let brake = message.errorBrake ?? appBrake
    submission.errorBrake = brake.flatMap { $0.share > 0 ? $0 : nil }
    submission.shares = message.shares
    submission.labels = Labels(
      message.labels, name: message.name, audience: message.to.expression, expression: recipients.expression,
      topic: message.cap?.topic)
    submission.schedule = Schedule(message, first: recipients.firstStart, now: now)
    self.message = message
    self.warnings = warnings
  }

  /// Those whom it is for, as far as is known now.
  var count: Int { submission.audience?.counts.values.reduce(0, +) ?? submission.targets.count }

  /// A provider decides who gets it: a channel, a segment, or all devices of a user that only it knows.
  func isCountedElsewhere(_ rules: [ProviderName: TokenRules]) -> Bool {
    submission.targets.contains { target in
      guard let address = target.address else { return false }
      return [.channel, .subscribers].contains(address.tokenKind)
        || rules[address.provider]?.reachesSeveral(address.token, address.tokenKind) == true
    }
  }

  var state: MessageState { submission.schedule != nil ? .scheduled : isQueued ? .queued : .completed }
  private var isQueued: Bool {
    submission.audience != nil || submission.targets.contains { if case .queue = $0.route { true } else { false } }
  }
}

extension Recipients {
  /// Of an audience, in its canonical form.
  fileprivate var expression: String? {
    switch self {
    case .audience(let text): text
    case .everyone: AudienceExpression.everyone.canonical
    case .devices, .users, .tokens, .channel: nil
    }
  }
}

extension Schedule {
  /// `first`: of a message for local times, when its first device gets it, as far as is known. Nil: its time has come.
  init?(_ message: Message, first: FirstStart? = nil, now: WallTime) {
    guard let sendAt = message.sendAt else { return nil }
    if sendAt.earliest > now {
      self.init(startAt: sendAt.earliest, local: sendAt.local, first: first)
    } else if let first, first.time > now {
      self.init(startAt: first.time, local: sendAt.local, first: first)
    } else {
      return nil
    }
  }

  /// When it starts: with a local time and no word of the first device, that time alone.
  func write(to writer: inout JSONWriter) {
    let isKnown = local == nil || first != nil
    writer.member("starts_at", isKnown ? shown.rfc3339 : nil)
    writer.member("starts_at_local", local?.text)
    writer.member("starts_at_zone", isKnown ? shownZone : nil)
  }

  /// As people are told it: of the first device, where that is known.
  var shown: WallTime { first?.time ?? startAt }
  var shownZone: String { first?.zone ?? ZoneName.ofStart(isLocal: local != nil) }
}

extension SendTime {
  var local: LocalTime? { if case .local(let time) = self { time } else { nil } }
}

/// A message that is stored: now, or by an earlier request with the same idempotency key.
struct AcceptedMessage {
  var id: MessageID
  var state: MessageState
  /// Nil: beyond retention.
  var targets: Int?
  /// Of one that is scheduled.
  var startsAt: WallTime?
  /// As each device's own clock shows it.
  var startsAtLocal: LocalTime?
  /// Where it is that time.
  var startsAtZone: String?
  var warnings: [Notice]
  var isRepeated: Bool
  var replayOf: MessageID?
  /// Of a replay that took only a part: where the next one begins.
  var nextAfter: String?
  /// To a few targets, and it starts at once: its outcome may come while its sender waits.
  var mayBeAwaited = false

  init(
    id: MessageID, state: MessageState, targets: Int?, startsAt: WallTime?, warnings: [Notice], isRepeated: Bool
  ) {
    self.id = id
    self.state = state
    self.targets = targets
    self.startsAt = startsAt
    self.warnings = warnings
    self.isRepeated = isRepeated
  }

  /// Of a draft that was stored now.
  init(_ id: MessageID, _ prepared: PreparedMessage) {
    self.init(
      id: id, state: prepared.state, targets: prepared.count, startsAt: nil, warnings: prepared.warnings,
      isRepeated: false)
    mayBeAwaited =
      prepared.submission.audience == nil && prepared.submission.schedule == nil
      && prepared.count <= OutcomeWaits.mostTargets
    if let schedule = prepared.submission.schedule {
      (startsAt, startsAtLocal, startsAtZone) = (schedule.shown, schedule.local, schedule.shownZone)
    }
  }

  func write(to writer: inout JSONWriter) { write(to: &writer, as: id.description) }

  /// `text`: its id.
  fileprivate func write(to writer: inout JSONWriter, as text: String) {
    writer.member("id", text)
    writer.member("state", state.rawValue)
    writer.member("targets", targets)
    writer.member("starts_at", startsAt?.rfc3339)
    writer.member("starts_at_local", startsAtLocal?.text)
    writer.member("starts_at_zone", startsAt == nil ? nil : startsAtZone)
    writer.member("replay_of", replayOf?.description)
    writer.member("next_after", nextAfter)
    writer.key("warnings")
    writer.beginArray()
    for warning in warnings { warning.write(to: &writer) }
    writer.endArray()
  }
}

extension Answer {
  static func accepted(_ message: AcceptedMessage) -> HTTPServerResponse {
    let id = message.id.description
    return json(202, headers: headers(of: message, as: id)) { message.write(to: &$0, as: id) }
  }

  static func headers(of message: AcceptedMessage) -> [Header] { headers(of: message, as: message.id.description) }

  private static func headers(of message: AcceptedMessage, as id: String) -> [Header] {
    var headers = [Header("location", "/v1/messages/" + id)]
    if message.isRepeated { headers.append(Header("idempotent-replayed", "true")) }
    return headers
  }
}
