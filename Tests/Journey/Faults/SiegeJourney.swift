import Domain
import Foundation
import JSON
import Support
import Testing

extension Journeys {
  @Test(
    "a short siege: sends go on while strangers hold connections, trickle, guess keys and send large bodies", .alone)
  func siege() async throws {
    // How late a message may be is measured by `make siege`, on a machine that does nothing else.
    let run = try ChildProcess(
      World.laboratory,
      [
        "siege", "--attack", "all", "--seconds", "4", "--percent", "10", "--p99", "\(2_000 * Sanitizer.slowness)",
        "--json",
      ])
    #expect(await run.waitForExit() == 0, "\(run.text)")
    let line = try #require(run.text.split(separator: "\n").last { $0.hasPrefix("{") }, "\(run.text)")
    let attack = try #require(try JSON.parse(Array(line.utf8))["attacks"]?.array?.first)
    #expect(attack["refused_count"]?.integer == 0, "\(line)")
    #expect(attack["message_count"]?.integer == 400, "\(line)")
    // The attack took place: its connections were held, and its requests answered.
    #expect(attack["open_connections"]?.integer ?? 0 >= 500, "\(line)")
    #expect(attack["answer_count"]?.integer ?? 0 >= 100, "\(line)")
  }
}
