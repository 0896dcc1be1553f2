import Glibc

/// The thread of a running loop. `join` once, after `stop`, from another thread.
package struct LoopThread: Sendable {
  private let thread: pthread_t
  package let loop: EventLoop

  init(running loop: EventLoop) {
    self.loop = loop
    var thread = pthread_t()
    let result = pthread_create(
      &thread, nil,
      { @Sendable context in
        Unmanaged<EventLoop>.fromOpaque(context!).takeRetainedValue().run()
        return nil
      }, Unmanaged.passRetained(loop).toOpaque())
    precondition(result == 0, "no thread left for an event loop")
    self.thread = thread
  }

  /// Blocks until the loop has ended.
  package func join() { pthread_join(thread, nil) }
}
