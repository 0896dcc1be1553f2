import Domain
import Foundation
import JSON
import Support
import Testing

extension Journeys {
  @Test(
    "chaos: everything is broken once while sends go on; nothing is lost, out of order, or doubled beyond the bound",
    .alone)
  func chaos() async throws {
    let run = try ChildProcess(World.laboratory, ["chaos", "--deliveries", "3000", "--workers", "2", "--json"])
    #expect(await run.waitForExit() == 0, "\(run.text)")
    let line = try #require(run.text.split(separator: "\n").last { $0.hasPrefix("{") })
    let result = try JSON.parse(Array(line.utf8))
    #expect(result["deliveries"]?.integer ?? 0 >= 3_000)
    #expect(result["lost"]?.integer == 0 && result["out_of_order"]?.integer == 0)
    #expect(result["faults"]?.array?.count ?? 0 >= 14, "\(run.text)")
  }
}
