import Domain
import JSON
import Loop
import Store

/// `fanfare status`: who owns what, and what stands against whom. From the store itself, so that no server need run.
enum StatusCommand {
  static let command = Command(
    name: "status", summary: "show workers, partitions, credentials, queues and Redis",
    about: """
      Shows which workers live and which partitions they own, what each credential is doing, what waits, which prune brakes are
      on, and how Redis is. Reads the store of the configuration directly, so the server need not run. Exit code 1: something
      needs an operator.
      """,
    options: [Command.configuration, Command.json],
    examples: ["fanfare status", "fanfare status --json"]
  ) { arguments in
    let setup = try Setup.load(arguments)
    do {
      let view = try Blocking.run { loop in
        let store = Store(loop: loop, redis: setup.redis, settings: setup.store)
        defer { store.close() }
        try await store.open()
        return try await StatusView(
          store, credentials: Array(setup.accounts.keys), replicas: setup.replicas, now: loop.wallNow)
      }
      if arguments.wantsJSON { Terminal.print(json: view.json) } else { view.show() }
      return view.needsOperator ? .failure : .success
    } catch let error as StoreError {
      return ServeCommand.explain(.store(error))
    }
  }
}
