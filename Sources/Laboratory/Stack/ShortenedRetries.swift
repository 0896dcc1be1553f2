/// Retry waits of all providers that a run does not have to sit out: the vendors ask for up to 15 minutes.
struct ShortenedRetries {
  /// Milliseconds.
  var first = 300
  var maximum = 2_000
  var attempts = 12

  /// A setting of the configuration, with a comma behind it.
  var text: String {
    let floors = ["token_busy", "quota", "server_fault", "closing", "unknown_outcome", "authorization_too_new"]
      .map { "\($0): \"\(first)ms\"" }.joined(separator: ", ")
    let rules = "{ base: \"\(first)ms\", maximum: \"\(maximum)ms\", attempts: \(attempts), floors: { \(floors) } }"
    return "retry: { apns: \(rules), fcm: \(rules), onesignal: \(rules), webpush: \(rules) },"
  }
}
