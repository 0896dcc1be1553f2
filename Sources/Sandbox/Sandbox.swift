package import Loop

package struct SandboxSettings: Sendable {
  package var apnsPort = 8443
  package var fcmPort = 8444
  package var oneSignalPort = 8445
  package var controlPort = 8446
  /// True: a busy or zero port is replaced by a free one.
  package var replaceBusyPorts = false
  /// Where the CA certificate, a `.p8` key and a service-account file land; made if missing, kept if there.
  package var directory: String
  package init(directory: String) { self.directory = directory }
}

package struct SandboxFailure: Error, Sendable {
  package var reason: String
  package init(reason: String) { self.reason = reason }
}

/// Plays APNs, FCM and OneSignal (design D15), on one loop, independent of the gateway's renderers and verdicts.
package final class Sandbox {
  package struct Ports: Hashable, Sendable {
    package var apns: Int
    package var fcm: Int
    package var oneSignal: Int
    package var control: Int
  }
  package let ports: Ports

  package init(loop: EventLoop, settings: SandboxSettings) throws(SandboxFailure) {
    preconditionFailure("not built yet")
  }
  package func stop() async {}
}
