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
    package var channels: Int
    package var development: Int
    package var developmentChannels: Int
    package var metadata: Int
  }
  package let ports: Ports
  /// Rules, log and statistics.
  package let stage: Stage
  package let settings: SandboxSettings
  /// OneSignal's API key, as in `onesignal.key`.
  package let oneSignalKey: String

  private let fronts: [HTTP2Front]
  private let http1: HTTP1Front
  private let servers: [HTTPServer]

  package init(loop: EventLoop, settings: SandboxSettings) throws(SandboxFailure) {
    let folder = try KeyFolder(settings, now: loop.wallNow)
    let stage = Stage(
      loop: loop,
      log: RequestLog(
        capacity: settings.logEntries, keepBodiesUpTo: settings.logBodiesUpTo, bodyBudget: settings.logBodyBytes))
    stage.rules = RuleBook(settings.rules)
    let tokens = AccessTokens()
    let http2 = try HTTP2Ports(stage: stage, settings: settings, authority: folder.authority)

    // APNs: two environments, each with its channels; what is known of device tokens is known in both.
    let register = TokenRegister()
    var fronts: [HTTP2Front] = []
    func serveAPNs(
      _ environment: APNsEnvironment, port: Int, channelsPort: Int
    ) throws(SandboxFailure) -> (pushes: Int, channels: Int) {
      let registry = ChannelRegistry(bundles: Set(settings.bundleIDs.prefix(1)), maximum: settings.maximumChannels)
      let door = APNsDoor(environment: environment, keys: folder.apnsKeys)
      let pushes = try http2.serve(
        APNsVendor(
          door: door, register: register, channels: registry, streams: settings.apnsStreams, seed: SecureRandom.word()),
        // "1 stream until one request with a valid token has been accepted"
        port: port, streams: 1)
      let management = try http2.serve(
        ChannelVendor(door: door, channels: registry, seed: SecureRandom.word()), port: channelsPort,
        streams: settings.apnsStreams)
      fronts += [pushes.front, management.front]
      return (pushes.port, management.port)
    }
    let production = try serveAPNs(.production, port: settings.apnsPort, channelsPort: settings.channelsPort)
    let development = try serveAPNs(
      .development, port: settings.developmentPort, channelsPort: settings.developmentChannelsPort)
    let fcm = try http2.serve(
      FCMVendor(project: settings.projectID, tokens: tokens), port: settings.fcmPort, streams: settings.fcmStreams)
    fronts.append(fcm.front)

    let reception = Reception()
    let oneSignalServer = try Self.listen(settings.oneSignalPort, settings) { port throws(HTTPServerFailure) in
      var server = HTTPServerSettings()
      server.address = settings.address
      server.port = port
      server.maximumBody = 8 << 20
      server.certificate = http2.leaf.certificate
      server.key = http2.leaf.key
      return try HTTPServer(loop: loop, settings: server) { await reception.handle($0) }
    }
    let audiences = Set(
      ["localhost", "127.0.0.1", "[::1]"].map { "https://\($0):\(oneSignalServer.port)\(TokenEndpoint.path)" }
        + ["https://oauth2.googleapis.com/token"])
    let account = folder.accountEmail
    let front = HTTP1Front(
      stage: stage,
      oneSignal: OneSignalVendor(
        appID: settings.oneSignalAppID, apiKey: folder.oneSignalKey, legacyKey: folder.oneSignalLegacyKey,
        seed: SecureRandom.word()),
      oauth: OAuthDesk(
        tokenEndpoint: TokenEndpoint(
          key: folder.accountKey, account: account, keyID: KeyFolder.accountKeyID, audiences: audiences, tokens: tokens),
        workload: WorkloadIdentity(key: folder.workloadKey, account: account, tokens: tokens),
        metadata: MetadataServer(account: account, project: settings.projectID, tokens: tokens)))
    reception.front = front
    let metadataServer = try Self.listen(settings.metadataPort, settings) { port throws(HTTPServerFailure) in
      var server = HTTPServerSettings()
      server.port = port
      return try HTTPServer(loop: loop, settings: server) { await front.handleMetadata($0) }
    }

    let control = ControlAPI(stage: stage)
    let controlServer = try Self.listen(settings.controlPort, settings) { port throws(HTTPServerFailure) in
      var server = HTTPServerSettings()
      server.port = port
      return try HTTPServer(loop: loop, settings: server) { control.handle($0) }
    }
    ports = Ports(
      apns: production.pushes, fcm: fcm.port, oneSignal: oneSignalServer.port, control: controlServer.port,
      channels: production.channels, development: development.pushes, developmentChannels: development.channels,
      metadata: metadataServer.port)
    try folder.write(ports, settings)
    control.about = KeyFolder.description(ports, settings, folder.oneSignalKey).encoded
    self.stage = stage
    self.settings = settings
    self.fronts = fronts
    http1 = front
    servers = [oneSignalServer, metadataServer, controlServer]
    oneSignalKey = folder.oneSignalKey
  }

  /// Closes every port and connection.
  package func stop() async {
    for front in fronts { front.stop() }
    http1.stop()
    for server in servers { await server.stop() }
  }

  /// Listens on the port asked for, or on a free one if it is busy and that is allowed.
  static func listen<Server, Failure: Error>(
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
