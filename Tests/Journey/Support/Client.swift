import Domain
import Foundation
import HTTPClient
import JSON
import Loop
import Support

/// A plain HTTP client of the gateway's API or of the sandbox's control API.
struct Client: Sendable {
  struct Answer: Sendable {
    var status: Int
    var headers: [Header]
    var body: [UInt8]
    var json: JSONValue { (try? JSON.parse(body)) ?? .null }
    var text: String { String(decoding: body, as: UTF8.self) }
    func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
  }

  let base: String
  let key: String?
  private let http: OnLoop<HTTPClient>

  init(base: String, key: String? = nil, loop: EventLoop) async throws {
    self.base = base
    self.key = key
    var settings = HTTPClientSettings()
    settings.maximumBody = 256 << 20
    http = try await OnLoop(loop) { [settings] in HTTPClient(loop: $0, settings: settings) }
  }

  /// Without the key.
  func stranger() -> Client { Client(base: base, key: nil, http) }

  private init(base: String, key: String?, _ http: OnLoop<HTTPClient>) {
    self.base = base
    self.key = key
    self.http = http
  }

  func call(_ method: String, _ path: String, _ body: String? = nil, headers: [Header] = []) async throws -> Answer {
    var all = headers
    if body != nil, !all.contains(where: { $0.name == "content-type" }) {
      all.append(Header("content-type", "application/json"))
    }
    return try await send(method, path, all, Array((body ?? "").utf8))
  }

  /// As it is, but for the key.
  func send(_ method: String, _ path: String, _ headers: [Header], _ body: [UInt8]) async throws -> Answer {
    var all = headers
    if let key { all.append(Header("authorization", "Bearer \(key)")) }
    let request = HTTPClientRequest(method: method, url: base + path, headers: all, body: body, timeout: 60_000)
    let answer = try await http { try await $0.send(request) }
    return Answer(status: answer.status, headers: answer.headers, body: answer.body)
  }

  func get(_ path: String) async throws -> Answer { try await call("GET", path) }
  func post(_ path: String, _ body: String, headers: [Header] = []) async throws -> Answer {
    try await call("POST", path, body, headers: headers)
  }
  func put(_ path: String, _ body: String) async throws -> Answer { try await call("PUT", path, body) }
}
