import Configuration
import Delivery
import Domain
import HTTP2
import HTTPClient
import JSON
import Loop
import Store
import TLS

/// Configuration, credentials, providers and Redis, before anything depends on them.
enum CheckCommand {
  static let command = Command(
    name: "check", summary: "check configuration, credentials, providers and Redis",
    about: """
      Reads the configuration, opens every credential, shakes hands with each provider (TLS and HTTP/2; for FCM also a
      real access token) and opens the store. Sends no notification.
      """,
    options: [
      Command.configuration,
      Command.Option("--offline", "only configuration and credentials"),
      Command.json,
    ],
    examples: ["fanfare check --config /etc/fanfare/fanfare.json5"]
  ) { arguments in try run(arguments) }

  private struct Finding: Sendable {
    var subject: String
    /// Nil: in order.
    var problem: String?
    var note: String
  }

  private static func run(_ arguments: Arguments) throws -> ExitCode {
    let setup = try Setup.load(arguments)
    var findings = [
      Finding(
        subject: "configuration", problem: nil,
        note: "\(setup.apps.count) apps, \(setup.accounts.count) credentials")
    ]
    if !arguments.has("--offline") {
      findings += try Blocking.run { loop in
        var found = [await redis(setup, loop)]
        for (id, account) in setup.accounts.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
          found.append(await provider(id, account, setup, loop))
        }
        return found
      }
    }
    show(findings, json: arguments.wantsJSON)
    return findings.allSatisfy { $0.problem == nil } ? .success : .unreachable
  }

  private static func show(_ findings: [Finding], json: Bool) {
    guard json else {
      for finding in findings {
        Terminal.print(
          "\(finding.problem == nil ? "ok  " : "FAIL")  \(finding.subject): \(finding.problem ?? finding.note)")
      }
      return
    }
    var writer = JSONWriter()
    writer.beginArray()
    for finding in findings {
      writer.beginObject()
      writer.member("subject", finding.subject)
      writer.member("ok", finding.problem == nil)
      writer.member("note", finding.problem ?? finding.note)
      writer.endObject()
    }
    writer.endArray()
    Terminal.print(writer.bytes)
  }

  private static func redis(_ setup: Setup, _ loop: EventLoop) async -> Finding {
    let store = Store(loop: loop, redis: setup.redis, settings: setup.store)
    defer { store.close() }
    do {
      try await store.open()
      if let skew = ClockSkew(offset: try await store.clockOffset()) {
        return Finding(subject: "redis", problem: skew.text, note: "")
      }
      return Finding(subject: "redis", problem: nil, note: "the store is open, \(setup.store.partitions) partitions")
    } catch {
      switch error {
      case .unavailable(let reason, _): return Finding(subject: "redis", problem: reason, note: "")
      case .unusable(let reason): return Finding(subject: "redis", problem: reason, note: "")
      case .leaseLost(let partition): return Finding(subject: "redis", problem: "partition \(partition)", note: "")
      }
    }
  }

  private static func provider(
    _ id: CredentialID, _ account: any ProviderAccount, _ setup: Setup, _ loop: EventLoop
  ) async -> Finding {
    var settings = HTTPClientSettings()
    settings.caFile = setup.configuration.caFile
    let client = HTTPClient(loop: loop, settings: settings)
    defer { client.close() }
    var notes: [String] = []
    var authorization = account.makeAuthorization()
    if case .fetch(let fetch) = authorization.need(now: loop.wallNow) {
      do {
        let request = HTTPClientRequest(url: fetch.url, headers: fetch.headers, body: fetch.body)
        authorization.fetched(try await client.send(request), now: loop.wallNow)
      } catch {
        return Finding(subject: id.rawValue, problem: "the token endpoint does not answer: \(error.reason)", note: "")
      }
    }
    switch authorization.need(now: loop.wallNow) {
    case .use: notes.append("authorization made")
    case .unavailable(_, let blocked):
      return Finding(subject: id.rawValue, problem: blocked ?? "no access token can be had now", note: "")
    case .fetch, .wait: return Finding(subject: id.rawValue, problem: "no access token was given", note: "")
    }
    do {
      notes.append(try await handshake(account, setup, client, loop))
      return Finding(subject: id.rawValue, problem: nil, note: notes.joined(separator: ", "))
    } catch {
      return Finding(subject: id.rawValue, problem: "\(account.origin.authority): \(error.reason)", note: "")
    }
  }

  private struct NoHandshake: Error { let reason: String }

  private static func handshake(
    _ account: any ProviderAccount, _ setup: Setup, _ client: HTTPClient, _ loop: EventLoop
  ) async throws(NoHandshake) -> String {
    guard case .http2 = account.wire else {
      do {
        let url = "https://\(account.origin.authority)/"
        let answer = try await client.send(HTTPClientRequest(method: "GET", url: url))
        return "\(account.origin.authority) answers over TLS (\(answer.status))"
      } catch { throw NoHandshake(reason: error.reason) }
    }
    let tls: TLSContext
    do {
      tls = try TLSContext.client(caFile: setup.configuration.caFile, alpn: ["h2"])
    } catch { throw NoHandshake(reason: error.reason) }
    let greeting = Greeting()
    let connection = HTTP2ClientConnection(
      loop: loop, origin: account.origin, tls: tls, settings: setup.worker.http2)
    connection.delegate = greeting
    let end = await withUnsafeContinuation { (waiter: UnsafeContinuation<ConnectionEnd, Never>) in
      greeting.ended = { waiter.resume(returning: $0) }
    }
    if case .unreachable(let reason) = end { throw NoHandshake(reason: reason) }
    if case .lost(let reason) = end, greeting.streams == nil { throw NoHandshake(reason: reason) }
    return "\(account.origin.authority) speaks HTTP/2 over TLS (\(greeting.streams ?? 0) streams)"
  }
}

/// Closes a connection as soon as it stands.
private final class Greeting: HTTP2ClientDelegate {
  var streams: Int?
  var ended: ((ConnectionEnd) -> Void)?

  func connected(_ connection: HTTP2ClientConnection) {
    streams = connection.streamLimit
    connection.close()
  }
  func answered(_ connection: HTTP2ClientConnection, _ tag: UInt64, _ answer: ProviderAnswer) {}
  func failed(_ connection: HTTP2ClientConnection, _ tag: UInt64, _ failure: StreamFailure) {}
  func capacityChanged(_ connection: HTTP2ClientConnection) {}
  func draining(_ connection: HTTP2ClientConnection, reason: String?) {}
  func closed(_ connection: HTTP2ClientConnection, _ reason: ConnectionEnd) {
    ended?(reason)
    ended = nil
  }
}
