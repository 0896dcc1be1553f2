import CProcess
package import Glibc

/// A child that dies with this process. Start it on the main thread, which lives as long. Ended by `stop` or `deinit`.
package final class ChildProcess: @unchecked Sendable {
  package let id: pid_t
  /// What it writes to standard output; -1 unless asked for.
  private let output: Int32
  private var ended = false
  private var status: Int32 = 0
  private var gathered: [UInt8] = []

  /// Why a program is not there, in words.
  package struct StartFailure: Error {
    package let reason: String
    package init(reason: String) { self.reason = reason }
  }

  /// `log`: where its standard error goes, and its standard output unless `readsOutput`. `core` >= 0 pins it.
  package init(_ path: String, _ arguments: [String], log: String, readsOutput: Bool = false, core: Int = -1)
    throws(StartFailure)
  {
    let null = open("/dev/null", O_RDONLY | O_CLOEXEC)
    let errors = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    defer {
      close(null)
      close(errors)
    }
    var ends: [Int32] = [-1, -1]
    if readsOutput { fanfare_pipe(&ends) }
    var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    id = fanfare_spawn(path, &words, null, readsOutput ? ends[1] : errors, errors, Int32(core))
    output = ends[0]
    if ends[1] >= 0 { close(ends[1]) }
    guard id > 0 else { throw StartFailure(reason: "\(path) cannot be started: \(String(cString: strerror(errno)))") }
  }

  deinit {
    stop()
    if output >= 0 { close(output) }
  }

  /// True until it has ended, whichever way.
  package var isRunning: Bool {
    if !ended, waitpid(id, &status, WNOHANG) == id { ended = true }
    return !ended
  }

  /// Of one that has ended by itself; nil: it runs, or a signal ended it.
  package var exitCode: Int32? { !isRunning && status & 0x7f == 0 ? status >> 8 & 0xff : nil }

  /// Nothing happens to one that has ended.
  package func signal(_ number: Int32) { if isRunning { kill(id, number) } }

  /// As a crash: no chance to clean up. Returns when it is gone.
  package func destroy() {
    signal(SIGKILL)
    while isRunning { usleep(1_000) }
  }

  /// Waits for a line of its output that `accept` takes; nil when it ends, or after `timeout` milliseconds.
  package func line(timeout: Int, where accept: (String) -> Bool) -> String? {
    let deadline = Clock.milliseconds + timeout
    while true {
      while let end = gathered.firstIndex(of: 0x0a) {
        let line = String(decoding: gathered[..<end], as: UTF8.self)
        gathered.removeFirst(end + 1)
        if accept(line) { return line }
      }
      let left = deadline - Clock.milliseconds
      var wanted = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
      guard left > 0, poll(&wanted, 1, Int32(left)) > 0 else { return nil }
      var chunk = [UInt8](repeating: 0, count: 4_096)
      let count = chunk.withUnsafeMutableBytes { read(output, $0.baseAddress, $0.count) }
      guard count > 0 else { return nil }
      gathered += chunk[..<count]
    }
  }

  /// Asks it to end, and kills it if it has not after `grace` milliseconds. Returns when it is gone.
  package func stop(grace: Int = 10_000) {
    guard isRunning else { return }
    kill(id, SIGTERM)
    let deadline = Clock.milliseconds + grace
    while isRunning {
      if Clock.milliseconds > deadline { kill(id, SIGKILL) }
      usleep(5_000)
    }
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
