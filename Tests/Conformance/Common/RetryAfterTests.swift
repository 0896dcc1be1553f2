import Domain
import Testing

/// RFC 9110, sections 5.6.7 and 10.2.3: seconds, or a date in one of three forms.
@Suite("Retry-After")
struct RetryAfterTests {
  /// Ninety seconds after `sent`.
  static let forms = ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"]
  private static let sent = "Sun, 06 Nov 1994 08:48:07 GMT"
  private static let sentAt = WallTime(milliseconds: 784_111_687_000)

  private func seconds(_ text: String, date: String? = nil, at: WallTime? = nil) -> Int? {
    var answer = ProviderAnswer(status: 503, headers: [Header("retry-after", text)], receivedAt: at)
    if let date { answer.headers.append(Header("date", date)) }
    return answer.retryAfter
  }

  @Test("each provider and the token endpoint obey all forms", arguments: ["90"] + forms)
  func everybody(_ form: String) throws {
    for subject in [ProviderUnderTest.apns, .fcm, .oneSignal] {
      var answer = subject.answers.throttled
      answer.headers.removeAll { $0.name == "retry-after" }
      answer.headers += [Header("retry-after", form), Header("date", Self.sent)]
      guard case .retry(let retry) = try subject.verdict(of: answer) else {
        Issue.record("\(subject.provider.name.rawValue) does not retry")
        continue
      }
      #expect(retry.retryAfter == 90, "\(subject.provider.name.rawValue)")
    }
    var machine = try ProviderUnderTest.fcm.account().makeAuthorization()
    _ = machine.need(now: Self.sentAt)
    let headers = [Header("retry-after", form)]
    machine.fetched(ProviderAnswer(status: 503, headers: headers, receivedAt: Self.sentAt), now: Self.sentAt)
    guard case .unavailable(let until, nil) = machine.need(now: Self.sentAt) else {
      Issue.record("the token endpoint is asked on")
      return
    }
    #expect(until == Self.sentAt + 90_000)
  }

  @Test("a date counts from the answer's own date, else from when it came", arguments: forms)
  func bases(_ form: String) {
    #expect(seconds(form, at: Self.sentAt) == 90)
    #expect(seconds(form, at: Self.sentAt + 500) == 90, "parts of a second are waited for")
    #expect(seconds(form, date: Self.sent, at: Self.sentAt + 3_600_000) == 90, "a wrong clock here does no harm")
    #expect(seconds(form, at: Self.sentAt + 90_001) == 0, "it is over")
    #expect(seconds(form) == nil, "nothing to count from")
  }

  @Test("a year of two digits is the next of its kind, at most fifty years ahead")
  func century() {
    let year2026 = WallTime(milliseconds: 1_795_000_000_000)
    #expect(seconds("Monday, 01-Jan-29 00:00:00 GMT", at: year2026) == ProviderAnswer.longestRetryAfter)
    #expect(seconds("Friday, 01-Jan-99 00:00:00 GMT", at: year2026) == 0)
  }

  @Test(
    "what is in no form of the RFC says nothing",
    arguments: [
      "", " ", "-1", "+1", "1.5", "1e3", "0x10", "٣", "soon", "Sun, 06 Nov 1994 08:49:37",
      "Sun, 06 Nov 1994 08:49:37 CET",
      "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT",
      "Sun, 06 Nov 99999 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-1994 08:49:37 GMT",
      "Sun Nov 6 08:49:37 94", "1994-11-06T08:49:37Z", "Sun, 06 Nov 0000 08:49:37 GMT",
      "Sun, 06 Nov 1994 08:49:37 GMT Sun, 06 Nov 1994 08:49:37 GMT",
    ])
  func others(_ text: String) {
    #expect(seconds(text, date: Self.sent, at: Self.sentAt) == nil)
  }

  @Test("nobody is believed beyond a year, and nothing overflows")
  func bounds() {
    let year = ProviderAnswer.longestRetryAfter
    for text in ["31536001", "9223372036854775807", String(repeating: "9", count: 5_000)] {
      #expect(seconds(text) == year)
    }
    #expect(seconds("Fri, 31 Dec 9999 23:59:60 GMT", at: Self.sentAt) == year)
    #expect(seconds("Fri, 31 Dec 9999 23:59:60 GMT", at: WallTime(milliseconds: .min)) == year)
    #expect(seconds("Mon, 01 Jan 0001 00:00:00 GMT", at: WallTime(milliseconds: .max)) == 0)
    #expect(seconds("Monday, 01-Jan-00 00:00:00 GMT", at: WallTime(milliseconds: .max)) != -1)
    #expect(seconds("Monday, 01-Jan-00 00:00:00 GMT", at: WallTime(milliseconds: .min)) != -1)
    #expect(seconds("0") == 0)
  }
}
