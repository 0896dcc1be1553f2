import CProcess
package import Glibc

/// A child that dies with this process. Start it on the main thread, which lives as long. Ended by `stop` or `deinit`.
package final class ChildProcess: @unchecked Sendable {
  package let id: pid_t
  private var ended = false
  /// As `waitpid` tells it; 0 until it has ended.
  package private(set) var status: Int32 = 0

  /// Why a program is not there, in words.
  package struct StartFailure: Error {
    package let reason: String
    /// `reason`: a whole sentence for the person who started the program.
    package init(reason: String) { self.reason = reason }
  }

  /// `log`: the file of its standard error, and of its standard output unless `output` is a descriptor for that. `core` >= 0
  /// pins it.
  package init(
    _ path: String, _ arguments: [String], log: String, output: Int32? = nil, core: Int = -1
  ) throws(StartFailure) {
    let null = open("/dev/null", O_RDONLY | O_CLOEXEC)
    let errors = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    defer {
      close(null)
      close(errors)
    }
    var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    let id = fanfare_spawn(path, &words, null, output ?? errors, errors, Int32(core))
    // Thrown before `self` is whole: a `deinit` would signal process -1, which is all of the user's.
    guard id > 0 else { throw StartFailure(reason: "\(path) cannot be started: \(String(cString: strerror(errno)))") }
    self.id = id
  }

  deinit { stop() }

  /// True until it has ended, whichever way.
  package var isRunning: Bool {
    if !ended, waitpid(id, &status, WNOHANG) == id { ended = true }
    return !ended
  }

  /// Asks it to end, and kills it if it has not after `grace` milliseconds. Returns when it is gone.
  package func stop(grace: Int = 10_000) {
    guard isRunning else { return }
    kill(id, SIGTERM)
    if wait(milliseconds: grace) { return }
    kill(id, SIGKILL)
    while !wait(milliseconds: 1_000) {}
  }

  /// Blocks until it has ended, for so long at most; true: it has.
  package func wait(milliseconds: Int) -> Bool {
    guard isRunning else { return true }
    fanfare_wait(id, Int32(clamping: milliseconds))
    return !isRunning
  }
}

package enum Clock {
  /// Monotonic.
  package static var milliseconds: Int {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec * 1_000 + time.tv_nsec / 1_000_000
  }
}
