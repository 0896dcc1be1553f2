import Domain
import JSON
import TLS
import Testing

/// protocols/apns.md section 6.
@Suite("The APNs provider token")
struct APNsTokenTests {
  private func machine() throws -> any Authorization { try ProviderUnderTest.apns.account().makeAuthorization() }
  private func minutes(_ count: Int64) -> WallTime { started + count * 60_000 }

  private func header(_ need: AuthorizationNeed) throws -> String {
    guard case .use(let header, nil) = need else { throw Unexpected(need: need) }
    return header
  }
  private struct Unexpected: Error { var need: AuthorizationNeed }

  @Test("is a signed ES256 JWT with key id, team and time, and nothing else")
  func form() throws {
    var machine = try machine()
    let header = try header(machine.need(now: started))
    #expect(header.hasPrefix("bearer "))
    let parts = header.dropFirst(7).split(separator: ".").map(String.init)
    #expect(parts.count == 3)
    try expectJSON(try #require(Base64URL.decode(parts[0])), #"{"alg":"ES256","kid":"KEY1234567"}"#)
    try expectJSON(
      try #require(Base64URL.decode(parts[1])), #"{"iss":"TEAM123456","iat":\#(started.seconds)}"#)
    let signature = try #require(Base64URL.decode(parts[2]))
    #expect(signature.count == 64)
    let key = try VerifyingKey(pem: TestKeys.apns.key.publicKeyPEM, for: .es256)
    #expect(key.verifies(signature, of: Array("\(parts[0]).\(parts[1])".utf8)))
  }

  @Test("serves 50 minutes, then is signed anew")
  func lifetime() throws {
    var machine = try machine()
    let first = try header(machine.need(now: started))
    #expect(try header(machine.need(now: minutes(49))) == first)
    let second = try header(machine.need(now: minutes(50)))
    #expect(second != first)
    #expect(try header(machine.need(now: minutes(99))) == second)
  }

  @Test("refused as expired: renewed if 20 minutes old, else not before")
  func refused() throws {
    var machine = try machine()
    let first = try header(machine.need(now: started))
    machine.refused(.authorizationExpired, now: minutes(30))
    let second = try header(machine.need(now: minutes(30)))
    #expect(second != first)
    // Late answers to requests that carried the first token change nothing.
    machine.refused(.authorizationExpired, now: minutes(30) + 500)
    #expect(try header(machine.need(now: minutes(30) + 600)) == second)
    // Too young to be replaced, it gets one more try; refused again, it rests a minute between tries.
    machine.refused(.authorizationExpired, now: minutes(34))
    #expect(try header(machine.need(now: minutes(34))) == second)
    machine.refused(.authorizationExpired, now: minutes(35))
    guard case .unavailable(let until, let blocked?) = machine.need(now: minutes(35)) else {
      Issue.record("renewed too soon")
      return
    }
    #expect(until == minutes(36))
    #expect(blocked.contains("clock"))
    #expect(try header(machine.need(now: until)) == second)
    // At 20 minutes a refusal renews it.
    machine.refused(.authorizationExpired, now: minutes(51))
    #expect(try header(machine.need(now: minutes(51))) != second)
  }

  @Test("what was in flight beside a refused request is refused with it, and blocks nothing")
  func refusedTogether() throws {
    var machine = try machine()
    let first = try header(machine.need(now: started))
    for wait: Int64 in [100, 120, 150, 4_000] {
      machine.refused(.authorizationExpired, now: started + wait)
      #expect(try header(machine.need(now: started + wait)) == first)
    }
  }

  @Test("renewed too often: back to the earlier one while it is younger than an hour")
  func tooNew() throws {
    var machine = try machine()
    let first = try header(machine.need(now: started))
    let second = try header(machine.need(now: minutes(50)))
    machine.refused(.authorizationTooNew, now: minutes(51))
    #expect(try header(machine.need(now: minutes(51))) == first)
    #expect(try header(machine.need(now: minutes(59))) == first)
    // An hour old, it is refused for its age: the newer one is due, and nothing is signed within 20 minutes of it.
    #expect(try header(machine.need(now: minutes(60))) == second)
    #expect(try header(machine.need(now: minutes(99))) == second)
    let third = try header(machine.need(now: minutes(100)))
    #expect(third != first && third != second)
  }

  @Test("renewed too often is mostly told at once: back to the earlier one, whatever else was refused beside it")
  func tooNewAtOnce() throws {
    var machine = try machine()
    let first = try header(machine.need(now: started))
    _ = try header(machine.need(now: minutes(50)))
    for wait: Int64 in [100, 120, 4_000] {
      machine.refused(.authorizationTooNew, now: minutes(50) + wait)
      #expect(try header(machine.need(now: minutes(50) + wait)) == first)
    }
  }

  @Test("renewed too often without an earlier one: a minute's rest, then the same again")
  func tooNewAlone() throws {
    var machine = try machine()
    let first = try header(machine.need(now: started))
    machine.refused(.authorizationTooNew, now: minutes(1))
    guard case .unavailable(minutes(2), .some) = machine.need(now: minutes(1)) else {
      Issue.record("not resting")
      return
    }
    #expect(try header(machine.need(now: minutes(2))) == first)
  }

  @Test("survives a clock that jumps: far back and far ahead it signs anew, a little back it does not")
  func jumps() throws {
    var machine = try machine()
    let first = try header(machine.need(now: started))
    #expect(try header(machine.need(now: minutes(-5))) == first)
    let second = try header(machine.need(now: minutes(-600)))
    #expect(second != first)
    #expect(try header(machine.need(now: minutes(600))) != second)
  }
}
