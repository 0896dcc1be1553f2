import CommandFrame
import Domain
import Gateway
import JSON
import Loop
import Store

/// `fanfare status`: who owns what, and what stands against whom. From the store itself, so that no server need run.
enum StatusCommand {
  static let command = Command(
    name: "status", summary: "show workers, partitions, credentials, queues, limits and Redis",
    about: """
      Shows the live workers with their partitions, the state of each credential, the queues, the prune brakes that are
      on, the rate limits of keys and apps that are in use and what is left of them, and the state of Redis. The command
      opens the store of the configuration directly; the server does not have to run. If the file has faults that do not
      concern Redis, it shows them too: a running server ignores the file until they are corrected, and the exit code
      is 3. Exit code 1: something needs an operator.
      """,
    options: [Command.configuration, Command.json],
    examples: ["fanfare status", "fanfare status --json"]
  ) { arguments in
    let access = try StoreAccess.load(arguments)
    do {
      let view = try Blocking.run { loop in
        let store = Store(loop: loop, redis: access.redis, settings: access.store)
        defer { store.close() }
        try await store.openOnce()
        return try await StatusView(store, access, now: loop.wallNow)
      }
      if arguments.wantsJSON { Terminal.print(json: view.json) } else { view.show() }
      if access.faults != nil { return .configuration }
      return view.needsOperator ? .failure : .success
    } catch let error as StoreError {
      let code = ServeCommand.explain(.store(error))
      guard let faults = access.faults else { return code }
      Setup.report(faults, json: arguments.wantsJSON)
      return .configuration
    }
  }
}
