import Domain
import JSON

/// Answers in the form that pushes, broadcasts and channels share.
struct APNsAnswers {
  private var unique: UniqueIDs

  init(seed: UInt64) { unique = UniqueIDs(seed: seed) }

  mutating func freshID() -> String { unique.next() }
  /// The client's id where it is one, else a fresh one.
  mutating func echo(_ id: String) -> String { UUIDBytes(id) != nil ? id : unique.next() }

  func refuse(_ answer: inout VendorAnswer, _ reason: APNsReason) {
    refuse(&answer, reason.status, reason.rawValue, timestamp: nil)
  }

  func refuse(_ answer: inout VendorAnswer, _ status: Int, _ reason: String, timestamp: Int64?) {
    answer.status = status
    answer.reason = reason
    answer.headers.append(Header("content-type", "application/json"))
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("reason", reason)
    writer.member("timestamp", timestamp)
    writer.endObject()
    answer.body = writer.bytes
  }

  /// The answer of a rule. The first header of an examination's answer is the request's id.
  func played(_ reply: Rule.Reply, to examination: Examination, now: WallTime) -> VendorAnswer {
    let reason = reply.reason ?? APNsReason.usual(for: reply.status)
    guard reply.status != 200 else { return reply.filling(examination.answer) }
    var answer = VendorAnswer(status: reply.status, headers: Array(examination.answer.headers.prefix(1)))
    let timestamp = reply.timestamp ?? (reply.status == 410 ? now.milliseconds : nil)
    refuse(&answer, reply.status, reason, timestamp: timestamp)
    if let wait = reply.retryAfter { answer.headers.append(Header("retry-after", wait)) }
    return reply.filling(answer)
  }

  static func farewell(_ reason: String) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("reason", reason)
    writer.endObject()
    return writer.bytes
  }
}
