import Glibc
import Processes

extension ChildProcess {
  /// Nothing happens to one that has ended.
  func signal(_ number: Int32) { if isRunning { kill(id, number) } }

  /// As a crash: no chance to clean up. Returns when it is gone.
  func destroy() {
    signal(SIGKILL)
    while isRunning { usleep(1_000) }
  }

  /// Of one that has ended by itself; nil: it runs, or a signal ended it.
  var exitCode: Int32? { !isRunning && status & 0x7f == 0 ? status >> 8 & 0xff : nil }
}
