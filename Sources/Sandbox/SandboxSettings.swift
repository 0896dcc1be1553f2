/// What the sandbox plays, and where. Port 0: any free one.
package struct SandboxSettings: Sendable {
  package var apnsPort = 8443
  package var fcmPort = 8444
  package var oneSignalPort = 8445
  package var controlPort = 8446
  /// Management of broadcast channels.
  package var channelsPort = 8447
  /// APNs' development environment, and its channels.
  package var developmentPort = 8448
  package var developmentChannelsPort = 8449
  /// The cloud's metadata server: plain HTTP.
  package var metadataPort = 8450
  /// A push service for browsers, and the browsers.
  package var webPushPort = 8451
  /// True: a busy or zero port is replaced by a free one.
  package var replaceBusyPorts = false
  /// Where the CA certificate, a `.p8` key and a service-account file land; made if missing, kept if there.
  package var directory: String

  /// In force from the start.
  package var rules: [Rule] = []

  /// Where the vendors' ports listen. The control port is on loopback always.
  package var address = "127.0.0.1"
  package var keyID = "SANDBOXKEY"
  package var teamID = "FANFARE001"
  /// Bundle ids that the APNs key may push to; empty: any. The first may broadcast.
  package var bundleIDs = ["com.example.app"]
  /// Another team, with an app of its own that may not broadcast.
  package var otherTeamID = "FANFARE002"
  package var otherBundleID = "com.example.other"
  /// "At most 10,000 channels per app per environment".
  package var maximumChannels = 10_000
  package var projectID = "demo-app"
  package var oneSignalAppID = "8250eaf6-1a58-489e-b136-7c74a864b434"
  /// Streams of an APNs connection after its first accepted request.
  package var apnsStreams = 1000
  package var fcmStreams = 100
  /// Requests that the log keeps, and the bytes of bodies it keeps with them.
  package var logEntries = 1_000_000
  package var logBodyBytes = 64 << 20
  /// Larger bodies are logged by digest only.
  package var logBodiesUpTo = 4096

  /// `directory`: made if missing, with all above it.
  package init(directory: String) { self.directory = directory }

  private static let ports: [WritableKeyPath<Self, Int> & Sendable] = [
    \.apnsPort, \.fcmPort, \.oneSignalPort, \.controlPort, \.channelsPort, \.developmentPort,
    \.developmentChannelsPort, \.metadataPort, \.webPushPort,
  ]

  /// Every port becomes a free one.
  package mutating func takeFreePorts() {
    for port in Self.ports { self[keyPath: port] = 0 }
  }
}

/// Why a sandbox cannot start; `reason` names the port or file.
package struct SandboxFailure: Error, Sendable {
  package var reason: String
  package init(reason: String) { self.reason = reason }
}
