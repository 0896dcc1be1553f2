import Domain
import Glibc
import HTTP2
import HTTPClient
import JSON
import Loop
import Sandbox
import TLS
import Testing

/// A running sandbox on free ports in a folder of its own, with clients that trust it. On its loop only.
final class SandboxRig {
  let loop: EventLoop
  let sandbox: Sandbox
  let directory: String
  let http: HTTPClient
  private var usualToken: String?

  private init(loop: EventLoop, _ change: (inout SandboxSettings) -> Void) throws {
    self.loop = loop
    directory = try Self.makeFolder()
    var settings = SandboxSettings(directory: directory)
    settings.takeFreePorts()
    change(&settings)
    sandbox = try Sandbox(loop: loop, settings: settings)
    var client = HTTPClientSettings()
    client.caFile = "\(directory)/ca.pem"
    http = HTTPClient(loop: loop, settings: client)
  }

  static func makeFolder() throws -> String {
    var template = Array("/tmp/fanfare-sandbox-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw SandboxFailure(reason: "no temporary folder") }
    return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Runs `body` on a loop of its own, with a sandbox that is stopped and whose folder is removed behind it.
  static func run(
    _ change: @escaping @Sendable (inout SandboxSettings) -> Void = { _ in },
    _ body: @escaping @Sendable (SandboxRig) async throws -> Void
  ) async throws {
    let loop = EventLoop(name: "sandbox-test")
    let thread = loop.start()
    defer {
      loop.stop()
      thread.join()
    }
    try await loop.run {
      let rig = try SandboxRig(loop: loop, change)
      let result: Result<Void, any Error>
      do { result = .success(try await body(rig)) } catch { result = .failure(error) }
      rig.http.close()
      await rig.sandbox.stop()
      rig.removeFolder()
      try result.get()
    }
  }

  private func removeFolder() {
    guard let folder = opendir(directory) else { return }
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      unlink("\(directory)/\(name)")
    }
    closedir(folder)
    rmdir(directory)
  }

  func content(of file: String) throws -> [UInt8] {
    let handle = try #require(fopen("\(directory)/\(file)", "r"))
    defer { fclose(handle) }
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let count = fread(&bytes, 1, bytes.count, handle)
    return Array(bytes[..<count])
  }

  // MARK: Credentials, as a client makes them

  func providerToken(
    issuedAt: Int64? = nil, kid: String? = nil, team: String? = nil, file: String = "apns-key.p8"
  ) throws -> String {
    let key = try SigningKey(pem: content(of: file), for: .es256)
    let head = Base64URL.encode(Array(#"{"alg":"ES256","kid":"\#(kid ?? sandbox.settings.keyID)"}"#.utf8))
    let claims = Base64URL.encode(
      Array(#"{"iss":"\#(team ?? sandbox.settings.teamID)","iat":\#(issuedAt ?? loop.wallNow.seconds)}"#.utf8))
    return "\(head).\(claims)." + Base64URL.encode(key.sign(Array("\(head).\(claims)".utf8)))
  }

  /// An access token from the token endpoint, or its refusal.
  func accessToken(timeout: Int64 = 30_000) async throws -> ProviderAnswer {
    let account = try JSON.parse(content(of: "service-account.json"))
    let uri = try #require(account["token_uri"]?.string)
    let key = try SigningKey(pem: Array(try #require(account["private_key"]?.string).utf8), for: .rs256)
    let now = loop.wallNow.seconds
    let head = Base64URL.encode(
      Array(#"{"alg":"RS256","typ":"JWT","kid":"\#(account["private_key_id"]?.string ?? "")"}"#.utf8))
    let claims = Base64URL.encode(
      Array(
        #"{"iss":"\#(account["client_email"]?.string ?? "")","scope":"https://www.googleapis.com/auth/firebase.messaging","aud":"\#(uri)","iat":\#(now),"exp":\#(now + 3600)}"#
          .utf8))
    let assertion = "\(head).\(claims)." + Base64URL.encode(key.sign(Array("\(head).\(claims)".utf8)))
    let form = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=\(assertion)"
    return try await http.send(
      HTTPClientRequest(
        url: uri,
        headers: [Header("content-type", "application/x-www-form-urlencoded"), Header("connection", "close")],
        body: Array(form.utf8), timeout: timeout))
  }

  func bearer() async throws -> String {
    let answer = try await accessToken()
    return try #require(JSON.parse(answer.body)["access_token"]?.string)
  }

  // MARK: Control

  func control(_ method: String, _ path: String, _ body: String = "") async throws -> ProviderAnswer {
    try await http.send(
      HTTPClientRequest(
        method: method, url: "http://127.0.0.1:\(sandbox.ports.control)\(path)",
        headers: body.isEmpty ? [] : [Header("content-type", "application/json")], body: Array(body.utf8)))
  }

  func rules(_ text: String) async throws {
    let answer = try await control("PUT", "/rules", text)
    #expect(answer.status == 200, "\(String(decoding: answer.body, as: UTF8.self))")
  }

  // MARK: Requests

  /// `certificate`: the name of a client certificate in the folder.
  func connect(port: Int, certificate: String? = nil, connectTimeout: Int64 = 10_000) throws -> VendorClient {
    let pem = try certificate.map { try content(of: "\($0).pem") }
    return try VendorClient(
      loop: loop, port: port, caFile: "\(directory)/ca.pem", identity: pem.map { (chain: $0, key: $0) },
      connectTimeout: connectTimeout)
  }

  /// Signed once, as clients do.
  private func sharedToken() throws -> String {
    let token = try usualToken ?? providerToken()
    usualToken = token
    return token
  }

  func apnsRequest(
    token: String = deviceToken, authorization: String? = nil, _ extra: [Header] = [],
    topic: String = "com.example.app", type: String = "alert", body: String = #"{"aps":{"alert":"hi"}}"#
  ) throws -> ProviderRequest {
    let jwt = try authorization ?? "bearer \(sharedToken())"
    return ProviderRequest(
      path: "/3/device/\(token)",
      headers: [
        Header("authorization", jwt), Header("apns-topic", topic), Header("apns-push-type", type),
      ] + extra, body: Array(body.utf8))
  }

  /// A broadcast, or a call of the channel management.
  func channelRequest(
    _ method: String, _ path: String, _ extra: [Header] = [], body: String = "", authorization: String? = nil
  ) throws -> ProviderRequest {
    var request = ProviderRequest(
      path: path, headers: [Header("authorization", try authorization ?? "bearer \(sharedToken())")] + extra,
      body: Array(body.utf8))
    request.method = method
    return request
  }

  func fcmRequest(_ message: String, bearer: String) -> ProviderRequest {
    ProviderRequest(
      path: "/v1/projects/\(sandbox.settings.projectID)/messages:send",
      headers: [Header("authorization", "Bearer \(bearer)"), Header("content-type", "application/json")],
      body: Array(message.utf8))
  }

  /// On a connection of its own: libcurl repeats by itself what a kept connection loses.
  func notify(
    _ members: String, path: String = "/notifications", timeout: Int64 = 30_000
  ) async throws -> ProviderAnswer {
    try await http.send(
      HTTPClientRequest(
        url: "https://localhost:\(sandbox.ports.oneSignal)\(path)",
        headers: [
          Header("authorization", "Key \(sandbox.oneSignalKey)"), Header("content-type", "application/json"),
          Header("connection", "close"),
        ], body: Array(#"{"app_id":"\#(sandbox.settings.oneSignalAppID)",\#(members)}"#.utf8), timeout: timeout))
  }
}

let deviceToken = String(repeating: "0a", count: 32)
