import Domain
import HTTP2
import HTTPServer
import JSON
package import Loop
import TLS

/// Plays APNs, FCM, OneSignal and a push service for browsers (design D15), on one loop, independent of the gateway's renderers and verdicts. Made,
/// used and stopped on that loop.
package final class Sandbox {
  /// The ports in use, whatever the settings asked for.
  package struct Ports: Hashable, Sendable {
    package var apns: Int
    package var fcm: Int
    package var oneSignal: Int
    package var control: Int
    package var channels: Int
    package var development: Int
    package var developmentChannels: Int
    package var metadata: Int
    package var webPush: Int
  }
  package let ports: Ports
  /// Rules, log and statistics.
  package let stage: Stage
  package let settings: SandboxSettings
  /// OneSignal's API key, as in `onesignal.key`.
  package let oneSignalKey: String

  private let fronts: [VendorFront]
  private let controlServer: HTTPServer

  /// Makes the folder and missing keys, and listens on all ports. Throws for a port that is taken, and for keys that
  /// cannot be read or made.
  package init(loop: EventLoop, settings: SandboxSettings) throws(SandboxFailure) {
    let folder = try KeyFolder(settings, now: loop.wallNow)
    let stage = Stage(
      loop: loop,
      log: RequestLog(
        capacity: settings.logEntries, keepBodiesUpTo: settings.logBodiesUpTo, bodyBudget: settings.logBodyBytes))
    stage.rules = RuleBook(settings.rules)
    let tokens = AccessTokens()
    let vendors = try VendorPorts(stage: stage, settings: settings, authority: folder.authority)

    // APNs: two environments, each with its channels; what is known of device tokens is known in both.
    let register = TokenRegister()
    var fronts: [VendorFront] = []
    func serve(
      _ versions: VendorPorts.Versions, port: Int, address: String? = nil, streams: Int, _ vendor: (Int) -> any Vendor
    ) throws(SandboxFailure) -> Int {
      let served = try vendors.serve(versions, port: port, address: address, streams: streams, vendor)
      fronts.append(served.front)
      return served.port
    }
    func serveAPNs(
      _ environment: APNsEnvironment, port: Int, channelsPort: Int
    ) throws(SandboxFailure) -> (pushes: Int, channels: Int) {
      let registry = ChannelRegistry(bundles: Set(settings.bundleIDs.prefix(1)), maximum: settings.maximumChannels)
      let door = APNsDoor(environment: environment, keys: folder.apnsKeys)
      let pushes = APNsVendor(
        door: door, register: register, channels: registry, streams: settings.apnsStreams, seed: SecureRandom.word())
      let management = ChannelVendor(door: door, channels: registry, seed: SecureRandom.word())
      return (
        // "1 stream until one request with a valid token has been accepted"
        try serve(.http2, port: port, streams: 1) { _ in pushes },
        try serve(.http2, port: channelsPort, streams: settings.apnsStreams) { _ in management }
      )
    }
    let production = try serveAPNs(.production, port: settings.apnsPort, channelsPort: settings.channelsPort)
    let development = try serveAPNs(
      .development, port: settings.developmentPort, channelsPort: settings.developmentChannelsPort)
    let fcm = try serve(.both, port: settings.fcmPort, streams: settings.fcmStreams) { _ in
      FCMVendor(project: settings.projectID, tokens: tokens)
    }
    let account = folder.accountEmail
    let oneSignal = try serve(.both, port: settings.oneSignalPort, streams: settings.fcmStreams) { port in
      OneSignalPort(
        oneSignal: OneSignalVendor(
          appID: settings.oneSignalAppID, apiKey: folder.oneSignalKey, legacyKey: folder.oneSignalLegacyKey,
          seed: SecureRandom.word()),
        oauth: OAuthEndpoints(
          tokenEndpoint: TokenEndpoint(
            key: folder.accountKey, account: account, keyID: KeyFolder.accountKeyID,
            audiences: TokenEndpoint.audiences(port: port),
            tokens: tokens),
          workload: WorkloadIdentity(key: folder.workloadKey, account: account, tokens: tokens)))
    }
    let metadata = try serve(
      .plain, port: settings.metadataPort, address: "127.0.0.1", streams: settings.fcmStreams
    ) { _ in
      MetadataServer(account: account, project: settings.projectID, tokens: tokens)
    }
    let webPush = try serve(.both, port: settings.webPushPort, streams: settings.fcmStreams) { _ in
      WebPushVendor(browsers: Browsers(secret: folder.browserSecret))
    }

    let control = ControlAPI(stage: stage)
    controlServer = try Self.listen(settings.controlPort, settings) { port throws(HTTPServerFailure) in
      var server = HTTPServerSettings()
      server.port = port
      return try HTTPServer(loop: loop, settings: server) { control.handle($0) }
    }
    ports = Ports(
      apns: production.pushes, fcm: fcm, oneSignal: oneSignal, control: controlServer.port,
      channels: production.channels, development: development.pushes, developmentChannels: development.channels,
      metadata: metadata, webPush: webPush)
    try folder.write(ports, settings)
    control.about = KeyFolder.description(ports, settings, folder.oneSignalKey).encoded
    self.stage = stage
    self.settings = settings
    self.fronts = fronts
    oneSignalKey = folder.oneSignalKey
  }

  /// Closes every port and connection.
  package func stop() async {
    for front in fronts { front.stop() }
    await controlServer.stop()
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
