import Domain
import Intake
import Support
import Testing

@Suite("Whoever has made a slip is told once, and how it is written here")
struct AdviceTests {
  /// `pointer: detail` of every fault.
  private func told(_ text: String) throws -> [String] {
    let candidate = try document(text)
    do throws(Refusal) {
      _ = try MessageReader.read(candidate, providers: knownProviders, now: noon)
      return []
    } catch {
      return error.violations.map { "\($0.pointer): \($0.detail)" }
    }
  }
  private func toldOfDevice(_ text: String) throws -> [String] {
    let candidate = try document(text)
    do throws(Refusal) {
      _ = try DeviceReader.read(candidate, id: nil, now: noon, providers: knownProviders)
      return []
    } catch {
      return error.violations.map { "\($0.pointer): \($0.detail)" }
    }
  }

  @Test(
    "one fault is told as one, and says what to write",
    arguments: [
      (#"{"to":{"user":"ana"},"notification":{"title":"T"}}"#, "did you mean `users`?"),
      (alert(#""kind":"silent","data":{"a":1}"#), "here it is `background`"),
      (alert(#""kind":"alarm""#), "the values are alert, background"),
      (alert(#""notification":{"title":"T","message":"b"}"#), "`message` is `notification.body`"),
      (#"{"to":{"devices":["d"],"reach":"all"},"notification":{"title":"T"}}"#, "put it beside `to`"),
      (#"{"to":{"tags":["a"]},"notification":{"title":"T"}}"#, "`tags` is `to.audience`"),
      (#"{"to":{"all":true},"notification":{"title":"T"}}"#, "`all` is `to.everyone`"),
      (#"{"token":"t","notification":{"title":"T"}}"#, "`token` is `to.tokens`"),
      (alert(#""title":"T""#), "did you mean `notification.title`?"),
      (alert(#""alert":{"title":"T"}"#), "`alert` is `notification`"),
      // Other vendors' names.
      (alert(#""notification":{"title":"T"},"push_type":"alert""#), "`push_type` is `kind`"),
      (alert(#""notification":{"title":"T"},"type":"alert""#), "`type` is `kind`"),
      (alert(#""notification":{"title":"T"},"expiration":60"#), "`expiration` is `ttl`, in seconds from now"),
      (alert(#""notification":{"title":"T","text":"b"}"#), "`text` is `notification.body`"),
      (alert(#""notification":{"title":"T","tag":"b"}"#), "`tag` is `notification.android_tag`"),
      (alert(#""notification":{"title":"T"},"isIos":true"#), "`to.audience`, with `platform:ios`"),
      (alert(#""notification":{"title":"T"},"large_icon":"x""#), "`overrides.onesignal.large_icon`"),
      (alert(#""notification":{"title":"T"},"target_channel":"push""#), "Fanfare sends pushes only"),
      (
        alert(#""notification":{"title":"T"},"ios_interruption_level":"active""#),
        "`ios_interruption_level` is `notification.interruption_level`"
      ),
      (alert(#""notification":{"title":"T","loc-key":"b"}"#), "`loc-key` is `notification.body_key`"),
      (alert(#""notification":{"title":"T","title-loc-key":"b"}"#), "`title-loc-key` is `notification.title_key`"),
      (alert(#""notification":{"title":"T","image_url":"b"}"#), "`image_url` is `notification.image`"),
      (alert(#""notification":{"title":"T","icon_url":"b"}"#), "`icon_url` is `notification.web.icon`"),
      (alert(#""notification":{"title":"T"},"overrides":{"ios":{}}"#), "`ios` is `overrides.apns`"),
      (alert(#""notification":{"title":"T"},"overrides":{"webpush":{}}"#), "there are none for Web Push"),
      (
        alert(#""notification":{"title":"T"},"overrides":{"apns":{"badge":1}}"#),
        "`badge` is `overrides.apns.aps.badge`"
      ),
      // Values.
      (#"{"to":{"tokens":[{"provider":"ios","token":"ab"}]},"notification":{"title":"T"}}"#, "`ios` is `apns` here"),
      (#"{"to":{"tokens":[{"provider":"gcm","token":"ab"}]},"notification":{"title":"T"}}"#, "`gcm` is `fcm` here"),
      (
        #"{"to":{"tokens":[{"provider":"apns","token":"ab","environment":"development"}]},"notification":{"title":"T"}}"#,
        "here it is `sandbox`. The values are production, sandbox"
      ),
      (
        #"{"to":{"tokens":[{"provider":"apns","token":"ab","token_kind":"liveactivity"}]},"notification":{"title":"T"}}"#,
        "here it is `activity`"
      ),
      (
        alert(#""notification":{"title":"T"},"priority":10"#),
        "one of the words high, normal, low, not a number; `10` is `high`"
      ),
      // Units, ranges, examples.
      (alert(#""notification":{"title":"T"},"ttl":"1d""#), "a whole number of 0…2419200 (in seconds: 86400 is a day)"),
      (alert(#""notification":{"title":"T"},"ttl":-1"#), "0…2419200 (in seconds: 86400 is a day)"),
      (alert(#""notification":{"title":"T"},"ttl":1.5"#), "a whole number of 0…2419200"),
      (alert(#""notification":{"title":"T"},"send_at":1795262400"#), #"such as "2026-12-01T09:00:00Z", not a number"#),
      (alert(#""notification":{"title":"T","sound":true}"#), "must be a string or an object"),
      (alert(#""notification":{"title":5}"#), #"must be a string, not a number: write "5""#),
      (#"{"to":{"tokens":["t1"]},"notification":{"title":"T"}}"#, #"{ "provider": "fcm", "token": "…" }"#),
      (#"{"to":{"devices":"d1"},"notification":{"title":"T"}}"#, #"write ["d1"]"#),
      (alert(#""kind":"file_provider""#), #"{ "container_identifier": "…" }"#),
      (alert(#""kind":"mdm""#), #"{ "push_magic": "…" }"#),
      (alert(#""data":{"a":1}"#), "use kind `background`"),
      ("[]", "the body must be a JSON object, not an array"),
    ])
  func oneFault(_ text: String, _ hint: String) throws {
    let told = try told(text)
    #expect(told.count == 1 && told[0].contains(hint), "\(told)")
  }

  @Test(
    "so is one of a registration, and of tags",
    arguments: [
      (#"{"provider":"fcm","registration_id":"t"}"#, "`registration_id` is `token`"),
      (#"{"provider":"fcm","tokn":"t"}"#, "did you mean `token`?"),
      (#"{"provider":"firebase","token":"t"}"#, "`firebase` is `fcm` here"),
      (#"{"provider":"fcm","token":"t","user":4711}"#, #"write "4711""#),
    ])
  func device(_ text: String, _ hint: String) throws {
    let told = try toldOfDevice(text)
    #expect(told.count == 1 && told[0].contains(hint), "\(told)")
  }

  @Test("tags of the wrong type are that, and not also missing")
  func tags() throws {
    let candidate = try document(#"{"add":"a"}"#)
    do throws(Refusal) {
      _ = try TagReader.edit(from: candidate)
      Issue.record("was accepted")
    } catch {
      #expect(error.violations.map(\.pointer) == ["/add"], "\(error.violations)")
    }
  }

  @Test("too many buttons are told beside the faults of each")
  func buttons() throws {
    #expect(
      try faults(
        of: alert(
          #""notification":{"title":"T","buttons":[{"id":"a","text":"A"},{"id":"b"},{},{"id":"c","text":"C"}]}"#)) == [
          "/notification/buttons too_many", "/notification/buttons/1/text required",
          "/notification/buttons/2/id required",
          "/notification/buttons/2/text required",
        ])
  }

  @Test(
    "a language or platform that no system gives is stored, and doubted",
    arguments: [
      (#""language":"ger-AT""#, "did you mean `de-AT`?"), (#""language":"jp""#, "did you mean `ja`?"),
      (#""language":"xx""#, "use a code of two letters"),
      (#""language":"en-UK""#, "`en-UK` does not name a known country; did you mean `en-GB`?"),
      (#""language":"sr-Latn-qq""#, "`sr-Latn-qq` does not name a known country; use a code of ISO 3166"),
      (#""language":"zh-Hans-zh""#, "did you mean `zh-Hans-cn`?"),
      (#""platform":"iPhone""#, "`iPhone` is not a usual platform; did you mean `ios`?"),
      (#""platform":"adroid""#, "did you mean `android`?"),
      (#""language":"de-AT""#, nil), (#""language":"fil""#, nil), (#""language":"zh-Hant-TW""#, nil),
      (#""language":"en-001""#, nil), (#""language":"sq-XK""#, nil), (#""language":"de-CH-1996""#, nil),
      (#""language":"en-u-uk""#, nil),
      (#""platform":"Android""#, nil), (#""platform":"kaios""#, nil), (#""platform":"my_tv_box""#, nil),
    ])
  func doubts(_ member: String, _ doubt: String?) throws {
    let reading = try DeviceReader.read(
      document(registration(member)), id: nil, now: noon, providers: knownProviders)
    #expect(reading.warnings.count == (doubt == nil ? 0 : 1), "\(reading.warnings)")
    if let doubt { #expect(reading.warnings.first?.detail.contains(doubt) == true, "\(reading.warnings)") }
  }

  @Test(
    "a name or an underscore is no language tag, and the answer has the tag",
    arguments: [
      ("Deutsch", "did you mean `de`?"), ("german", "did you mean `de`?"), ("de_AT", "did you mean `de-AT`?"),
      ("Deutsch_AT", "did you mean `de-AT`?"), ("Klingon", "such as `de` or `pt-BR`"), ("d", "such as `de`"),
    ])
  func noTag(_ language: String, _ hint: String) throws {
    let text = try document(alert(#""notification":{"title":"T","localized":{"\#(language)":{"title":"T"}}}"#))
    let device = try document(registration(#""language":"\#(language)""#))
    let refused = [
      #expect(throws: Refusal.self) { try MessageReader.read(text, providers: knownProviders) },
      #expect(throws: Refusal.self) {
        try DeviceReader.read(device, id: nil, now: noon, providers: knownProviders)
      },
    ]
    for refusal in refused {
      let fault = try #require(refusal?.violations.first)
      #expect(fault.code == "invalid_format" && fault.detail.contains(hint), "\(fault)")
      #expect(fault.detail.hasPrefix("is not a language tag (BCP 47)"), "\(fault)")
    }
  }

  @Test(
    "what has the form but not the sense is told as such",
    arguments: [
      (#""send_at":"2026-02-30T09:00:00Z""#, "the day 2026-02-30 does not exist: this month has the days 01 to 28"),
      (#""send_at":"2026-13-01T09:00:00Z""#, "no month 13"), (#""send_at":"2026-12-01T24:00:00Z""#, "no hour 24"),
      (#""send_at":"2026-12-01T09:60:00Z""#, "no minute 60"), (#""send_at":"2026-12-01T09:00Z""#, "write 09:00:00"),
      (#""send_at":"2026-12-01T09:00:00+25:00""#, "no offset of 25:00"),
      (#""send_at":"2026-12-01""#, "time and offset"),
      (#""send_at_local":"2027-02-29T09:00:00""#, "the day 2027-02-29 does not exist"),
      (#""ttl":1.5"#, "must be a whole number of 0…2419200 (in seconds: 86400 is a day), not 1.5"),
      (#""ttl":"60""#, "write 60 without quotes"), (#""ttl":"soon""#, "not a string"),
      (#""ordered":"true""#, "write it without quotes"), (#""ordered":1"#, "not a number: write true"),
    ])
  func senseless(_ member: String, _ hint: String) throws {
    let message = try document(alert(#""notification":{"title":"T"},\#(member)"#))
    let refusal = #expect(throws: Refusal.self) { try MessageReader.read(message, providers: knownProviders) }
    #expect(refusal?.violations.count == 1 && refusal?.violations.first?.detail.contains(hint) == true, "\(refusal)")
  }

  @Test("`to` without braces is answered with its forms", arguments: [#""everyone""#, "[]", #""4711""#])
  func bareRecipients(_ to: String) throws {
    let message = try document(#"{"to":\#(to),"notification":{"title":"T"}}"#)
    let refusal = #expect(throws: Refusal.self) { try MessageReader.read(message, providers: knownProviders) }
    let detail = refusal?.violations.first?.detail ?? ""
    #expect(detail.contains("an object with one of `devices`, `users`"), "\(detail)")
    let example = to == #""everyone""# ? #"{ "everyone": true }"# : #"{ "users": ["4711"] }"#
    #expect(detail.hasSuffix(example), "\(detail)")
  }

  @Test("a language of the message's texts that no system gives is doubted")
  func localized() throws {
    let reading = try read(alert(#""notification":{"title":"T","localized":{"xx":{"title":"T"}}}"#))
    #expect(reading.warnings.map(\.code) == ["unknown_language"], "\(reading.warnings)")
  }

  @Test(
    "times of a Live Activity that cannot be meant are told with the time now",
    arguments: [
      (#""event":"update","content_state":{},"timestamp":17672"#, ["in_the_past /live_activity/timestamp"]),
      (#""event":"update","content_state":{},"stale_date":17"#, ["in_the_past /live_activity/stale_date"]),
      (#""event":"end","dismissal_date":17"#, ["in_the_past /live_activity/dismissal_date"]),
      (#""event":"update","content_state":{},"timestamp":1795362400"#, ["far_in_the_future /live_activity/timestamp"]),
      (
        #""event":"update","content_state":{},"stale_date":1796262400"#, ["far_in_the_future /live_activity/stale_date"]
      ),
      (#""event":"end","dismissal_date":1795280000"#, ["shortened /live_activity/dismissal_date"]),
      // A minute ago, and an hour ahead; a time just past removes the activity at once.
      (#""event":"update","content_state":{},"timestamp":1795262340,"stale_date":1795266000"#, []),
      (#""event":"end","dismissal_date":1795262399"#, []),
    ])
  func times(_ activity: String, _ expected: [String]) throws {
    let reading = try MessageReader.read(
      document(alert(#""kind":"live_activity","live_activity":{\#(activity)}"#)), providers: knownProviders, now: noon)
    #expect(reading.warnings.map { "\($0.code) \($0.pointer)" } == expected, "\(reading.warnings)")
    for warning in reading.warnings where warning.code != "shortened" {
      #expect(warning.detail.contains(noon.rfc3339), "\(warning)")
    }
  }

  @Test("a Live Activity says nothing in a subtitle, in no language")
  func subtitle() throws {
    let message = alert(
      #""kind":"live_activity","live_activity":{"event":"update","content_state":{}},"notification":{"title":"T","body":"B","localized":{"de":{"subtitle":"S"}}}"#
    )
    #expect(try faults(of: message) == ["/notification/localized/de/subtitle not_allowed"])
  }

  @Test("every word in place of another is one of the field's own")
  func values() {
    let known: [(String, [String])] = [
      ("kind", Kind.allCases.map(\.rawValue)), ("environment", Environment.allCases.map(\.rawValue)),
      ("token_kind", TokenKind.allCases.map(\.rawValue)), ("priority", Priority.allCases.map(\.rawValue)),
      ("provider", ["apns", "fcm", "onesignal", "webpush"]), ("status", ["active", "disabled", "dead"]),
    ]
    let foreign = [
      "silent", "call", "ios", "gcm", "web", "dev", "prod", "liveactivity", "10", "pruned", "urgent", "subscribed",
    ]
    var found = 0
    for (field, words) in known {
      for word in foreign {
        guard let meant = VendorValue.meaning(of: word, for: field) else { continue }
        found += 1
        #expect(words.contains(meant), "\(field): \(word)")
      }
    }
    #expect(found >= foreign.count)
  }
}
