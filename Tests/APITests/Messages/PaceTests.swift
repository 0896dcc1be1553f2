import Domain
import JSON
import Testing

@testable import API
@testable import Store

@Suite("A message's report says how fast it goes, and when it will have ended")
struct PaceTests {
  /// 1,000 targets, of which 250 ended within 2.5 s.
  private func report(_ change: (inout MessageReport) -> Void = { _ in }) -> MessageReport {
    let start = WallTime(milliseconds: 1_780_000_000_000)
    var report = MessageReport(
      id: MessageID(acceptedAt: start, partition: 0, random: 1), app: AppID(rawValue: "shop"), kind: .alert,
      state: .sending, acceptedAt: start, total: 1_000,
      counts: [
        MessageReport.Key(provider: .apns, outcome: .accepted): 200,
        MessageReport.Key(provider: .fcm, outcome: .failed, reason: "Bad"): 50,
      ], retrying: 10)
    report.firstAttemptAt = start + 10_000
    report.lastOutcomeAt = start + 12_500
    change(&report)
    return report
  }
  private func read(_ report: MessageReport) throws -> (rate: JSONValue?, end: String?) {
    let json = try JSON.parse(report.encoded)
    return (json["outcomes_per_second"], json["predicted_end_at"]?.string)
  }

  @Test("the rate is that of what has ended, and the end is as far as the rest takes at that rate")
  func predicted() throws {
    let moving = try read(report())
    #expect(moving.rate == .double(100) || moving.rate == .integer(100))
    // 750 are left.
    #expect(moving.end == (report().acceptedAt + 20_000).rfc3339)
    // A pace that was set says more than what has been.
    let paced = try read(report { $0.ratePerSecond = 50 })
    #expect(paced.end == (report().acceptedAt + 27_500).rfc3339 && paced.rate == moving.rate)
  }

  @Test("what is paused, cancelled or has ended has no rate and no end to come; nor has what has hardly begun")
  func unknown() throws {
    for still in [MessageState.paused, .cancelled] {
      let stopped = try read(report { $0.state = still })
      #expect(stopped.end == nil && stopped.rate == nil)
    }
    let done = try read(
      report {
        $0.counts = [MessageReport.Key(provider: .apns, outcome: .accepted): 1_000]
        ($0.state, $0.completedAt, $0.retrying) = (.completed, $0.lastOutcomeAt, 0)
      })
    #expect(done.end == nil && done.rate == nil)
    let begun = try read(report { $0.lastOutcomeAt = $0.firstAttemptAt.map { $0 + 50 } })
    #expect(begun.rate == nil && begun.end == nil)
    let waiting = try read(report { ($0.firstAttemptAt, $0.lastOutcomeAt, $0.counts) = (nil, nil, [:]) })
    #expect(waiting.rate == nil && waiting.end == nil)
  }
}
