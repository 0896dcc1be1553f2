import JSON
import Loop
import Sandbox

enum SandboxCommand {
  static let command = Command(
    name: "sandbox", summary: "play APNs, FCM and OneSignal on this machine",
    about: """
      Speaks the vendors' protocols on loopback, validates requests as they do, records what it received and plays faults
      on demand. The CA certificate, a .p8 key and a service-account file land in --dir. A line on standard output says
      when it listens. Control: PUT /rules, GET /stats, GET /log, DELETE /log. Ends with ctrl-C.
      """,
    options: [
      Command.Option("--apns-port", "PORT", "HTTP/2 over TLS (8443)"),
      Command.Option("--fcm-port", "PORT", "HTTP/2 over TLS, with the OAuth token endpoint (8444)"),
      Command.Option("--onesignal-port", "PORT", "HTTPS (8445)"),
      Command.Option("--control-port", "PORT", "plain HTTP (8446)"),
      Command.Option("--dir", "DIR", "where certificates and keys land (./sandbox)"),
      Command.Option("--any-port", "replace busy ports by free ones"),
      Command.json,
    ],
    examples: ["fanfare sandbox --dir /tmp/vendors", "curl -s http://127.0.0.1:8446/stats"]
  ) { arguments in try run(arguments) }

  private static func run(_ arguments: Arguments) throws -> ExitCode {
    var settings = SandboxSettings(directory: arguments.text("--dir") ?? "sandbox")
    let ports = 0...65_535
    settings.apnsPort = try arguments.integer("--apns-port", in: ports) ?? settings.apnsPort
    settings.fcmPort = try arguments.integer("--fcm-port", in: ports) ?? settings.fcmPort
    settings.oneSignalPort = try arguments.integer("--onesignal-port", in: ports) ?? settings.oneSignalPort
    settings.controlPort = try arguments.integer("--control-port", in: ports) ?? settings.controlPort
    settings.replaceBusyPorts = arguments.has("--any-port")
    StopSignals.block()
    let vendors: Vendors
    do {
      vendors = try Vendors(settings)
    } catch let failure as SandboxFailure {
      Terminal.complain(failure.reason, "name other ports, or let --any-port choose")
      return .failure
    }
    announce(vendors.ports, settings.directory, json: arguments.wantsJSON)
    StopSignals.wait()
    vendors.stop()
    return .success
  }

  private static func announce(_ ports: Sandbox.Ports, _ directory: String, json: Bool) {
    guard json else {
      return Terminal.print(
        "sandbox listening: apns \(ports.apns), fcm \(ports.fcm), onesignal \(ports.oneSignal), "
          + "control \(ports.control), files in \(directory)")
    }
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("event", "ready")
    writer.member("apns_port", ports.apns)
    writer.member("fcm_port", ports.fcm)
    writer.member("onesignal_port", ports.oneSignal)
    writer.member("control_port", ports.control)
    writer.member("directory", directory)
    writer.endObject()
    Terminal.print(writer.bytes)
  }
}
