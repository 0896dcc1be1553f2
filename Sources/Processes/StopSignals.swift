import Glibc

/// SIGINT and SIGTERM, and where it is asked for SIGHUP, as events of the main thread: blocked for every thread, then
/// waited for. Children start with default signals.
package enum StopSignals {
  /// On the main thread, before any other thread is started.
  package static func block(hangUp: Bool = false) {
    var set = stopSet
    if hangUp { sigaddset(&set, SIGHUP) }
    pthread_sigmask(SIG_BLOCK, &set, nil)
  }

  /// As `wait`; calls `reload` for every SIGHUP that comes before. One for which it answers false ends the wait.
  package static func wait(reload: () -> Bool) {
    var set = stopSet
    sigaddset(&set, SIGHUP)
    while true {
      var number: Int32 = 0
      sigwait(&set, &number)
      guard number == SIGHUP, reload() else { return }
    }
  }

  /// Returns when one arrives; at once if one has.
  package static func wait() {
    var set = stopSet
    var number: Int32 = 0
    sigwait(&set, &number)
  }

  /// Runs `work` in the default way: one that comes meanwhile, or has come, ends the process.
  package static func unblocked<Result>(_ work: () -> Result) -> Result {
    var set = stopSet
    var before = sigset_t()
    pthread_sigmask(SIG_UNBLOCK, &set, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    return work()
  }

  /// Whether one is waiting to be taken.
  package static var isPending: Bool {
    var set = sigset_t()
    sigpending(&set)
    return sigismember(&set, SIGINT) == 1 || sigismember(&set, SIGTERM) == 1
  }

  private static var stopSet: sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, SIGINT)
    sigaddset(&set, SIGTERM)
    return set
  }
}
