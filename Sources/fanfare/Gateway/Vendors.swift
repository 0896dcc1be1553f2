import Loop
import Sandbox

/// The sandbox on a loop of its own, in this process. Used from the main thread only.
final class Vendors: @unchecked Sendable {
  let ports: Sandbox.Ports
  let directory: String
  private let loop: EventLoop
  private let thread: LoopThread
  /// Touched on the loop only.
  private var sandbox: Sandbox?

  init(_ settings: SandboxSettings) throws {
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

  /// How often a fault was really played, over all vendors.
  func played(_ kind: FaultKind) -> Int {
    (try? Blocking.on(loop) { [self] in sandbox?.stage.statistics.faults(kind) }) ?? 0
  }

  func stop() {
    try? Blocking.on(loop) { [self] in
      await sandbox?.stop()
      sandbox = nil
    }
    loop.stop()
    thread.join()
  }
}
