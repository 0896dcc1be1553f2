import CommandFrame
import Configuration
import Domain
import Glibc
import JSON
import Loop
import Processes
import TLS

/// `fanfare-lab bench responder`: makes an authority in a folder, listens, says so, answers until SIGTERM, then tells what it
/// saw.
enum ResponderCommand {
  static func run(_ settings: ResponderSettings) throws -> ExitCode {
    StopSignals.block()
    let authority = CertificateAuthority(name: "Fanfare benchmark")
    let leaf = authority.issue(hosts: ["localhost", "127.0.0.1"])
    guard FileContent.write(authority.certificatePEM, to: "\(settings.directory)/ca.pem") else {
      Terminal.complain("\(settings.directory) cannot be written to")
      return .failure
    }
    let loop = EventLoop(name: "responder")
    let thread = loop.start()
    let holder = Holder()
    let ports = try Blocking.on(loop) {
      if settings.provider == .oneSignal {
        let slices = try SliceResponder(
          loop: loop, certificate: leaf.certificate, key: leaf.key, settings: settings)
        holder.slices = slices
        return (slices.port, 0)
      }
      let push = try PushResponder(loop: loop, certificate: leaf.certificate, key: leaf.key, settings: settings)
      holder.push = push
      holder.tokens = settings.provider == .fcm ? try TokenResponder(loop: loop) : nil
      return (push.port, holder.tokens?.port ?? 0)
    }
    Terminal.print("{\"event\":\"ready\",\"port\":\(ports.0),\"token_port\":\(ports.1)}")
    StopSignals.wait()
    let told = try Blocking.on(loop) {
      let tally = holder.push?.tally ?? holder.slices?.tally ?? ResponderTally()
      holder.push?.stop()
      // A stalled one has requests that are never answered: their handlers are left behind.
      if !settings.stalled {
        await holder.slices?.stop()
        await holder.tokens?.stop()
      }
      return tally.encoded
    }
    Terminal.print(told)
    loop.stop()
    thread.join()
    return .success
  }

  /// Touched on the loop only.
  private final class Holder: @unchecked Sendable {
    var push: PushResponder?
    var slices: SliceResponder?
    var tokens: TokenResponder?
  }
}

extension ResponderTally {
  var encoded: [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("event", "done")
    writer.member("requests", requests)
    writer.member("recipients", recipients)
    writer.member("connections", connections)
    writer.member("first", first.map(\.nanoseconds))
    writer.member("last", last.map(\.nanoseconds))
    writer.member("milestone", milestone.map(\.nanoseconds))
    writer.key("marked")
    writer.beginObject()
    for (token, time) in marked { writer.member(token, time) }
    writer.endObject()
    writer.endObject()
    return writer.bytes
  }

  init(_ told: JSONValue) {
    func instant(_ name: String) -> Instant? {
      told[name]?.integer.map { Instant(nanoseconds: UInt64(max(0, $0))) }
    }
    requests = Int(told["requests"]?.integer ?? 0)
    recipients = Int(told["recipients"]?.integer ?? 0)
    connections = Int(told["connections"]?.integer ?? 0)
    first = instant("first")
    last = instant("last")
    milestone = instant("milestone")
    for member in told["marked"]?.object ?? [] { marked[member.key] = member.value.integer }
  }
}
