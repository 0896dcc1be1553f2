import Domain
import JSON
import Testing

@testable import fanfare

@Suite("What a review says of the normal share of dead tokens")
struct PruneReviewTests {
  @Test(
    "a share is shown with what it stands on, and not of a few tokens",
    arguments: [
      (0, 0, "no token was called accepted or dead yet"),
      (1, 1, "1 of 1 token was called dead: too few to judge what is normal"),
      (99, 20, "20 of 99 tokens were called dead: too few to judge what is normal"),
      (12_000, 600, "600 of 12,000 tokens were called dead (5.0 %): this is the normal share"),
    ])
  func share(_ seen: Int, _ dead: Int, _ shown: String) throws {
    let share = seen == 0 ? 0 : Double(dead) / Double(seen)
    let text = #"{"normal_share":\#(share),"seen":\#(seen),"dead":\#(dead)}"#
    #expect(DevicePrunes.normalShare(try JSON.parse(Array(text.utf8))) == shown)
  }
}
