import Domain
import HTTP2
import HTTPServer
import JSON
package import Loop
import TLS

/// Plays APNs, FCM and OneSignal (design D15), on one loop, independent of the gateway's renderers and verdicts. Made,
/// used and stopped on that loop.
package final class Sandbox {
  package struct Ports: Hashable, Sendable {
    package var apns: Int
    package var fcm: Int
    package var oneSignal: Int
    package var control: Int
  }
  package let ports: Ports
  /// Rules, log and statistics.
  package let stage: Stage
  package let settings: SandboxSettings
  /// OneSignal's API key, as in `onesignal.key`.
  package let oneSignalKey: String

  private let apns: HTTP2Front
  private let fcm: HTTP2Front
  private let oneSignal: HTTP1Front
  private var servers: [HTTPServer] = []

  package init(loop: EventLoop, settings: SandboxSettings) throws(SandboxFailure) {
    let folder = try KeyFolder(settings)
    let leaf = folder.authority.issue(hosts: ["localhost", "127.0.0.1", "::1"])
    let stage = Stage(
      loop: loop,
      log: RequestLog(
        capacity: settings.logEntries, keepBodiesUpTo: settings.logBodiesUpTo, bodyBudget: settings.logBodyBytes))
    let tokens = AccessTokens()
    let tls: TLSContext
    do { tls = try TLSContext.server(certificate: leaf.certificate, key: leaf.key, alpn: ["h2"]) } catch {
      throw SandboxFailure(reason: "no TLS: \(error.reason)")
    }

    // "1 stream until one request with a valid token has been accepted"
    let apnsServer = try Self.listen(settings.apnsPort, settings) { port throws(ListenFailure) in
      var server = HTTP2ServerSettings()
      server.maximumConcurrentStreams = 1
      return try HTTP2Server(loop: loop, address: settings.address, port: port, tls: tls, settings: server)
    }
    let fcmServer = try Self.listen(settings.fcmPort, settings) { port throws(ListenFailure) in
      var server = HTTP2ServerSettings()
      server.maximumConcurrentStreams = settings.fcmStreams
      return try HTTP2Server(loop: loop, address: settings.address, port: port, tls: tls, settings: server)
    }
    apns = HTTP2Front(
      stage: stage,
      vendor: APNsVendor(
        bundleIDs: Set(settings.bundleIDs),
        tokenCheck: ProviderTokenCheck(key: folder.apnsKey, keyID: settings.keyID, teamID: settings.teamID),
        streams: settings.apnsStreams, seed: SecureRandom.word()))
    fcm = HTTP2Front(stage: stage, vendor: FCMVendor(project: settings.projectID, tokens: tokens))
    apns.serve(apnsServer)
    fcm.serve(fcmServer)

    let reception = Reception()
    let oneSignalServer = try Self.listen(settings.oneSignalPort, settings) { port throws(HTTPServerFailure) in
      var server = HTTPServerSettings()
      server.address = settings.address
      server.port = port
      server.maximumBody = 8 << 20
      server.certificate = leaf.certificate
      server.key = leaf.key
      return try HTTPServer(loop: loop, settings: server) { await reception.handle($0) }
    }
    let audiences = Set(
      ["localhost", "127.0.0.1", "[::1]"].map { "https://\($0):\(oneSignalServer.port)\(TokenEndpoint.path)" }
        + ["https://oauth2.googleapis.com/token"])
    oneSignal = HTTP1Front(
      stage: stage,
      oneSignal: OneSignalVendor(
        appID: settings.oneSignalAppID, apiKey: folder.oneSignalKey, seed: SecureRandom.word()),
      tokenEndpoint: TokenEndpoint(
        key: folder.accountKey, account: folder.accountEmail, keyID: KeyFolder.accountKeyID, audiences: audiences,
        tokens: tokens))
    reception.front = oneSignal

    let control = ControlAPI(stage: stage)
    let controlServer = try Self.listen(settings.controlPort, settings) { port throws(HTTPServerFailure) in
      var server = HTTPServerSettings()
      server.port = port
      return try HTTPServer(loop: loop, settings: server) { control.handle($0) }
    }
    servers = [oneSignalServer, controlServer]
    ports = Ports(
      apns: apnsServer.port, fcm: fcmServer.port, oneSignal: oneSignalServer.port, control: controlServer.port)
    try folder.write(ports, settings)
    control.about = KeyFolder.description(ports, settings, folder.oneSignalKey).encoded
    self.stage = stage
    self.settings = settings
    oneSignalKey = folder.oneSignalKey
  }

  /// Closes every port and connection.
  package func stop() async {
    apns.stop()
    fcm.stop()
    oneSignal.stop()
    for server in servers { await server.stop() }
    servers = []
  }

  /// Listens on the port asked for, or on a free one if it is busy and that is allowed.
  private static func listen<Server, Failure: Error>(
    _ port: Int, _ settings: SandboxSettings, _ make: (Int) throws(Failure) -> Server
  ) throws(SandboxFailure) -> Server {
    do { return try make(port) } catch {
      guard settings.replaceBusyPorts, port != 0 else { throw SandboxFailure(reason: reason(error)) }
    }
    do { return try make(0) } catch { throw SandboxFailure(reason: reason(error)) }
  }
  private static func reason(_ failure: any Error) -> String {
    switch failure {
    case let failure as ListenFailure: failure.reason
    case let failure as HTTPServerFailure: failure.reason
    default: "\(failure)"
    }
  }
}

/// Leads requests to the front, which needs the port before it can be made.
private final class Reception {
  var front: HTTP1Front?
  func handle(_ request: HTTPServerRequest) async -> HTTPServerResponse {
    guard let front else { return HTTPServerResponse(status: 503) }
    return await front.handle(request)
  }
}
