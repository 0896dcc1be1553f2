import CommandFrame
import Configuration
import JSON
import Loop
import Processes
import Sandbox

enum SandboxCommand {
  static let command = Command(
    name: "sandbox", summary: "play APNs, FCM, OneSignal and a push service for browsers",
    about: SandboxHelp.about,
    options: [
      Command.Option("--apns-port", "PORT", "HTTP/2 over TLS (8443)"),
      Command.Option("--fcm-port", "PORT", "HTTP/2 and HTTP/1.1 over TLS (8444)"),
      Command.Option("--onesignal-port", "PORT", "HTTPS, with the OAuth token endpoint and STS (8445)"),
      Command.Option("--control-port", "PORT", "plain HTTP (8446)"),
      Command.Option("--channels-port", "PORT", "APNs' channel management (8447)"),
      Command.Option("--development-port", "PORT", "APNs' development environment (8448)"),
      Command.Option(
        "--development-channels-port", "PORT", "channel management of APNs' development environment (8449)"),
      Command.Option("--metadata-port", "PORT", "the cloud's metadata server, plain HTTP (8450)"),
      Command.Option("--webpush-port", "PORT", "a push service for browsers, HTTP/2 and HTTP/1.1 over TLS (8451)"),
      Command.Option("--free-ports", "use a free port for each port that is not given"),
      Command.Option("--rules", "FILE", "rules at the start, in the format of PUT /rules"),
      Command.Option("--dir", "DIR", "folder for certificates and keys (./sandbox)"),
      Command.Option("--any-port", "use a free port if a port is busy"),
      Command.json,
    ],
    examples: SandboxHelp.examples
  ) { arguments in try run(arguments) }

  private static let ports: [(name: String, port: WritableKeyPath<SandboxSettings, Int> & Sendable)] = [
    ("--apns-port", \.apnsPort), ("--fcm-port", \.fcmPort), ("--onesignal-port", \.oneSignalPort),
    ("--control-port", \.controlPort), ("--channels-port", \.channelsPort), ("--development-port", \.developmentPort),
    ("--development-channels-port", \.developmentChannelsPort), ("--metadata-port", \.metadataPort),
    ("--webpush-port", \.webPushPort),
  ]

  private static func run(_ arguments: Arguments) throws -> ExitCode {
    var settings = SandboxSettings(directory: arguments.text("--dir") ?? "sandbox")
    if arguments.has("--free-ports") { settings.takeFreePorts() }
    for (name, port) in ports {
      settings[keyPath: port] = try arguments.integer(name, in: 0...65_535) ?? settings[keyPath: port]
    }
    if let file = arguments.text("--rules") {
      guard let content = FileContent.read(file) else {
        Terminal.complain("\(file) cannot be read", "a JSON array of rules, see fanfare help sandbox")
        return .usage
      }
      do { settings.rules = try RuleReader.read(content) } catch {
        for fault in error.faults {
          let place = fault.rule.map { "rule \($0)" } ?? "the file"
          Terminal.complain("\(file): \(place) \(fault.field): \(fault.problem)")
        }
        return .usage
      }
    }
    settings.replaceBusyPorts = arguments.has("--any-port")
    StopSignals.block()
    let vendors: Vendors
    do {
      vendors = try Vendors(settings)
    } catch let failure as SandboxFailure {
      Terminal.complain(failure.reason, "give other ports, or use --any-port")
      return .failure
    }
    announce(vendors.ports, settings.directory, json: arguments.wantsJSON)
    StopSignals.wait()
    Farewell.ending("open requests finish", json: arguments.wantsJSON)
    vendors.stop()
    Farewell.ended("certificates and keys stay in \(settings.directory)", json: arguments.wantsJSON)
    return .success
  }

  private static func announce(_ ports: Sandbox.Ports, _ directory: String, json: Bool) {
    guard json else {
      return Terminal.print(
        "sandbox listening: apns \(ports.apns) (channels \(ports.channels)), development \(ports.development) "
          + "(channels \(ports.developmentChannels)), fcm \(ports.fcm), onesignal \(ports.oneSignal), "
          + "webpush \(ports.webPush), metadata \(ports.metadata), control \(ports.control), files in \(directory)")
    }
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("event", "ready")
    writer.member("apns_port", ports.apns)
    writer.member("fcm_port", ports.fcm)
    writer.member("onesignal_port", ports.oneSignal)
    writer.member("control_port", ports.control)
    writer.member("channels_port", ports.channels)
    writer.member("development_port", ports.development)
    writer.member("development_channels_port", ports.developmentChannels)
    writer.member("metadata_port", ports.metadata)
    writer.member("webpush_port", ports.webPush)
    writer.member("directory", directory)
    writer.endObject()
    Terminal.print(json: writer.bytes)
  }
}
