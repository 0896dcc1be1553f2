import Domain

/// What a vendor answers to one request.
struct VendorAnswer {
  var status: Int
  /// The vendor's word for it, as the log and the statistics show it; empty on success.
  var reason = ""
  var headers: [Header] = []
  var body: [UInt8] = []
  /// In place of `body`: so many bytes, made while they are sent.
  var filler = 0
  /// The name by which the vendor knows the accepted message (FCM's name, OneSignal's id).
  var name = ""
}

/// A request as its vendor sees it, before any rule is asked.
struct Examination {
  /// True if the vendor takes the request for delivery.
  var valid: Bool
  /// Answered like others, delivered never: a dry run, a question, a token.
  var rehearsal = false
  /// What the vendor answers when no rule speaks.
  var answer: VendorAnswer
  var token = ""
  /// `apns-id` or the idempotency key.
  var id = ""
  var topic = ""
  /// Whom the request was for, where its port has several.
  var provider: SandboxProvider?
  /// Whom a request for many is for; `token` is empty then.
  var members: [String] = []
  /// Of these, who is not reached, and the vendor's word for it.
  struct OutOfReach {
    var reason: String
    var members: Set<String>
  }
  var outOfReach: OutOfReach?
  /// The idempotency key had been used: the first result is answered again.
  var replayed = false
  /// The body is a credential: only that it came is kept.
  var isSecret = false
  /// What the recipient reads, where the body is encrypted: it is kept in the body's place.
  var readable: [UInt8]?
  /// The request proved itself: the connection may carry more streams from now on.
  var raisesStreams = false
  /// For many devices: its token names a channel.
  var isBroadcast = false
  /// What changes once the request counts as processed.
  var effect: (() -> Void)?
  /// What the log calls accepted, unless a rule prevents it.
  var delivers: Bool { valid && !rehearsal }
}

extension Rule.Reply {
  /// The answer with the body that the rule asks for.
  func filling(_ answer: VendorAnswer) -> VendorAnswer {
    guard body != nil || bodyBytes != nil else { return answer }
    var answer = answer
    answer.headers.removeAll { $0.name == "content-type" }
    let text = body ?? ""
    let isJSON = text.hasPrefix("{") || text.hasPrefix("[")
    answer.headers.append(Header("content-type", isJSON ? "application/json" : "text/html; charset=UTF-8"))
    answer.body = Array(text.utf8)
    answer.filler = bodyBytes ?? 0
    return answer
  }
}
