import Domain
import Testing

@testable import Laboratory

@Suite("The demo's comparison")
struct ComparisonTests {
  private let iphone = Population.Member(id: "iphone", provider: .apns, token: "fe00", route: .healthy)
  private let gone = Population.Member(id: "gone", provider: .apns, token: "dd00", route: .dying)

  private func record(_ device: String, _ state: String, _ statuses: [Int], id: String? = nil) -> Recorded {
    Recorded(message: "m", device: device, state: state, reason: nil, providerID: id, statuses: statuses)
  }
  private func entry(_ token: String, _ status: Int, accepted: Bool, name: String = "n") -> Received {
    Received(provider: "apns", token: token, status: status, accepted: accepted, name: name)
  }

  @Test("agrees where both sides tell the same, retries and deaths included")
  func agreement() {
    let comparison = Comparison(
      members: [iphone, gone],
      recorded: [record("iphone", "accepted", [503, 200], id: "n"), record("gone", "dead", [410])],
      received: [
        entry("fe00", 503, accepted: false), entry("fe00", 200, accepted: true), entry("dd00", 410, accepted: false),
      ])
    #expect(comparison.differences == [])
    #expect(comparison.retried == 1 && comparison.deliveries == 2 && comparison.requests == 3)
  }

  @Test("a delivery that only one side knows is a difference")
  func oneSided() {
    let lost = Comparison(members: [iphone], recorded: [record("iphone", "accepted", [200])], received: [])
    #expect(lost.differences.contains { $0.contains("the sandbox took nothing") })
    let silent = Comparison(members: [iphone], recorded: [], received: [entry("fe00", 200, accepted: true)])
    #expect(silent.differences.contains { $0.contains("0 deliveries recorded") })
    let stranger = Comparison(members: [], recorded: [], received: [entry("fe99", 200, accepted: true)])
    #expect(stranger.differences.contains { $0.contains("nobody's token") })
  }

  @Test("taken twice is a difference, unless an answer was lost in between")
  func doubles() {
    let twice = [entry("fe00", 200, accepted: true), entry("fe00", 200, accepted: true)]
    let wrong = Comparison(
      members: [iphone], recorded: [record("iphone", "accepted", [200, 200])], received: twice)
    #expect(wrong.differences.contains { $0.contains("taken 2 times") })
    let lost = [entry("fe00", 0, accepted: true), entry("fe00", 200, accepted: true)]
    let right = Comparison(members: [iphone], recorded: [record("iphone", "accepted", [0, 200])], received: lost)
    #expect(right.differences == [] && right.duplicates == 1)
  }

  @Test("an outcome that its fault does not explain is a difference")
  func unexplained() {
    let alive = Comparison(
      members: [gone], recorded: [record("gone", "accepted", [200])], received: [entry("dd00", 200, accepted: true)])
    #expect(alive.differences.contains { $0.contains("expected dead") })
  }
}
