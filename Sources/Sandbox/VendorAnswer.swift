import Domain

/// What a vendor answers to one request.
struct VendorAnswer {
  var status: Int
  /// The vendor's word for it, as the log and the statistics show it; empty on success.
  var reason = ""
  var headers: [Header] = []
  var body: [UInt8] = []
  /// The name by which the vendor knows the accepted message (FCM's name, OneSignal's id).
  var name = ""
}

/// A request as its vendor sees it, before any rule is asked.
struct Examination {
  /// True if the vendor takes the request for delivery.
  var valid: Bool
  /// A dry run: answered like a real one, delivered never.
  var rehearsal = false
  /// What the vendor answers when no rule speaks.
  var answer: VendorAnswer
  var token = ""
  /// `apns-id` or the idempotency key.
  var id = ""
  var topic = ""
  /// The request proved itself: the connection may carry more streams from now on.
  var raisesStreams = false
  /// What the log calls accepted, unless a rule prevents it.
  var delivers: Bool { valid && !rehearsal }
}
