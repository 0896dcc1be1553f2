import Domain
import Foundation
import JSON
import Support
import Testing

extension Journeys {
  @Test(
    "a soak of every kind of send, over a month by its clock, leaves memory, descriptors and each family of keys flat",
    .alone,
    .enabled(if: FastClock.isAvailable))
  func soak() async throws {
    let run = try ChildProcess(
      World.laboratory, ["soak", "--seconds", "24", "--leaps", "16", "--rate", "300", "--json"])
    #expect(await run.waitForExit() == 0, "\(run.text)")
    let line = try #require(run.text.split(separator: "\n").last { $0.hasPrefix("{") }, "\(run.text)")
    let result = try JSON.parse(Array(line.utf8))
    #expect(result["duration_hours"]?.integer ?? 0 >= 31 * 24, "\(line)")
    let families = try #require(result["families"]?.array)
    #expect(families.count >= 30, "\(line)")
    #expect(
      !families.contains { $0["family"]?.string == "odd" },
      "nothing was damaged, and something could not be read: \(line)")
    #expect(families.allSatisfy { $0["flat"]?.bool == true }, "\(line)")
  }
}
