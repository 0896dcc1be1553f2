import Glibc

/// SIGINT and SIGTERM as an event of the main thread: blocked for every thread, then waited for. Children start with
/// default signals.
enum StopSignals {
  /// On the main thread, before any other thread is started.
  static func block() {
    var set = stopSet
    pthread_sigmask(SIG_BLOCK, &set, nil)
  }

  /// Returns when one arrives; at once if one has.
  static func wait() {
    var set = stopSet
    var number: Int32 = 0
    sigwait(&set, &number)
  }

  /// Whether one is waiting to be taken.
  static var isPending: Bool {
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
