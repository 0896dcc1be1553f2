import Domain
import HTTP2
import Loop
import Store
import Support
import Testing

@testable import Delivery

@Suite(
  "Direct sends wait in batches, until two of them meet at one token", .serialized,
  .timeLimit(.minutes(6 * Sanitizer.slowness)))
struct MeetingTests {
  /// A responder that takes so many requests at a time.
  private func narrow(_ post: Post, _ streams: Int) throws -> Responder {
    var settings = HTTP2ServerSettings()
    settings.maximumConcurrentStreams = streams
    return try Responder(post.loop, settings: settings)
  }

  /// One connection, which "block" keeps busy until it is answered.
  private func block(_ post: Post, _ responder: Responder) async throws -> Worker {
    responder.reply = { push, nth in push.title == "block" && nth == 1 ? .barrier : .status(200) }
    var settings = Post.settings()
    settings.connectionsPerCredential = 1
    let worker = try post.work([post.account(responder)], settings)
    _ = try await post.send("block", to: ["z"])
    try await post.until("the blocking request") { responder.total == 1 }
    return worker
  }

  private func rests(_ worker: Worker) -> [Int] {
    let keeper = worker.laneKeeper
    return [keeper.index.count, keeper.index.tokens.count, keeper.lanes.count, keeper.lanes.barriers]
      + worker.senders.values.flatMap { [$0.usage.inMemory, $0.usage.barriers, $0.usage.atWork] }
  }

  @Test("who waits alone has no lane; a second one to the token shares one with it, in order")
  func waiting() async throws {
    try await withPost { post in
      let responder = try narrow(post, 1)
      let worker = try await block(post, responder)
      let first = try await post.send("first", to: ["a"])
      try await post.until("it waits") { worker.laneKeeper.index.count == 2 }
      #expect(worker.laneKeeper.lanes.count == 0)
      let second = try await post.send("second", to: ["a"])
      try await post.until("they meet") { worker.laneKeeper.lanes.count == 1 }
      #expect(worker.laneKeeper.index.count == 1)
      responder.release()
      for id in [first, second] { #expect(try await post.done(id) == [.accepted: 1]) }
      #expect(responder.accepted.map(\.title) == ["block", "first", "second"])
      #expect(try await post.deliveries(first)[0].attempts.count == 1)
      try await post.until("nothing is left") { rests(worker).allSatisfy { $0 == 0 } }
      await post.finish(worker)
    }
  }

  @Test("who waits in a batch is superseded by a newer one with its collapse key, and by no other")
  func superseded() async throws {
    try await withPost { post in
      let responder = try narrow(post, 1)
      let worker = try await block(post, responder)
      let old = try await post.send(PlainMessage(title: "old", collapseKey: "k"), to: ["a"])
      let other = try await post.send(PlainMessage(title: "other", collapseKey: "l"), to: ["a"])
      let new = try await post.send(PlainMessage(title: "new", collapseKey: "k"), to: ["a"])
      #expect(try await post.done(old) == [.superseded: 1])
      responder.release()
      for id in [other, new] { #expect(try await post.done(id) == [.accepted: 1]) }
      #expect(responder.accepted.map(\.title) == ["block", "other", "new"])
      await post.finish(worker)
    }
  }

  @Test("whoever comes while one is at work waits for its answer, or for its retry", arguments: [200, 503, 429, 0])
  func atWork(status: Int) async throws {
    try await withPost { post in
      let responder = try Responder(post.loop)
      responder.reply = { push, nth in
        guard push.title == "first", nth == 1 else { return .status(200) }
        return status == 0 ? .reset(7) : .barrier
      }
      let worker = try post.work([post.account(responder)])
      let first = try await post.send("first", to: ["a"])
      try await post.until("the first request") { responder.total > 0 }
      let second = try await post.send("second", to: ["a"])
      if status != 0 {
        try await post.until("they meet") { worker.laneKeeper.lanes.count == 1 }
        #expect(responder.total == 1)
        responder.release(status: status)
      }
      for id in [first, second] { #expect(try await post.done(id) == [.accepted: 1]) }
      #expect(responder.accepted.map(\.title) == ["first", "second"])
      try await post.until("nothing is left") { rests(worker).allSatisfy { $0 == 0 } }
      await post.finish(worker)
    }
  }

  @Test(
    "a member of an audience whose token has a direct send waiting goes behind it or beside it, and neither is lost")
  func member() async throws {
    try await withPost { post in
      let responder = try narrow(post, 1)
      try await post.register(1)
      let worker = try await block(post, responder)
      let direct = try await post.send("direct", to: ["t0"])
      try await post.until("it waits") { worker.laneKeeper.index.count == 2 }
      let all = try await post.sendToAll(PlainMessage(title: "all"), 1)
      try await post.until("the member's batch") { worker.senders.values.contains { $0.usage.inMemory == 3 } }
      responder.release()
      for id in [direct, all] { #expect(try await post.done(id) == [.accepted: 1]) }
      try await post.until("nothing is left") { rests(worker).allSatisfy { $0 == 0 } }
      await post.finish(worker)
    }
  }

  @Test("a token of the same text at another provider, which has no answer for it, is another token")
  func otherProvider() async throws {
    try await withPost { post in
      let (silent, lively) = (try Responder(post.loop), try Responder(post.loop))
      silent.reply = { _, _ in .silence }
      let worker = try post.work([post.account(silent, .apns), post.account(lively, .fcm)])
      _ = try await post.send("silence", to: ["a"], .apns)
      try await post.until("its request") { silent.total == 1 }
      let id = try await post.send("heard", to: ["a"], .fcm)
      #expect(try await post.done(id) == [.accepted: 1])
      #expect(worker.laneKeeper.lanes.count == 0)
      await post.finish(worker)
    }
  }

  @Test("a message is cancelled, or paused and resumed, while it waits in its batch")
  func controlled() async throws {
    try await withPost { post in
      let responder = try narrow(post, 1)
      let worker = try await block(post, responder)
      let cancelled = try await post.send("cancelled", to: tokens(5, "c"))
      let paused = try await post.send("paused", to: tokens(5, "p"), .apns)
      try await post.until("they wait") { worker.laneKeeper.index.count == 11 }
      _ = try await post.store.control.change(cancelled, app: Post.app, .cancelled)
      _ = try await post.store.control.change(paused, app: Post.app, .paused)
      #expect(try await post.done(cancelled) == [.cancelled: 5])
      try await post.until("the pause") { worker.laneKeeper.index.count == 1 }
      responder.release()
      try await post.until("nothing is left: \(rests(worker))") { rests(worker).allSatisfy { $0 == 0 } }
      #expect(responder.total == 1)
      _ = try await post.store.control.change(paused, app: Post.app, .running)
      #expect(try await post.done(paused) == [.accepted: 5])
      #expect(responder.accepted.count == 6)
      await post.finish(worker)
    }
  }

  @Test(
    "over random sends, answers, GOAWAYs, pauses and cancels: one at a time, in order, nobody lost or doubled",
    arguments: 1...6)
  func anySchedule(seed: Int) async throws {
    var settings = Post.quick()
    // A lease that is lost on a slow machine doubles what was at work.
    settings.leaseMilliseconds = 60_000
    try await withPost(settings: settings) { post in
      var schedule = Schedule(post, try narrow(post, 3), seed: UInt64(seed))
      let worker = try post.work([post.account(schedule.responder)])
      var most = (waiting: 0, lanes: 0)
      for _ in 0..<150 {
        try await schedule.step()
        most = (max(most.waiting, worker.laneKeeper.index.count), max(most.lanes, worker.laneKeeper.lanes.count))
      }
      try await schedule.end()
      #expect(most.waiting > 1 && most.lanes > 0, "seed \(seed) shows nothing: \(most)")
      try await post.until("nothing is left: \(rests(worker))") { rests(worker).allSatisfy { $0 == 0 } }
      await post.finish(worker)
    }
  }
}

/// Random sends to few tokens, and what a simple model of order expects of them.
private struct Schedule {
  private struct Sent {
    var id: MessageID
    var number: Int
    var tokens: [String]
    var message: PlainMessage
    var isCancelled = false
    /// It may be passed: paused ones hold up nobody, and parts of a list reach their partitions when they can.
    var mayBePassed: Bool
  }
  let post: Post
  let responder: Responder
  private let comment: Comment
  private var random: Seeded
  private var sent: [Sent] = []
  private let faults: Faults

  /// What the responder does; tokens with a request that was not answered.
  private final class Faults {
    var random: Seeded
    var isOver = false
    var open: Set<String> = []
    var doubled: [String] = []
    init(_ random: Seeded) { self.random = random }

    func reply(_ push: Responder.Push, _ nth: Int) -> Responder.Reply {
      if open.contains(push.token) { doubled.append("\(push.title) to \(push.token)") }
      guard !isOver, nth <= 3 else { return .status(200) }
      switch Int.random(in: 0..<100, using: &random) {
      case 0..<25:
        open.insert(push.token)
        return .barrier
      case 25..<35: return .status(429)
      case 35..<38: return .status(503)
      case 38..<41: return .reset(7)
      case 41..<43 where open.isEmpty: return .goaway
      default: return .status(200)
      }
    }
  }

  init(_ post: Post, _ responder: Responder, seed: UInt64) {
    self.post = post
    self.responder = responder
    random = Seeded(seed: seed)
    comment = "seed \(seed)"
    let faults = Faults(Seeded(seed: seed &+ 1_000))
    self.faults = faults
    responder.reply = faults.reply
  }

  mutating func step() async throws {
    switch Int.random(in: 0..<20, using: &random) {
    case 0..<10: try await send(1)
    case 10..<12: try await send(Int.random(in: 2...6, using: &random))
    case 12..<14: answer(Bool.random(using: &random) ? 200 : 429)
    case 14: try await control(.cancelled)
    case 15: try await control(.paused)
    case 16: try await control(.running)
    default: await post.loop.sleep(milliseconds: .random(in: 0...4, using: &random))
    }
  }

  private mutating func send(_ count: Int) async throws {
    let number = sent.count
    var message = PlainMessage(title: "\(number)")
    message.ordered = Int.random(in: 0..<4, using: &random) > 0
    if count == 1, Int.random(in: 0..<3, using: &random) == 0 {
      message.collapseKey = ["k", "l"].randomElement(using: &random)
    }
    let tokens = (0..<count).map { _ in "t\(Int.random(in: 0..<10, using: &random))" }
    let id = try await post.send(message, to: tokens)
    sent.append(
      Sent(id: id, number: number, tokens: tokens, message: message, mayBePassed: count > 1 || !message.ordered))
  }

  private mutating func control(_ word: Control.Word) async throws {
    guard let place = sent.indices.suffix(8).randomElement(using: &random), !sent[place].isCancelled else { return }
    _ = try await post.store.control.change(sent[place].id, app: Post.app, word)
    if word == .cancelled { sent[place].isCancelled = true }
    if word == .paused { sent[place].mayBePassed = true }
  }

  private func answer(_ status: Int) {
    faults.open = []
    responder.release(status: status)
  }

  /// All comes to its end, and is looked at.
  mutating func end() async throws {
    faults.isOver = true
    for one in sent where !one.isCancelled {
      _ = try await post.store.control.change(one.id, app: Post.app, .running)
    }
    answer(200)
    for one in sent {
      let outcomes = try await post.done(one.id)
      let pushed = responder.accepted.count { $0.title == "\(one.number)" }
      #expect(outcomes[.accepted, default: 0] == pushed, "\(comment), \(one.number): \(outcomes)")
      #expect(Set(outcomes.keys).isSubset(of: [.accepted, .superseded, .cancelled]), comment)
      if !one.isCancelled { #expect(outcomes[.cancelled] == nil, comment) }
      if outcomes[.superseded] != nil {
        let newer = sent.contains {
          $0.number > one.number && $0.tokens == one.tokens && $0.message.collapseKey == one.message.collapseKey
        }
        #expect(one.message.collapseKey != nil && newer, "\(comment), \(one.number) was superseded by none")
      }
    }
    #expect(faults.doubled.isEmpty, "\(comment): at work twice: \(faults.doubled)")
    for token in Set(sent.flatMap(\.tokens)) {
      let numbers = responder.accepted.filter { $0.token == token }.compactMap { Int($0.title) }
      let ordered = numbers.filter { !sent[$0].mayBePassed }
      #expect(ordered == ordered.sorted(), "\(comment), \(token)")
    }
  }
}
