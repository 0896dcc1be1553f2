import Domain
import Foundation
import JSON
import Support
import Testing

extension Journeys {
  @Test(
    "messages watch on a terminal, on a narrow one and on none: bar, rate, end; paused, left with ctrl-C, cancelled with its sums, completed; finished messages are not controlled"
  )
  func watch() async throws {
    let world = try await World()
    let gateway = try await world.gateway()
    let count = 3_000
    let lines = (0..<count).map { #"{"id":"d\#($0)","provider":"apns","token":"\#(Tokens.apns($0))"}"# }
    let imported = try await gateway.client.call(
      "POST", "/v1/devices/bulk", lines.joined(separator: "\n"),
      headers: [.init("content-type", "application/x-ndjson")])
    #expect(imported.status == 200)
    let environment = ["FANFARE_URL": gateway.client.base, "FANFARE_KEY": gateway.client.key ?? ""]
    func fanfare(_ words: String..., exit: Int32 = 0) async throws -> String {
      let run = try ChildProcess(World.program, words, environment: environment)
      let code = await run.waitForExit()
      #expect(code == exit, "fanfare \(words): \(run.text)")
      return run.text
    }
    func now() -> Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }
    /// On a terminal of so many columns.
    func watch(_ id: String, columns: Int) throws -> (process: ChildProcess, pid: URL) {
      let pid = world.directory.file("watch-\(columns).pid")
      let command =
        "stty cols \(columns) rows 24; echo $$ > \(pid.path); exec \(World.program.path) messages watch \(id)"
      let process = try ChildProcess(
        URL(filePath: "/usr/bin/script"), ["-qefc", command, "/dev/null"], environment: environment)
      return (process, pid)
    }
    func shown(_ process: ChildProcess, _ pattern: Regex<Substring>) async throws {
      let deadline = ContinuousClock.now + .seconds(30)
      while process.text.firstMatch(of: pattern) == nil {
        guard ContinuousClock.now < deadline else { throw ChildFailure(reason: "it never showed it: \(process.text)") }
        try await Task.sleep(for: .milliseconds(50))
      }
    }

    let id = try await gateway.send(
      #"{"to":{"everyone":true},"notification":{"title":"T"},"rate_per_second":500}"#)
    let wide = try watch(id, columns: 110)
    let narrow = try watch(id, columns: 36)
    let plain = try ChildProcess(World.program, ["messages", "watch", id], environment: environment)
    try await shown(wide.process, #/█+░+ [\d,]+/3,000  \d+\.\d %  \d{3}/s  ends in \d+ s  [\d,]+ accepted/#)
    _ = try await plain.line { $0.contains("sending  ") && $0.contains("of 3,000") }
    try await shown(narrow.process, #/sending  /#)
    #expect(!narrow.process.text.contains("█") && !plain.text.contains("\u{1b}"))

    _ = try await fanfare("messages", "pause", id)
    let pausedAt = now()
    try await shown(wide.process, #/paused\. Continue with fanfare messages resume/#)
    _ = try await plain.line { $0.hasPrefix("paused  ") }
    // Ctrl-C ends the watching only.
    let number = try #require(
      Int32(try String(contentsOf: narrow.pid, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)))
    kill(number, SIGINT)
    #expect(await narrow.process.waitForExit() == 130, "\(narrow.process.text)")
    #expect(
      narrow.process.text.contains("sending continues; to follow it again: fanfare messages watch \(id)"))
    #expect(try await gateway.client.get("/v1/messages/\(id)").json["state"]?.string == "paused")

    // A second after the word nothing goes any more.
    while now() < pausedAt + 2_000 { try await Task.sleep(for: .milliseconds(100)) }
    let late = try await world.sandbox.log().filter { $0.time > pausedAt + 1_000 }
    #expect(late.isEmpty, "\(late.count) came later than a second behind the pause")
    _ = try await fanfare("messages", "resume", id)
    _ = try await gateway.until(id) { $0["outcomes"]?["accepted"]?.integer ?? 0 > 1_200 }
    let cancelled = try await fanfare("messages", "cancel", id)
    let line = try #require(cancelled.firstMatch(of: #/(\d,\d{3}) sent, ([\d,]+) cancelled/#), "\(cancelled)")
    let (sent, rest) = (Int(line.1.replacing(",", with: "")) ?? 0, Int(line.2.replacing(",", with: "")) ?? 0)
    #expect(sent > 1_200 && sent + rest == count)
    #expect(try await world.sandbox.log().count(where: \.accepted) == sent)
    let report = try await gateway.client.get("/v1/messages/\(id)").json
    #expect(report["sent"] == .integer(Int64(sent)) && report["not_sent"] == .integer(Int64(rest)), "\(report)")
    for process in [wide.process, plain] {
      #expect(await process.waitForExit() == 1, "\(process.text)")
      #expect(process.text.contains("cancelled: \(line.1) sent, \(line.2) cancelled, in "), "\(process.text)")
    }
    for word in ["pause", "resume"] {
      #expect(try await fanfare("messages", word, id, exit: 5).contains("The message is cancelled"))
    }

    let later = try await gateway.send(
      #"{"to":{"everyone":true},"notification":{"title":"T"},"send_at":"\#(WallTime(seconds: Int64(Date().timeIntervalSince1970) + 86_400).rfc3339)"}"#
    )
    let waiting = try watch(later, columns: 100)
    try await shown(waiting.process, #/scheduled  starts at 2\d{3}-/#)
    _ = try await fanfare("messages", "cancel", later)
    #expect(await waiting.process.waitForExit() == 1, "\(waiting.process.text)")

    let done = try await gateway.send(#"{"to":{"devices":["d1","d2"]},"notification":{"title":"T"}}"#)
    _ = try await gateway.completed(done)
    let ended = try watch(done, columns: 80)
    #expect(await ended.process.waitForExit() == 0)
    #expect(ended.process.text.contains("completed: 2 deliveries"), "\(ended.process.text)")
    for word in ["pause", "resume", "cancel"] {
      #expect(try await fanfare("messages", word, done, exit: 5).contains("is already completed"))
    }
    #expect(try await fanfare("messages", "watch", "msg_1", exit: 2).contains("not a message id"))
  }
}
