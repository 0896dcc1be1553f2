import CommandFrame
import Domain
import GatewayClient
import Glibc
import HTTPClient
import JSON
import Loop
import Sandbox

/// Drives a gateway over its HTTP API as a client would: registers, sends, waits, reads the record.
struct Campaign {
  let loop: EventLoop
  let gateway: Client
  let sandbox: Client

  struct Failure: Error { let reason: String }

  private static let parallel = 32
  private static let pageSize = 500

  /// Runs `body` for every item, a few at a time.
  private func each<Item: Sendable>(
    _ items: [Item], _ title: String, _ body: @escaping (Item) async throws -> Void
  ) async throws {
    let queue = WorkQueue(items)
    var bar = ProgressBar(title)
    let start = loop.now
    var helpers: [Task<Void, Never>] = []
    for _ in 0..<min(Self.parallel, items.count) {
      helpers.append(
        loop.spawn {
          while let item = queue.next() {
            do { try await body(item) } catch { return queue.fail(error) }
            queue.done += 1
          }
        })
    }
    while queue.done < items.count, queue.failure == nil {
      bar.draw(queue.done, of: items.count)
      await loop.sleep(milliseconds: 50)
    }
    for helper in helpers { await helper.value }
    if let failure = queue.failure { throw failure }
    bar.end("\(items.count) in \(Self.seconds(loop.now - start))")
  }

  /// As a client does that was told to come back: a machine that is busy with other things makes Redis slow.
  private func patiently(_ call: () async throws -> Client.Answer) async throws -> Client.Answer {
    for _ in 0..<Self.repeats {
      let answer = try await call()
      if answer.status != 503 { return answer }
      await loop.sleep(milliseconds: 1_000)
    }
    return try await call()
  }
  private static let repeats = 30

  static func seconds(_ milliseconds: Int64) -> String { "\(milliseconds / 1_000).\(milliseconds % 1_000 / 100) s" }

  func register(_ members: [Population.Member]) async throws {
    try await each(members, "registering") { member in
      let answer = try await patiently {
        try await gateway.call("PUT", "/v1/devices/\(member.id)", Population.registration(member))
      }
      guard answer.isSuccess else { throw Failure(reason: "device \(member.id) was refused: \(answer.problem)") }
    }
  }

  func script(_ rules: [UInt8]) async throws {
    let answer = try await sandbox.call("PUT", "/rules", rules)
    guard answer.isSuccess else {
      throw Failure(reason: "the sandbox refused the rules: \(String(decoding: answer.body, as: UTF8.self))")
    }
  }

  /// One message for each group of devices; their ids.
  func send(_ groups: [[String]]) async throws -> [String] {
    let ids = Gathered<String>()
    try await each(Array(groups.enumerated()), "sending") { group in
      var writer = JSONWriter()
      writer.beginObject()
      writer.key("to")
      writer.beginObject()
      writer.key("devices")
      writer.beginArray()
      for id in group.element { writer.string(id) }
      writer.endArray()
      writer.endObject()
      writer.key("notification")
      writer.beginObject()
      writer.member("title", "Order \(group.offset)")
      writer.member("body", "Your parcel is on its way")
      writer.endObject()
      writer.endObject()
      let key = Header("idempotency-key", "demo-\(group.offset)")
      let body = writer.bytes
      let answer = try await patiently { try await gateway.call("POST", "/v1/messages", body, headers: [key]) }
      guard answer.isSuccess, let id = answer.document?["id"]?.string else {
        throw Failure(reason: "message \(group.offset) was refused: \(answer.problem)")
      }
      ids.items.append(id)
    }
    return ids.items
  }

  /// Until every delivery has ended. Throws with what is left once none has ended for `timeout` milliseconds.
  func finish(_ ids: [String], total: Int, timeout: Int64) async throws -> Int64 {
    var bar = ProgressBar("delivering")
    let start = loop.now
    var (last, moved) = (0, start)
    var open = ids
    var counts: [String: MessageCounts] = [:]
    while true {
      for id in open {
        let answer = try await gateway.call("GET", "/v1/messages/\(id)")
        guard answer.isSuccess, let report = answer.document else {
          throw Failure(reason: "message \(id) cannot be read: \(answer.problem)")
        }
        counts[id] = MessageCounts(report)
        if report["state"]?.string == "completed" { open.removeAll { $0 == id } }
      }
      let done = counts.values.reduce(0) { $0 + $1.outcomes.values.reduce(0, +) }
      let dead = counts.values.reduce(0) { $0 + $1.outcomes["dead", default: 0] }
      bar.draw(done, of: total, "\(dead) dead")
      if open.isEmpty {
        let time = loop.now - start
        bar.end("\(done) in \(Self.seconds(time))")
        return time
      }
      if done > last { (last, moved) = (done, loop.now) }
      guard loop.now - moved < timeout else {
        bar.end("\(done) of \(total)")
        throw Failure(
          reason: "\(total - done) deliveries have not ended, and none has for \(timeout / 1_000) s")
      }
      await loop.sleep(milliseconds: 100)
    }
  }

  /// The gateway's record of all deliveries.
  func record(_ ids: [String]) async throws -> [Recorded] {
    let gathered = Gathered<Recorded>()
    try await each(ids, "reading") { id in
      var cursor: String?
      repeat {
        let page = "/v1/messages/\(id)/deliveries?limit=\(Self.pageSize)" + (cursor.map { "&cursor=\($0)" } ?? "")
        let answer = try await gateway.call("GET", page)
        guard answer.isSuccess, let document = answer.document else {
          throw Failure(reason: "deliveries of \(id) cannot be read: \(answer.problem)")
        }
        for item in document["items"]?.array ?? [] {
          gathered.items.append(
            Recorded(
              message: id, device: item["device"]?.string ?? "", state: item["state"]?.string ?? "",
              reason: item["reason"]?.string, providerID: item["provider_id"]?.string,
              statuses: (item["attempts"]?.array ?? []).map { Int($0["http_status"]?.integer ?? 0) }))
        }
        cursor = document["next_cursor"]?.string
      } while cursor != nil
    }
    return gathered.items
  }

  /// The sandbox's own log, without the OAuth requests.
  func log() async throws -> [Received] {
    var received: [Received] = []
    try await eachEntry { entry in
      let provider = entry["provider"]?.string ?? ""
      let id = entry["id"]?.string ?? ""
      received.append(
        Received(
          provider: provider, token: entry["token"]?.string ?? "", status: Int(entry["status"]?.integer ?? 0),
          accepted: entry["accepted"]?.bool ?? false,
          name: provider == "apns" ? id : entry["name"]?.string ?? ""))
    }
    return received
  }

  /// Every entry of the sandbox's log, oldest first, without the OAuth requests.
  func eachEntry(_ body: (JSONValue) -> Void) async throws {
    var after: Int64 = 0
    while true {
      let answer = try await sandbox.call("GET", "/log?after=\(after)&limit=5000")
      guard answer.isSuccess else { throw Failure(reason: "the sandbox's log cannot be read") }
      var count = 0
      for line in answer.body.split(separator: 0x0a) {
        count += 1
        let entry = try JSON.parse(Array(line))
        after = entry["number"]?.integer ?? after
        if entry["provider"]?.string != "oauth" { body(entry) }
      }
      if count == 0 { return }
    }
  }

  func statistics() async throws -> JSONValue {
    let answer = try await sandbox.call("GET", "/stats")
    guard answer.isSuccess, let document = answer.document else {
      throw Failure(reason: "the sandbox's statistics cannot be read")
    }
    return document
  }

  /// How often the sandbox has really played a fault, over all vendors.
  func played(_ kind: FaultKind) async throws -> Int {
    let vendors = try await statistics().object ?? []
    return Int(vendors.reduce(0) { $0 + ($1.value["faults"]?[kind.rawValue]?.integer ?? 0) })
  }

  /// Members whose device is pruned although it should not be, or the reverse.
  func wronglyPruned(_ members: [Population.Member]) async throws -> [String] {
    let wrong = Gathered<String>()
    try await each(members, "checking") { member in
      let answer = try await gateway.call("GET", "/v1/devices/\(member.id)")
      guard answer.isSuccess, let device = answer.document else {
        throw Failure(reason: "device \(member.id) cannot be read: \(answer.problem)")
      }
      let tombstone = device["tombstone"]
      let pruned = tombstone != nil && tombstone != .null
      if pruned != (member.route == .dying) {
        wrong.items.append("\(member.id) (\(member.route)): \(pruned ? "pruned" : "not pruned")")
      }
    }
    return wrong.items
  }
}

/// Shared by tasks of one loop.
private final class WorkQueue<Item> {
  private var rest: ArraySlice<Item>
  var done = 0
  private(set) var failure: (any Error)?
  init(_ items: [Item]) { rest = items[...] }
  func next() -> Item? { failure == nil ? rest.popFirst() : nil }
  func fail(_ error: any Error) { failure = failure ?? error }
}

private final class Gathered<Item> { var items: [Item] = [] }
