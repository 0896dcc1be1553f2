import Domain
import Foundation
import JSON
import Support
import Testing

/// An operator at work: settings that change under a running gateway, and the commands that tell and decide.
private final class Operator {
  let world: World
  let gateway: Gateway
  private var reloads = 0

  /// It sends more often to few devices than OneSignal's rule would have it.
  private static let quotas =
    "quotas: { fcm: { per_minute: 0 }, onesignal: { per_minute: 0, times_subscribers: 0 } },"

  init() async throws {
    world = try await World(more: Self.quotas)
    gateway = try await world.gateway()
  }

  /// Registers devices, each alive, and reaches them once: from here on the vendors know where each token belongs.
  func register(_ tokens: [(provider: String, token: String)]) async throws {
    for (number, one) in tokens.enumerated() {
      let answer = try await gateway.client.put(
        "/v1/devices/d\(number)", #"{"provider":"\#(one.provider)","token":"\#(one.token)"}"#)
      #expect((200..<300).contains(answer.status), "\(answer.text)")
    }
    #expect(try await states(of: try await sendToAll("Hello")) == ["accepted": tokens.count])
  }

  func sendToAll(_ text: String) async throws -> String {
    try await gateway.send(#"{"to":{"everyone":true},"kind":"alert","notification":{"body":"\#(text)"}}"#)
  }

  func states(of id: String) async throws -> [String: Int] {
    _ = try await gateway.completed(id)
    return try await gateway.deliveries(id).reduce(into: [:]) { $0[$1["state"]?.string ?? "", default: 0] += 1 }
  }

  /// Replaces parts of the credentials' settings, and has the running gateway take them.
  func set(_ changes: [(of: String, to: String)]) async throws {
    try world.configure(more: Self.quotas) { sandbox, folder in
      changes.reduce(World.usualCredentials(sandbox, folder)) { $0.replacing($1.of, with: $1.to) }
    }
    reloads += 1
    gateway.process.signal(SIGHUP)
    try await gateway.until("the reload") { [reloads] in
      $0.process.text.components(separatedBy: "event=configuration_reloaded").count > reloads
    }
  }

  /// A command that asks the running gateway, or its store.
  func run(_ words: String...) async throws -> (code: Int32, text: String) {
    let process = try ChildProcess(
      World.program, words,
      environment: [
        "FANFARE_URL": gateway.client.base, "FANFARE_KEY": gateway.client.key ?? "",
        "FANFARE_CONFIG": world.directory.file("fanfare.json5").path,
      ])
    return (await process.waitForExit(), process.text)
  }

  /// Devices that count as members of everyone.
  func living() async throws -> Int64? {
    try await gateway.client.post("/v1/audiences/count", #"{"everyone":true}"#).json["total"]?.integer
  }
}

extension Journeys {
  @Test(
    "a wrong environment: prunes are held, told, reviewed and discarded by the operator; true ones applied, and undone")
  func operatorsBrake() async throws {
    let desk = try await Operator()
    let (gateway, sandbox, devices) = (desk.gateway, desk.world.sandbox, 60)
    try await desk.register((0..<devices).map { ("apns", Tokens.apns($0)) })
    #expect(try await desk.run("status").code == 0)

    // The key and its tokens are right; the address is that of the other environment.
    try await desk.set([("localhost:\(sandbox.ports.apns)", "localhost:\(sandbox.ports.development)")])
    let wrong = try await desk.sendToAll("Where are you?")
    #expect(try await desk.states(of: wrong) == ["dead": devices])
    #expect(try await desk.living() == Int64(devices))
    try await gateway.until("the brake") { try await $0.client.get("/readyz").text.contains("prunes_held") }
    try await gateway.until("all prunes held") {
      try await $0.client.get("/v1/prunes").json["items"]?.array?.contains { $0["held"]?.integer == Int64(devices) }
        == true
    }
    try await gateway.until("the figures") {
      try await $0.client.get("/readyz").text.contains("\(devices) of \(devices) tokens were called dead (100.0 %")
    }
    #expect(try await gateway.metric("fanfare_prune_brakes_on") == 1)
    #expect(try await gateway.metric("fanfare_prunes_held") == devices)

    let status = try await desk.run("status")
    #expect(status.code == 1 && status.text.contains("prune brake of shop/ios:production on since"), "\(status.text)")
    #expect(status.text.contains("\(devices) prunes wait"), "\(status.text)")
    let review = try await desk.run("devices", "prunes", "review")
    #expect(review.code == 0 && review.text.contains("\(devices) prunes held"), "\(review.text)")
    #expect(review.text.contains("BadDeviceToken") && review.text.contains(wrong), "\(review.text)")
    #expect(try await desk.run("devices", "prunes", "apply").code == 2)
    let unknown = try await desk.run("devices", "prunes", "discard", "--credential", "iso")
    #expect(unknown.code == 5 && unknown.text.contains("ios:production"), "\(unknown.text)")

    try await desk.set([])
    let discarded = try await desk.run("devices", "prunes", "discard", "--credential", "ios:production")
    #expect(discarded.code == 0 && discarded.text.contains("\(devices) prunes discarded; no device was pruned"))
    #expect(discarded.text.contains("the prune brake is off"), "\(discarded.text)")
    #expect(try await desk.states(of: try await desk.sendToAll("There you are")) == ["accepted": devices])
    try await gateway.until("readiness") { try await $0.client.get("/readyz").json["status"]?.string == "ready" }

    // Now they are really gone: some are pruned before so many look strange, the others wait.
    try await sandbox.play(
      #"[{"provider":"apns","status":410,"reason":"Unregistered","timestamp":4102444800000}]"#)
    let last = try await desk.sendToAll("Anybody there?")
    #expect(try await desk.states(of: last) == ["dead": devices])
    try await gateway.until("every prune done or held") {
      let held = try await $0.client.get("/v1/prunes?credential=ios:production").json["items"]?.array?.first
      return try await Int64(devices) == (held?["held"]?.integer ?? 0) + Int64(devices) - (desk.living() ?? 0)
    }
    let before = try #require(try await desk.living())
    #expect(before > 0 && before < Int64(devices), "\(before) of \(devices)")
    let applied = try await gateway.client.post("/v1/prunes/apply?credential=ios:production", "")
    #expect(applied.status == 200 && applied.json["pruned"]?.integer == before, "\(applied.text)")
    #expect(applied.json["brake_released"]?.bool == true)
    #expect(try await desk.living() == 0)

    // Or so it seemed.
    try await sandbox.play("[]")
    let undone = try await desk.run("devices", "prunes", "undo", "--message", last)
    #expect(undone.code == 0 && undone.text.contains("reactivated \(devices) devices;"), "\(undone.text)")
    #expect(try await desk.living() == Int64(devices))
    #expect(try await desk.states(of: try await desk.sendToAll("Welcome back")) == ["accepted": devices])
  }

  @Test(
    "wrong settings of every kind, against vendors that check them: not one token is pruned, and all is mended by a reload"
  )
  func wrongSettings() async throws {
    let desk = try await Operator()
    let sandbox = desk.world.sandbox
    let each = 12
    try await desk.register(
      (0..<each).flatMap { number in
        [("apns", Tokens.apns(number)), ("fcm", Tokens.fcm(number)), ("onesignal", Tokens.oneSignal(number))]
      })
    // A service account of another project; all else is as it was.
    let folder = desk.world.directory.file("sandbox")
    let account = try String(contentsOf: folder.appending(path: "service-account.json"), encoding: .utf8)
    let other = folder.appending(path: "other-project.json")
    try account.replacing("demo-app\"", with: "other-app\"").write(to: other, atomically: true, encoding: .utf8)
    let wrongKey = folder.appending(path: "wrong.key")
    try "os_v2_app_wrong\n".write(to: wrongKey, atomically: true, encoding: .utf8)
    for file in [other, wrongKey] {
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    }
    let accidents: [(name: String, provider: String, changes: [(of: String, to: String)])] = [
      ("another team's key", "apns", [("apns-key.p8", "apns-other-team-key.p8")]),
      ("another team", "apns", [(sandbox.facts.teamID, "FANFARE002")]),
      (
        "the other environment", "apns", [("localhost:\(sandbox.ports.apns)", "localhost:\(sandbox.ports.development)")]
      ),
      ("another topic", "apns", [("topic: \"\(sandbox.facts.topic)\"", "topic: \"com.example.wrong\"")]),
      ("another project", "fcm", [("service-account.json", "other-project.json")]),
      ("another app", "onesignal", [(sandbox.facts.appID, "00000000-1a58-489e-b136-7c74a864b434")]),
      ("another app's key", "onesignal", [("onesignal.key", "wrong.key")]),
    ]
    for accident in accidents {
      try await desk.set(accident.changes)
      try await sandbox.forget()
      let id = try await desk.sendToAll(accident.name)
      // The other providers' are reached, and its own have ended, or wait for the operator.
      try await desk.gateway.until("\(accident.name): the end, or a block") { gateway in
        let states = try await gateway.deliveries(id).map {
          ($0["provider"]?.string ?? "", $0["state"]?.string ?? "")
        }
        return states.count == 3 * each
          && states.allSatisfy { provider, state in
            provider == accident.provider
              ? ["blocked", "dead", "failed"].contains(state) || states.contains { $0.1 == "blocked" }
              : state == "accepted"
          }
      }
      let received = try await sandbox.log().filter { $0.provider == accident.provider }
      #expect(!received.isEmpty && received.allSatisfy { !$0.accepted && $0.fault == nil }, "\(accident.name)")
      #expect(try await desk.living() == Int64(3 * each), "\(accident.name)")

      try await desk.set([])
      _ = try await desk.gateway.completed(id)
      #expect(try await desk.living() == Int64(3 * each), "\(accident.name)")
      // A brake that went on is the operator's to take off.
      for prunes in try await desk.gateway.client.get("/v1/prunes").json["items"]?.array ?? []
      where prunes["brake"] != nil && prunes["brake"] != .null {
        let name = prunes["credential"]?.string ?? ""
        #expect(try await desk.run("devices", "prunes", "discard", "--credential", name).code == 0)
      }
      let mended = try await desk.sendToAll("\(accident.name), mended")
      #expect(try await desk.states(of: mended) == ["accepted": 3 * each], "\(accident.name)")
    }
    #expect(try await desk.gateway.metric("fanfare_pruned_total") == 0)
  }
}
