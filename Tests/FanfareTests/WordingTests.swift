import CommandFrame
import Domain
import GatewayClient
import JSON
import Testing

@testable import fanfare

@Suite("What commands say")
struct WordingTests {
  @Test("a number stands with its noun in the right form")
  func counting() {
    #expect(counted(1, "device") == "1 device")
    #expect(counted(0, "device") == "0 devices")
    #expect(counted(10_001, "line") == "10,001 lines")
    #expect(counted(1, "delivery") == "1 delivery")
    #expect(counted(2, "retry") == "2 retries")
    #expect(counted(Int64.max, "key").hasSuffix("807 keys"))
  }

  @Test(
    "what the server says of its HTTP interface is said in the words of the command line",
    arguments: [
      ("map one with `map=COLUMN:provider`", "map one with `--map COLUMN=provider`"),
      ("for all: `set=provider:fcm`", "for all: `--set provider=fcm`"),
      ("create it with `PUT /v1/test_lists/{name}`", "create it with `fanfare test-lists set NAME`"),
      (
        "unknown column `a`: map it with `--map 'a=b'` (over HTTP `?map=a:b`), or",
        "unknown column `a`: map it with `--map 'a=b'`, or"
      ),
      ("`ttl` must be a whole number", "`ttl` must be a whole number"),
    ])
  func words(_ text: String, _ shown: String) { #expect(CommandWords.of(text) == shown) }

  @Test("a move that is refused names the option, which cannot be left out")
  func move() {
    #expect(
      CommandWords.ofMove("`send_at`: this time has passed (it is now X): leave it out to send at once")
        == "`--at`: this time has passed (it is now X): give a later time")
    #expect(CommandWords.ofMove("`send_at_local` needs date") == "`--at-local` needs date")
  }

  @Test("what is said of a field in the message of a draft names it once")
  func nested() {
    #expect(FieldName.sentence("`send_at` needs a date", at: "/message/send_at") == "`send_at` needs a date")
    #expect(FieldName.sentence("is empty", at: "/message/to/devices") == "`message.to.devices`: is empty")
    #expect(FieldName.sentence("`id` is empty", at: "/to/0/id") == "`to[0].id`: `id` is empty")
  }

  @Test("a time in another form is told in the words of its option, with its own date in the example")
  func times() throws {
    func told(_ command: Command, _ words: [String]) -> String? {
      #expect(throws: UsageProblem.self) { _ = try SendTimeOption.read(Arguments(words, for: command)) }?.text
    }
    let send = SendCommand.command
    #expect(
      told(send, ["--at", "1.11.2026 10:00"])
        == "--at needs date (year-month-day), time and offset from UTC, such as 2026-11-01T10:00:00+01:00; "
        + "the offset of UTC is Z")
    let word = told(DraftsCommand.command, ["send", "--at", "tomorrow"])
    #expect(word?.contains("such as 2026-12-01T09:00:00+01:00") == true)
    #expect(
      told(send, ["--at", "2026-11-01 10:00:00"])?.hasSuffix("; for this time by each device's clock use --at-local")
        == true)
    #expect(
      told(MessagesCommand.command, ["reschedule", "--at-local", "2026-11-01T10:00:00Z"])
        == "--at-local needs date (year-month-day) and time without an offset, such as 2026-11-01T10:00:00")
    let both = told(send, ["--at", "2026-11-01T10:00:00Z", "--at-local", "2026-11-01T10:00:00"])
    #expect(both?.contains("not both") == true)
    let from = #expect(throws: UsageProblem.self) {
      _ = try SendTimeOption.time("--from", Arguments(["list", "--from", "13/11/2026"], for: MessagesCommand.command))
    }
    #expect(from?.text.contains("--from needs date") == true && from?.text.contains("2026-11-13T09:00:00") == true)
    #expect(try SendTimeOption.read(Arguments(["--at", "2026-11-01T10:00:00Z"], for: send))?.key == "send_at")
  }

  @Test("the end of a message is predicted only of deliveries that go at its rate")
  func prediction() throws {
    func line(_ more: String) throws -> String {
      let counts = #"[{"provider":"fcm","outcome":"accepted","count":500}]"#
      let text = #"{"state":"sending","targets":1000,"counts":\#(counts)\#(more)}"#
      let report = try JSON.parse(Array(text.utf8))
      var speed = MessageWatch.Speed()
      speed.saw(0, now: Instant(nanoseconds: 0))
      speed.saw(500, now: Instant(nanoseconds: 5_000_000_000))
      return MessageWatch.text(report, MessageCounts(report), final: 500, speed)
    }
    #expect(try line("").contains("ends in 5 s"))
    let retrying = try line(#","progress":{"final":500,"retrying":400}"#)
    #expect(retrying.contains("400 wait for a retry  the others end in 1 s"), "\(retrying)")
    let last = try line(#","progress":{"final":500,"retrying":500}"#)
    #expect(last.contains("500 wait for a retry") && !last.contains("end in"), "\(last)")
    for wait in [
      #","waiting_for_time":{"count":1,"reason":"quiet_hours"}"#,
      #","waiting_for_time":{"count":1,"reason":"local_time"}"#,
      #","waiting_for":[{"credential":"demo/google","state":"waiting","count":0}]"#,
    ] {
      #expect(try !line(wait).contains("ends in"), "\(wait)")
    }
  }

  @Test("the question of a replay says how many deliveries go again, by outcome, and that they go at once")
  func replay() throws {
    let report = try JSON.parse(
      Array(
        (#"{"id":"msg_1","name":"Sale","state":"cancelled","targets":1205,"starts_at":"2026-12-01T09:00:00Z","counts":["#
          + #"{"provider":"fcm","outcome":"cancelled","count":1200},{"provider":"fcm","outcome":"failed","reason":"a","count":2},"#
          + #"{"provider":"apns","outcome":"failed","reason":"b","count":1},{"provider":"fcm","outcome":"expired","count":2}]}"#)
          .utf8))
    func told(_ report: JSONValue, _ outcomes: [String] = [], _ reasons: [String] = []) -> String {
      MessageReplay.forecast(of: report, outcomes: outcomes, reasons: reasons)
    }
    #expect(told(report) == "5 deliveries to go again at once: 2 expired, 3 failed")
    #expect(told(report, ["cancelled"]) == "1,200 deliveries to go again at once: 1,200 cancelled")
    #expect(told(report, [], ["b"]) == "1 delivery to go again at once: 1 failed")
    #expect(told(report, ["dead"]) == "0 deliveries to go again at once")
    let replayed = JSONValue.object((report.object ?? []) + [JSONMember("replayed_by", .array([.string("msg_2")]))])
    #expect(told(replayed).hasSuffix("; without the devices that an earlier replay has reached, or still sends to"))
    #expect(
      MessagesCommand.named(report)
        == "msg_1 \"Sale\" (cancelled, would have started at 2026-12-01T09:00:00Z (UTC), 1,205 targets)")
  }

  @Test("a refusal says once what is wrong: its only fault, several each with its place")
  func refusal() {
    func told(_ json: String) -> String { Client.Answer(status: 422, body: Array(json.utf8)).problem }
    #expect(
      told(
        #"{"title":"Not valid","detail":"`ttl`: too long","violations":[{"pointer":"/ttl","detail":"too long"}]}"#)
        == "Not valid: `ttl`: too long")
    #expect(
      told(
        #"{"title":"Not valid","detail":"2 faults; see `violations`","#
          + #""violations":[{"pointer":"/ttl","detail":"too long"},{"pointer":"/to","detail":"missing"}]}"#)
        == "Not valid: 2 faults:\n  `ttl`: too long\n  `to`: missing")
    #expect(
      told(#"{"title":"There is no such thing","code":"not_found","detail":"There is no such draft"}"#)
        == "There is no such draft")
    // What the sentence does not say is not lost.
    #expect(
      told(#"{"title":"Not valid","violations":[{"pointer":"/ttl","detail":"too long"}]}"#)
        == "Not valid\n  `ttl`: too long")
  }
}
