import Domain
import Testing

/// What a provider brings to the conformance suite: an account, its vendor's answers, and what must not leak.
struct ProviderUnderTest: Sendable, CustomTestStringConvertible {
  /// One answer of the vendor's for each class of verdicts.
  struct Answers: Sendable {
    var accepted: ProviderAnswer
    var acceptedID: String
    var dead: ProviderAnswer
    /// With `Retry-After: 7`.
    var throttled: ProviderAnswer
    var rejected: ProviderAnswer
    var blocked: ProviderAnswer
    var serverFault: ProviderAnswer
    /// The vendor's error form around a word, for words that nobody knows.
    var wording: @Sendable (Int, String) -> ProviderAnswer
  }

  var provider: any PushProvider
  var credential: Credential
  /// Texts that no error may contain.
  var secrets: [String]
  var address: Address
  var answers: Answers
  /// The largest body, less the recipients' own part; nil: only `data` is limited.
  var bodyLimit: Int?
  /// Lays hold of an override that carries a header or a target it must not.
  var hostileOverrides: [Overrides]
  /// Makes a header available to an authorization that had to ask for one.
  var tokenAnswer: ProviderAnswer?
  /// Statuses that call a token dead by themselves, where the standard has no words for it.
  var deadStatuses: Set<Int> = []
  /// Requests of one rendering have a frame in common.
  var hasFrames = true

  var testDescription: String { provider.name.rawValue }

  func account() throws -> any ProviderAccount { try provider.open(credential) }

  /// The verdict on the one recipient.
  func verdict(of answer: ProviderAnswer) throws -> Verdict {
    let judgement = try account().judge(answer, recipients: [address])
    return judgement.exceptions[address.token] ?? judgement.common
  }
}

extension ProviderRequest {
  /// What the recipient reads.
  var content: [UInt8] { readable ?? body }
}

extension ProviderAnswer {
  init(_ status: Int, _ body: String, retryAfter: Int? = nil) {
    self.init(
      status: status, headers: retryAfter.map { [Header("retry-after", String($0))] } ?? [], body: Array(body.utf8))
  }
}

extension Message {
  static func alert(_ change: (inout Message, inout Notification) -> Void = { _, _ in }) -> Message {
    var message = Message(to: .everyone, kind: .alert)
    var notification = Notification()
    notification.title = "Order shipped"
    notification.body = "Arrives Tuesday"
    change(&message, &notification)
    message.notification = notification
    return message
  }
  static func background(_ change: (inout Message) -> Void = { _ in }) -> Message {
    var message = Message(to: .everyone, kind: .background)
    change(&message)
    return message
  }
}

extension Message {
  static func activity(_ event: LiveActivity.Event, _ change: (inout Message, inout LiveActivity) -> Void = { _, _ in })
    -> Message
  {
    var message = Message(to: .everyone, kind: .liveActivity)
    var activity = LiveActivity(event: event, contentState: [], timestamp: 1_767_220_000)
    change(&message, &activity)
    message.liveActivity = activity
    return message
  }
}

let started = WallTime(seconds: 1_767_139_200)
let someID = UUIDBytes("5d1c6a1e-3c1b-4d0e-9a5e-0d7c2f4b9a10")!
