import Support
import Testing

extension Journeys {
  @Test("the demo ends well: the vendors' log and the gateway's record agree, and every fault was received")
  func demo() async throws {
    let demo = try ChildProcess(World.laboratory, ["demo"])
    #expect(await demo.waitForExit() == 0, "\(demo.text)")
    #expect(demo.text.contains("agree, delivery by delivery"))
  }
}
