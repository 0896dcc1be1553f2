import Domain
import Support
import Testing

@testable import HTTP2

/// Whether a peer is still there, and what a connection does when it is not.
@Suite("The health of a connection")
struct HealthTests {
  private let settings = HTTP2Settings()
  private func at(_ milliseconds: UInt64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

  @Test("who waits for an answer asks after a second without a word, others after a minute")
  func asks() {
    var health = ConnectionHealth()
    health.heard(now: at(1_000))
    #expect(health.look(due: at(2_000), now: at(2_000), newest: nil, settings) == .look(at: at(61_000)))
    health.began(at: at(5_000))
    health.began(at: at(5_500))
    #expect(health.look(due: at(5_900), now: at(5_900), newest: at(5_500), settings) == .look(at: at(6_000)))
    #expect(health.look(due: at(6_000), now: at(6_000), newest: at(5_500), settings) == .ping)
    health.pinged(now: at(6_000))
    // The answer to the PING: the request waits on, and nothing is asked again for its sake.
    #expect(health.heard(now: at(6_050)) == false)
    #expect(health.look(due: at(7_000), now: at(7_000), newest: at(5_500), settings) == .look(at: at(66_050)))
    #expect(health.lastSpoken == at(1_000) && health.lastHeard == at(6_050))
  }

  @Test("a peer that said something else after the request, and nothing since, is asked as well")
  func saysSomethingElse() {
    var health = ConnectionHealth()
    health.began(at: at(5_000))
    // The peer's SETTINGS, say.
    health.heard(now: at(5_100))
    #expect(health.look(due: at(6_000), now: at(6_000), newest: at(5_000), settings) == .look(at: at(6_100)))
    #expect(health.look(due: at(6_100), now: at(6_100), newest: at(5_000), settings) == .ping)
    health.pinged(now: at(6_100))
    health.heard(now: at(6_150))
    // A later one has been answered; the first was asked about.
    health.began(at: at(6_500))
    health.heard(now: at(6_600))
    #expect(health.look(due: at(7_600), now: at(7_600), newest: at(5_000), settings) == .look(at: at(66_600)))
    // Another one that waits is a reason of its own.
    health.began(at: at(8_000))
    #expect(health.look(due: at(9_000), now: at(9_000), newest: at(8_000), settings) == .ping)
  }

  @Test("without an answer to the PING it takes nothing new after a second, and is dead after three")
  func silence() {
    var health = ConnectionHealth()
    health.heard(now: at(0))
    health.began(at: at(0))
    health.pinged(now: at(1_000))
    #expect(health.look(due: at(1_500), now: at(1_500), newest: at(0), settings) == .look(at: at(2_000)))
    #expect(health.look(due: at(2_000), now: at(2_000), newest: at(0), settings) == .fellSilent)
    #expect(health.isSilent)
    #expect(health.look(due: at(2_000), now: at(2_000), newest: at(0), settings) == .look(at: at(4_000)))
    var other = health
    #expect(other.heard(now: at(3_999)) == true)
    #expect(!other.isSilent)
    #expect(other.look(due: at(4_000), now: at(4_000), newest: at(0), settings) == .look(at: at(63_999)))
    #expect(health.look(due: at(4_000), now: at(4_000), newest: at(0), settings) == .dead)
  }

  @Test("who stood still itself reads first what has come meanwhile")
  func stoodStill() {
    var health = ConnectionHealth()
    health.heard(now: at(0))
    health.began(at: at(0))
    health.pinged(now: at(1_000))
    #expect(health.look(due: at(2_000), now: at(9_000), newest: at(0), settings) == .look(at: at(10_000)))
    #expect(!health.isSilent)
    #expect(health.look(due: at(10_000), now: at(10_000), newest: at(0), settings) == .fellSilent)
    #expect(health.look(due: at(12_000), now: at(30_000), newest: at(0), settings) == .look(at: at(33_000)))
    #expect(health.look(due: at(33_000), now: at(33_000), newest: at(0), settings) == .dead)
  }

  @Test("a stalled peer gets no new request until it speaks again, and what is at work on it goes on waiting")
  func stallPasses() async throws {
    try await withLoop { loop in
      let signal = Signal(loop)
      let responder = try Responder(loop, signal)
      var settings = HTTP2Settings()
      settings.pingAtWork = 20
      settings.pingTimeout = 6_000
      let client = await Client.connected(loop, signal, port: responder.server.port, settings: settings)
      await signal.until("opened") { responder.opened.count == 1 }
      responder.server.stall(1, true)
      client.send(1)
      #expect(client.connection.openable > 0)
      await signal.until("silent") { client.silences == [true] }
      #expect(client.connection.openable == 0)
      responder.server.stall(1, false)
      await signal.until("the answer") { client.answers[1] != nil }
      #expect(client.silences == [true, false] && client.failures.isEmpty)
      client.send(2)
      await signal.until("another answer") { client.answers[2] != nil }
    }
  }
}
