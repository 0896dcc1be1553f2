import Domain
import Loop
import Store
import Testing

@testable import Delivery

@Suite("Members that change while their message runs")
struct ChangedMembersTests {
  private static let count = 400

  private static func phone(_ number: Int) -> DeviceID { DeviceID(rawValue: "d\(number)") }

  /// Numbers of devices.
  private struct Chosen {
    let deleted, robbed, disabled, moved, retagged: Int

    /// The last ones of the partition that has begun: it is long before their turn.
    init(_ post: Post, beside begun: String) throws {
      func partition(_ number: Int) -> Int { post.store.session.partition(of: phone(number), in: Post.app) }
      let number = try #require(Int(begun.dropFirst()))
      let last = (0..<count).filter { partition($0) == partition(number) }.suffix(5).map { $0 }
      (deleted, robbed, disabled, moved, retagged) = (last[0], last[1], last[2], last[3], last[4])
    }
  }

  @Test("deleted, robbed of its token, disabled, retagged, with another token: each ends as it is when its turn comes")
  func changed() async throws {
    try await withPost { post in
      let responder = try Responder(post.loop)
      try await post.register(Self.count)
      var settings = Post.settings()
      settings.claim.room = 20
      settings.claim.membersAtOnce = 10
      responder.reply = { _, _ in .barrier }
      let worker = try post.work([post.account(responder)], settings)
      let id = try await post.sendToAll(PlainMessage(title: "x"), Self.count)
      // A tenth of the room is left for urgent sends.
      try await post.until("the room is full") { responder.total == 18 }
      let chosen = try Chosen(post, beside: responder.pushes[0].token)
      try await Self.change(chosen, post)
      responder.reply = { _, _ in .status(200) }
      responder.release()

      // Who came late may be in it: partitions that had not begun yet looked later.
      try await post.until("the end") { try await post.report(id).state == .completed }
      let rows = try await post.deliveries(id).filter { !$0.device.rawValue.hasPrefix("late") }
      #expect(rows.count == Self.count)
      var ends: [String: String] = [:]
      for row in rows { ends[row.device.rawValue] = "\(row.state) \(row.reason ?? "")" }
      #expect(ends.removeValue(forKey: "") == "skipped device_deleted")
      #expect(ends.removeValue(forKey: "d\(chosen.robbed)") == "skipped moved")
      #expect(ends.removeValue(forKey: "d\(chosen.disabled)") == "skipped device_disabled")
      #expect(ends.count == Self.count - 3 && ends.values.allSatisfy { $0 == "accepted " })

      let got = responder.accepted.map(\.token).filter { !$0.hasPrefix("late") }.sorted()
      let others = [chosen.deleted, chosen.robbed, chosen.disabled, chosen.moved]
      let same = (0..<Self.count).filter { !others.contains($0) }.map { "t\($0)" }
      #expect(got.filter { $0 != "t\(chosen.robbed)" } == (same + ["another"]).sorted(), "each once")
      let report = try await post.report(id)
      #expect(report.counts.values.reduce(0, +) == report.total)
      #expect(worker.senders.values.allSatisfy { $0.usage.barriers == 0 })
      await post.finish(worker)
    }
  }

  private static func change(_ chosen: Chosen, _ post: Post) async throws {
    #expect(try await post.store.devices.removeDevice(phone(chosen.deleted), app: Post.app))
    var off = try #require(try await post.store.devices.device(phone(chosen.disabled), app: Post.app)).device
    off.enabled = false
    _ = try await post.store.devices.put(off, app: Post.app)
    var other = try #require(try await post.store.devices.device(phone(chosen.moved), app: Post.app)).device
    other.address.token = "another"
    _ = try await post.store.devices.put(other, app: Post.app)
    _ = try await post.store.devices.changeTags(of: phone(chosen.retagged), TagChange(add: ["churned"]), app: Post.app)
    // The last of those that come late takes the token of one that the message is aimed at.
    for token in ["late0", "late1", "t\(chosen.robbed)"] {
      let late = Device(
        id: DeviceID(rawValue: "late \(token)"), address: Address(provider: .apns, token: token),
        registeredAt: post.loop.wallNow)
      _ = try await post.store.devices.put(late, app: Post.app)
    }
  }
}
