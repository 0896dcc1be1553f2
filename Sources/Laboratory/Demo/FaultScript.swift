import Domain
import JSON

/// The faults that the sandbox plays during the demo, and the proof that each kind was really received.
enum FaultScript {
  /// The JSON of `PUT /rules`. `registered`: a time after the last registration.
  static func rules(registered: WallTime, longBefore: WallTime) -> [UInt8] {
    var script = Rules()
    deaths(registered: registered, longBefore: longBefore, &script)
    troubles(&script)
    script.writer.endArray()
    return script.writer.bytes
  }

  private struct Rules {
    var writer = JSONWriter()
    init() { writer.beginArray() }
    mutating func rule(_ write: (inout JSONWriter) -> Void) {
      writer.beginObject()
      write(&writer)
      writer.endObject()
    }
  }

  /// What one token is answered, whenever it comes.
  private static func deaths(registered: WallTime, longBefore: WallTime, _ script: inout Rules) {
    // 410: after the registration, and long before it.
    script.rule {
      $0.member("provider", "apns")
      $0.member("token", "\(Population.mark(.dying))*")
      $0.member("status", 410)
      $0.member("reason", "Unregistered")
      $0.member("timestamp", registered.milliseconds)
    }
    script.rule {
      $0.member("provider", "apns")
      $0.member("token", "\(Population.mark(.returned))*")
      $0.member("status", 410)
      $0.member("reason", "Unregistered")
      $0.member("timestamp", longBefore.milliseconds)
    }
    script.rule {
      $0.member("provider", "fcm")
      $0.member("token", "\(Population.mark(.dying))*")
      $0.member("status", 404)
      $0.member("reason", "UNREGISTERED")
    }
    script.rule {
      $0.member("provider", "onesignal")
      $0.member("token", "dead*")
      $0.member("status", 200)
      $0.member("reason", "invalid_player_ids")
    }
    // The message's fault.
    script.rule {
      $0.member("provider", "apns")
      $0.member("token", "\(Population.mark(.refused))*")
      $0.member("status", 400)
      $0.member("reason", "BadExpirationDate")
    }
  }

  /// What providers and connections do for a while.
  private static func troubles(_ script: inout Rules) {
    // A provider that is busy, for one token or for the account.
    for (provider, reason, times) in [
      ("apns", "TooManyRequests", 60), ("fcm", "QUOTA_EXCEEDED", 2), ("onesignal", "API rate limit exceeded", 1),
    ] {
      script.rule {
        $0.member("provider", provider)
        $0.member("status", 429)
        $0.member("reason", reason)
        $0.member("retry_after", 1)
        $0.member("times", times)
        $0.member("times_per_token", 1)
        $0.member("after", provider == "onesignal" ? 0 : 200)
      }
    }
    // A provider that fails.
    for (provider, reason, times) in [
      ("apns", "ServiceUnavailable", 60), ("fcm", "UNAVAILABLE", 40),
      ("onesignal", "Service temporarily unavailable", 1),
    ] {
      script.rule {
        $0.member("provider", provider)
        $0.member("status", 503)
        $0.member("reason", reason)
        $0.member("times", times)
        $0.member("times_per_token", 1)
        $0.member("after", provider == "onesignal" ? 0 : 400)
        if provider == "fcm" { $0.member("retry_after", 1) }
      }
    }
    // A connection that goes away in the middle.
    for (provider, after) in [("apns", 700), ("apns", 2_500), ("fcm", 900)] {
      script.rule {
        $0.member("provider", provider)
        $0.member("action", "goaway")
        $0.member("after", after)
        $0.member("times", 1)
      }
    }
    // Streams that end without an answer: refused unprocessed (7), failed (2), and answered too late (after).
    for (provider, code, when) in [
      ("apns", 7, "before"), ("fcm", 7, "before"), ("apns", 2, "before"), ("apns", 2, "after"),
    ] {
      script.rule {
        $0.member("provider", provider)
        $0.member("action", "reset")
        $0.member("code", code)
        $0.member("when", when)
        $0.member("times", 20)
        $0.member("times_per_token", 1)
        $0.member("after", 1_000)
      }
    }
  }

  /// Kinds of faults that the sandbox's statistics do not show as played; empty when all were.
  static func missing(_ statistics: JSONValue) -> [String] {
    func answers(_ provider: String, _ status: Int64, _ reason: String? = nil) -> Int64 {
      let all = statistics[provider]?["answers"]?.array ?? []
      return all.filter { $0["status"]?.integer == status && (reason == nil || $0["reason"]?.string == reason) }
        .reduce(0) { $0 + ($1["count"]?.integer ?? 0) }
    }
    func faults(_ provider: String, _ kind: String) -> Int64 { statistics[provider]?["faults"]?[kind]?.integer ?? 0 }
    let wanted: [(String, Int64)] = [
      ("429 from APNs", answers("apns", 429)), ("429 from FCM", answers("fcm", 429)),
      ("429 from OneSignal", answers("onesignal", 429)), ("410 from APNs", answers("apns", 410)),
      ("UNREGISTERED from FCM", answers("fcm", 404)), ("503 from APNs", answers("apns", 503)),
      ("503 from FCM", answers("fcm", 503)), ("503 from OneSignal", answers("onesignal", 503)),
      ("GOAWAY from APNs", faults("apns", "goaway")), ("GOAWAY from FCM", faults("fcm", "goaway")),
      ("resets from APNs", faults("apns", "reset")), ("resets from FCM", faults("fcm", "reset")),
    ]
    return wanted.filter { $0.1 == 0 }.map(\.0)
  }
}
