import Loop

/// The sandbox on a loop of its own, in this process. Used from the main thread only.
package final class Vendors: @unchecked Sendable {
  package let ports: Sandbox.Ports
  package let directory: String
  private let loop: EventLoop
  private let thread: LoopThread
  /// Touched on the loop only.
  private var sandbox: Sandbox?

  /// Returns when they listen.
  package init(_ settings: SandboxSettings) throws {
    let loop = EventLoop(name: "sandbox")
    let thread = loop.start()
    let holder = Holder()
    do {
      ports = try Blocking.on(loop) {
        let sandbox = try Sandbox(loop: loop, settings: settings)
        holder.sandbox = sandbox
        return sandbox.ports
      }
    } catch {
      loop.stop()
      thread.join()
      throw error
    }
    self.loop = loop
    self.thread = thread
    directory = settings.directory
    sandbox = holder.sandbox
  }

  private final class Holder: @unchecked Sendable { var sandbox: Sandbox? }

  /// Closes every port, and ends the loop.
  package func stop() {
    try? Blocking.on(loop) { [self] in
      await sandbox?.stop()
      sandbox = nil
    }
    loop.stop()
    thread.join()
  }
}
