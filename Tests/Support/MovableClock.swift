import Glibc

/// The wall clock of processes that a test starts, and moves while they run (libfaketime). Their other clocks are left alone.
package final class MovableClock: FakeClock {
  private let file: String
  private static let library = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"

  package init() {
    precondition(access(Self.library, R_OK) == 0, "libfaketime is missing: Config/install-packages installs it")
    var template = Array("/tmp/ffclock.XXXXXX".utf8CString)
    let descriptor = mkstemp(&template)
    precondition(descriptor >= 0, "no temporary file")
    close(descriptor)
    file = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    move(to: 0)
  }
  deinit { unlink(file) }

  /// The clock is ahead of the machine's by so many seconds, from the next time that it is read.
  package func move(to seconds: Int) {
    let text = "\(seconds < 0 ? "" : "+")\(seconds)\n"
    let next = file + ".next"
    let descriptor = open(next, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    precondition(descriptor >= 0 && write(descriptor, text, text.utf8.count) == text.utf8.count)
    close(descriptor)
    precondition(rename(next, file) == 0)
  }

  /// For the processes that live by it. libfaketime asks for memory before it knows the time, and jemalloc for the time before
  /// it has memory: the C library's own malloc stands before it.
  package var environment: [String: String] {
    [
      "LD_PRELOAD": "\(Self.library) libc.so.6", "FAKETIME_TIMESTAMP_FILE": file, "FAKETIME_DONT_FAKE_MONOTONIC": "1",
      "FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_RESET": "1",
    ]
  }
}
