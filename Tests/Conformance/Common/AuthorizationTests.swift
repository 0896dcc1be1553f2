import Domain
import Support
import Testing

@Suite("Every provider guards its keys")
struct AuthorizationTests {
  @Test("one header serves all; one fetch at a time", arguments: registeredProviders)
  func singleFlight(_ subject: ProviderUnderTest) throws {
    var authorization = try subject.account().makeAuthorization()
    if let answer = subject.tokenAnswer {
      guard case .fetch = authorization.need(now: started) else {
        Issue.record("no fetch")
        return
      }
      for second in 0..<30 {
        guard case .wait = authorization.need(now: started + Int64(second) * 1000) else {
          Issue.record("a second fetch")
          return
        }
      }
      authorization.fetched(answer, now: started + 30_000)
    }
    guard case .use(let header, nil) = authorization.need(now: started + 31_000) else {
      Issue.record("no header")
      return
    }
    #expect(Header.isSafeValue(header))
    for minute in 1..<40 {
      guard case .use(header, nil) = authorization.need(now: started + Int64(minute) * 60_000) else {
        Issue.record("another header in minute \(minute)")
        return
      }
    }
  }

  @Test("a clock that jumps never ends in a crash or a lasting stop", arguments: registeredProviders)
  func clock(_ subject: ProviderUnderTest) throws {
    var random = Seeded()
    var authorization = try subject.account().makeAuthorization()
    var now = started
    for _ in 0..<1_000 {
      now = now + Int64.random(in: -7_200_000...7_200_000, using: &random)
      switch authorization.need(now: now) {
      case .fetch, .use(_, .some): authorization.fetched(subject.tokenAnswer, now: now)
      case .unavailable(let until, _): now = until
      case .use, .wait: break
      }
      if Bool.random(using: &random) {
        authorization.refused(Retry.Cause.allCases.randomElement(using: &random)!, now: now)
      }
    }
    // Left alone, it serves again within the hour.
    var served = false
    for minute in 0..<60 {
      now = now + 60_000
      let need = authorization.need(now: now)
      if case .fetch = need { authorization.fetched(subject.tokenAnswer, now: now) }
      if case .use = need { served = true }
      if minute == 59 { #expect(served, "seed \(random.seed)") }
    }
  }

  @Test("a setting that is missing or wrong is named, without a word of a key", arguments: registeredProviders)
  func faultsTellNoSecret(_ subject: ProviderUnderTest) throws {
    let settings = subject.provider.settings
    for setting in settings where setting.required {
      var credential = subject.credential
      credential.texts[setting.name] = nil
      credential.files[setting.name] = nil
      let fault = #expect(throws: CredentialFault.self) { try subject.provider.open(credential) }
      #expect(fault?.setting == setting.name)
      #expect(fault?.fix.isEmpty == false)
    }
    for setting in settings {
      guard var content = subject.credential.files[setting.name] else { continue }
      content.removeLast(content.count / 3)
      content += Array("\u{1}!".utf8)
      var credential = subject.credential
      credential.files[setting.name] = content
      let fault = #expect(throws: CredentialFault.self) { try subject.provider.open(credential) }
      let told = String(describing: fault)
      for secret in subject.secrets { #expect(!told.contains(secret)) }
    }
  }
}
