import Domain
import Testing

@testable import Sandbox

@Suite struct RequestLogTests {
  private func entry(_ log: inout RequestLog, token: String, id: String, body: String = "{}") -> LogEntry {
    let (kept, digest) = log.digest(Array(body.utf8))
    return LogEntry(
      time: WallTime(milliseconds: 1), provider: .apns, connection: 1, request: 1, token: token, id: id, topic: "t",
      bodySize: body.utf8.count, bodyDigest: digest, body: kept, status: 200, reason: "", name: "", fault: nil,
      accepted: true)
  }

  @Test("the log keeps the newest, in order, under numbers that go on")
  func ring() {
    var log = RequestLog(capacity: 3)
    for number in 1...5 { log.append(entry(&log, token: "t\(number)", id: "")) }
    #expect(log.entries().map(\.number) == [3, 4, 5])
    #expect(log.entries(after: 3, limit: 1).map(\.token) == ["t4"])
    #expect(log.entries(after: 9).isEmpty)
    #expect(log[2] == nil)
    #expect(log[5]?.token == "t5")
    log.removeAll()
    #expect(log.isEmpty)
    #expect(log.append(entry(&log, token: "t6", id: "")).number == 6)
    #expect(log.first == 6)
  }

  @Test("a repeated delivery is a duplicate until the first one leaves the log")
  func duplicates() {
    var log = RequestLog(capacity: 2)
    #expect(!log.append(entry(&log, token: "a", id: "1")).duplicate)
    #expect(log.append(entry(&log, token: "a", id: "1")).duplicate)
    #expect(!log.append(entry(&log, token: "a", id: "2")).duplicate)
    #expect(!log.append(entry(&log, token: "b", id: "1")).duplicate)
    // Without an id nobody can tell.
    #expect(!log.append(entry(&log, token: "b", id: "")).duplicate)
    #expect(!log.append(entry(&log, token: "b", id: "")).duplicate)
    #expect(!log.append(entry(&log, token: "a", id: "1")).duplicate)
  }

  @Test("bodies go when their budget is used up; digests stay")
  func bodies() {
    var log = RequestLog(capacity: 100, keepBodiesUpTo: 20, bodyBudget: 50)
    for number in 10..<30 { log.append(entry(&log, token: "t", id: "\(number)", body: "{\"number\":\(number)}")) }
    let entries = log.entries()
    #expect(entries.last?.body != nil)
    #expect(entries.first?.body == nil)
    #expect(entries.compactMap(\.body).reduce(0) { $0 + $1.count } <= 50)
    #expect(Set(entries.map(\.bodyDigest)).count == 20)
    log.append(entry(&log, token: "t", id: "x", body: String(repeating: "x", count: 21)))
    #expect(log[log.last]?.body == nil)
    #expect(
      BodyDigest(Array(repeating: 0xab, count: 32)).hex == String(repeating: "ab", count: 32))
  }
}
