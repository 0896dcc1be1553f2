import Domain
import Foundation
import JSON
import Support
import Testing

/// What a drive found, and how far it came.
struct DriveResult {
  var requests = 0
  var statuses: [Int: Int] = [:]
  var driven: Set<String> = []
  var faults: [String] = []
  var longest = (seconds: 0.0, request: "")
}

/// Random requests to every route of the running program, judged by what it says of itself.
final class Drive {
  private let gateway: Gateway
  private var maker: RequestMaker
  private var chance: Seeded
  private(set) var result = DriveResult()
  /// Seconds that an answer may take on a machine that does much else.
  private static let longestAnswer = 20.0 * Double(Sanitizer.slowness)
  private static let mostFaults = 10

  init(_ gateway: Gateway, seed: UInt64) async throws {
    self.gateway = gateway
    chance = Seeded(seed: seed)
    let described = try await gateway.client.get("/openapi.json").json
    let bodies = DrivenBody(schemas: described["components"]?["schemas"] ?? .null, known: Self.names)
    maker = RequestMaker(routes: try DrivenRoute.all(of: described), bodies: bodies)
  }

  /// Routes that no request was made to.
  var undriven: [String] { Set(maker.routes.map(\.name)).subtracting(result.driven).sorted() }
  /// Types of bodies, by route, that no request had.
  var untyped: [String] {
    let all = maker.routes.flatMap { route in route.types.map { "\(route.name) \($0)" } }
    return Set(all).subtracting(maker.drivenTypes).sorted()
  }

  /// By the name of a member or parameter, or of the path's segment before it.
  private static let names: [String: [String]] = [
    "devices": ["d1", "d2", "d3"], "users": ["ana", "ben"], "user": ["ana", "ben"], "id": ["d1", "d2", "new"],
    "token": [Tokens.apns(1), Tokens.apns(2), Tokens.fcm(3), Tokens.oneSignal(4)],
    "provider": ["apns", "fcm", "onesignal"],
    "providers": ["apns", "fcm"], "audience": ["everyone", "news", "news && !user:x", "seen:<30d"],
    "audiences": ["vip"],
    "lists": ["team"], "test_lists": ["team"], "credential": ["ios", "android"], "tz": ["Europe/Vienna", "UTC"],
    "language": ["de", "en"], "title": ["T"], "body": ["B"], "name": ["vip", "team", "a"],
    "tags": ["news", "plan:pro"],
    "image": ["https://a.example/b.png"], "link": ["https://a.example/"], "send_at": ["2030-01-01T00:00:00Z"],
    "send_at_local": ["2026-12-01T09:00:00"], "from": ["22:00", "2026-01-01T00:00:00Z"], "to": ["07:00"],
    "state": ["accepted", "failed,dead"], "prefix": ["", "n"], "color": ["#aabbcc"],
  ]

  /// Something of each kind, so that ids in requests are there to be found.
  func prepare() async throws {
    for (id, provider, token) in [
      ("d1", "apns", Tokens.apns(1)), ("d2", "fcm", Tokens.fcm(2)), ("d3", "onesignal", Tokens.oneSignal(3)),
    ] {
      _ = try await gateway.client.put(
        "/v1/devices/\(id)",
        #"{"provider":"\#(provider)","token":"\#(token)","user":"ana","tags":["news"],"attributes":{"a":"b"}}"#)
    }
    let text = #""notification":{"title":"T"}"#
    for to in [#"{"devices":["d1","d2","d3"]}"#, #"{"everyone":true}"#, #"{"users":["ana"]}"#] {
      learn(try await gateway.client.post("/v1/messages", #"{"to":\#(to),\#(text)}"#), at: "messages")
    }
    let list = Tokens.targets("apns", (10..<400).map(Tokens.apns))
    learn(try await gateway.client.post("/v1/messages", #"{"to":{"tokens":[\#(list)]},\#(text)}"#), at: "messages")
    learn(try await gateway.client.post("/v1/drafts", #"{"message":{"to":{"everyone":true},\#(text)}}"#), at: "drafts")
    _ = try await gateway.client.put("/v1/audiences/vip", #"{"audience":"news"}"#)
    _ = try await gateway.client.put("/v1/test_lists/team", #"{"devices":["d1"]}"#)
  }

  func sweep() async throws {
    for request in maker.sweep() where result.faults.count < Self.mostFaults { try await ask(request) }
  }

  func run(requests: Int) async throws {
    let end = result.requests + requests
    while result.requests < end, result.faults.count < Self.mostFaults { try await ask(maker.make(&chance)) }
  }

  private func ask(_ request: DrivenRequest) async throws {
    result.requests += 1
    result.driven.insert(request.route.name)
    let began = ContinuousClock.now
    let answer: Client.Answer
    do {
      answer = try await gateway.client.send(request.method, request.target, request.headers, request.body ?? [])
    } catch {
      // The client itself sends no such target, or the end of the upload was lost behind a refusal.
      if "\(error)".contains("malformed") { return }
      if gateway.process.isRunning, (request.body?.count ?? 0) > 1 << 20 { return }
      fault("no answer (\(error))", request)
      return
    }
    let took =
      Double((ContinuousClock.now - began).components.seconds)
      + Double((ContinuousClock.now - began).components.attoseconds) / 1e18
    if took > result.longest.seconds { result.longest = (took, request.text) }
    if took > Self.longestAnswer { fault("took \(took) s", request) }
    judge(answer, request)
  }

  private func fault(_ what: String, _ request: DrivenRequest) { result.faults.append("\(what): \(request.text)") }

  private func judge(_ answer: Client.Answer, _ request: DrivenRequest) {
    result.statuses[answer.status, default: 0] += 1
    // A request line beyond the memory of a connection is refused before the gateway sees it (docs/limits.md).
    if answer.status == 414, request.target.utf8.count > 16_384 { return }
    // HEAD is answered as GET, be it on the path of another method's route.
    let routes = request.method == "HEAD" ? maker.routes.filter { $0.path == request.route.path } : [request.route]
    if !routes.reduce(DrivenRoute.everywhere, { $0.union($1.statuses) }).contains(answer.status) {
      fault("the undocumented status \(answer.status) \(answer.text.prefix(300))", request)
    }
    guard answer.status >= 400, request.method != "HEAD" else {
      learn(answer, at: request.route.path.split(separator: "/").dropFirst().first.map(String.init) ?? "")
      return
    }
    let problem = answer.json
    // What a process that is not ready says of itself.
    if request.route.path == "/readyz", answer.status == 503 { return }
    guard answer.header("content-type") == "application/problem+json",
      problem["status"]?.integer == Int64(answer.status),
      problem["code"]?.string?.isEmpty == false, problem["type"]?.string?.hasPrefix("/problems/") == true,
      problem["detail"]?.string?.isEmpty == false
    else { return fault("\(answer.status) without a problem document: \(answer.text.prefix(300))", request) }
  }

  private func learn(_ answer: Client.Answer, at kind: String) {
    guard answer.body.count < 1 << 20 else { return }
    let document = answer.json
    if let cursor = document["next_cursor"]?.string { maker.learn(cursor: cursor) }
    guard ["messages", "drafts", "devices"].contains(kind), let id = document["id"]?.string else { return }
    maker.bodies.known[kind, default: []].append(id)
    if maker.bodies.known[kind]!.count > 40 { maker.bodies.known[kind]!.removeFirst() }
    if kind == "messages" { maker.bodies.known["message"] = maker.bodies.known[kind] }
  }
}

extension Journeys {
  private static func setting(_ name: String) -> String? {
    ProcessInfo.processInfo.environment["FANFARE_DRIVE_\(name)"]
  }

  /// The same requests in each run of the tests; `make drive` makes others.
  @Test("random requests to every route, with every cursor, parameter and header: each gets a known answer in time")
  func drive() async throws {
    let seed = Self.setting("SEED").flatMap { UInt64($0) } ?? 1_123
    let requests = Self.setting("REQUESTS").flatMap { Int($0) } ?? 800
    print("drive: seed \(seed), \(requests) requests (FANFARE_DRIVE_SEED=\(seed) for the same again)")
    let world = try await World()
    let gateway = try await world.gateway()
    let drive = try await Drive(gateway, seed: seed)
    try await drive.prepare()
    try await drive.sweep()
    try await drive.run(requests: requests)
    let result = drive.result
    let counts = result.statuses.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
    print(
      "drive: \(result.requests) requests to \(result.driven.count) routes, \(counts); the longest took "
        + "\(result.longest.seconds) s: \(result.longest.request.prefix(300))")
    #expect(
      gateway.process.isRunning, "seed \(seed): the process ended\n\(gateway.process.text.suffix(2_000))")
    #expect(drive.undriven.isEmpty, "seed \(seed): no request to \(drive.undriven)")
    #expect(drive.untyped.isEmpty, "seed \(seed): no body of \(drive.untyped)")
    #expect(result.faults.isEmpty, "seed \(seed):\n\(result.faults.joined(separator: "\n"))")
    // It does its work as before.
    let id = try await gateway.send(
      #"{"to":{"tokens":[{"provider":"apns","token":"\#(Tokens.apns(9_999))"}]},"notification":{"title":"T"}}"#)
    #expect(try await gateway.completed(id)["state"]?.string == "completed")
  }
}
