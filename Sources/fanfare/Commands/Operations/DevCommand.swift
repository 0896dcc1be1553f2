import CommandFrame
import Configuration
import Domain
import Gateway
import Glibc
import JSON
import Processes
import Sandbox
import Store
import TLS

/// Everything on one machine, for trying it out: a private Redis, the vendors' stand-ins and the gateway.
enum DevCommand {
  static let command = Command(
    name: "dev", summary: "Redis, sandbox and gateway on this machine, in one command",
    about: """
      Starts a private Redis, the sandbox in place of the vendors, and the gateway in front of them; prints the API's
      address, a key and a complete curl line. Nothing leaves this machine and nothing is kept: ctrl-C stops it. Busy
      ports are replaced by free ones. SIGHUP reloads the configuration. Closing the terminal stops it.
      """,
    options: [Command.Option("--port", "PORT", "port of the API (8080)"), Command.json],
    examples: ["fanfare dev"]
  ) { arguments in try run(arguments) }

  private static func run(_ arguments: Arguments) throws -> ExitCode {
    let port = try arguments.integer("--port", in: 0...65_535) ?? 8080
    StopSignals.block(hangUp: true)
    let hadTerminal = Terminal.isControlling
    let folder = ScratchFolder()
    do {
      let redis = try PrivateRedis(in: folder.path)
      defer { redis.stop() }
      var settings = SandboxSettings(directory: folder.folder("vendors"))
      settings.replaceBusyPorts = true
      let vendors = try Vendors(settings)
      defer { vendors.stop() }
      var app = SandboxApp(
        redisSocket: redis.socket, port: port, vendors: vendors.ports, directory: vendors.directory)
      // For keys with scope `register`, as apps have them.
      app.registration = """
        register_tags: ["news", "lang:*"],
            registration: { keys: [{ id: "dev", algorithm: "HS256", secret_file: "identity-secret" }] },
        """
      folder.write("identity-secret", Base64URL.encode(SecureRandom.bytes(32)))
      let file = folder.write("fanfare.json5", app.text)
      let (gateway, setup, bound) = try start(
        file,
        orAnyPort: {
          app.port = 0
          folder.write("fanfare.json5", app.text)
        })
      let key = try gateway.createKey(
        NewKey(name: "fanfare dev", scopes: [.send, .devices, .read, .admin]), app: AppID(rawValue: SandboxApp.id))
      announce(
        url: ServeCommand.address(setup, port: bound), key: key, file: file, vendors.ports, json: arguments.wantsJSON)
      StopSignals.wait {
        // A terminal that is closed sends the same signal.
        if hadTerminal, !Terminal.isControlling { return false }
        gateway.reload(file: file)
        return true
      }
      Farewell.ending("requests in flight get up to 2 seconds to finish", json: arguments.wantsJSON)
      gateway.stop(grace: 2_000)
      Farewell.ended("all data was deleted", json: arguments.wantsJSON)
      return .success
    } catch let failure as ChildProcess.StartFailure {
      Terminal.complain(failure.reason)
      return .failure
    } catch let failure as SandboxFailure {
      Terminal.complain(failure.reason)
      return .failure
    } catch let failure as RunningGateway.Failure {
      return ServeCommand.explain(failure)
    } catch let faults as ConfigurationFaults {
      Setup.report(faults, json: arguments.wantsJSON)
      return .configuration
    }
  }

  /// The gateway of a configuration; where its port is taken, after a change of it.
  private static func start(
    _ file: String, orAnyPort change: () -> Void
  ) throws -> (gateway: RunningGateway, setup: Setup, port: Int) {
    let setup = try Setup(file: file)
    let first = RunningGateway(setup)
    if let port = try free(first) { return (first, setup, port) }
    change()
    let changed = try Setup(file: file)
    let second = RunningGateway(changed)
    guard let port = try second.start(api: true, workers: 1, isTrial: true).api else {
      preconditionFailure("an API has a port")
    }
    return (second, changed, port)
  }

  /// Nil: the port is taken.
  private static func free(_ gateway: RunningGateway) throws -> Int? {
    do {
      return try gateway.start(api: true, workers: 1, isTrial: true).api
    } catch let failure as RunningGateway.Failure {
      guard case .listen = failure else { throw failure }
      return nil
    }
  }

  private static func announce(url: String, key: String, file: String, _ ports: Sandbox.Ports, json: Bool) {
    if json {
      var writer = JSONWriter()
      writer.beginObject()
      writer.member("event", "ready")
      writer.member("url", url)
      writer.member("key", key)
      writer.member("config", file)
      writer.member("sandbox", "http://127.0.0.1:\(ports.control)")
      writer.member("pid", Int(getpid()))
      writer.endObject()
      return Terminal.print(writer.bytes)
    }
    let sandbox = "http://127.0.0.1:\(ports.control)"
    let path = ThisProgram.missingSearchFolder.map { " PATH='\($0)':\"$PATH\"" } ?? ""
    Terminal.print(
      """
      Fanfare is ready. The sandbox stands in for the vendors. Press ctrl-C to stop.

        API      \(url)
        key      \(key)
        console  \(url)/console   (sign in with the key)
        config   \(file)
        sandbox  \(sandbox)/log   (what the vendors received)

      For the README's examples, docs/tasks.md and every fanfare command, run this in another terminal:

        export FANFARE_URL=\(url) FANFARE_KEY=\(key) FANFARE_CONFIG=\(file) FANFARE_SANDBOX=\(sandbox) FANFARE_PID=\(getpid())\(path)

      Send a first message:

        curl -s \(url)/v1/messages -H 'Authorization: Bearer \(key)' -H 'Content-Type: application/json' -d '{
          "to": { "tokens": [{ "provider": "fcm", "token": "my-first-token" }] },
          "notification": { "title": "Hello", "body": "from Fanfare" }
        }'
      """)
  }
}
