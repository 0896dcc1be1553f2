package import Foundation

/// A clock of libfaketime that child processes live by.
package protocol FakeClock: Sendable {
  /// For a process that starts now.
  var environment: [String: String] { get }
}

extension FakeClock {
  /// Removes what libfaketime leaves behind of a process, once that runs.
  package func tidy(_ process: Int32) {
    for name in ["faketime_shm_", "sem.faketime_sem_"] { unlink("/dev/shm/\(name)\(process)") }
  }
}

/// A clock that child processes live by and that runs faster than the machine's, by Debian's libfaketime. All processes of one
/// clock agree on the time, whenever they start.
package struct FastClock: FakeClock {
  /// Seconds of its time in one of ours.
  package let speed: Int
  private let started = ContinuousClock.now

  package init(speed: Int) { self.speed = speed }

  private static let library = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"
  /// Waits as long as is left, where libfaketime would spin (`Tests/FastWait`).
  private static var waits: String { ChildProcess.testProducts.appending(path: "libFastWait.so").path }
  /// libfaketime asks for memory before it knows the time, and jemalloc for the time before it has memory: beside it the C
  /// library's own malloc stands first.
  private static let memory = "libc.so.6"

  /// A sanitizer has to be the first of all libraries, and so has libfaketime: with both a process does not start.
  package static var isAvailable: Bool { FileManager.default.isReadableFile(atPath: library) && !Sanitizer.isOn }

  /// A process that lives by it. libfaketime adds a variable to the environment of a process that has none of it, after which Swift finds
  /// its arguments no more: with `env` before it the program inherits that.
  package func start(_ program: URL, _ arguments: [String]) throws -> ChildProcess {
    try ChildProcess(URL(filePath: "/usr/bin/env"), [program.path] + arguments, environment: environment)
  }

  /// For a process that starts now.
  package var environment: [String: String] {
    let passed = (ContinuousClock.now - started) / .seconds(1)
    let ahead = Int((passed * Double(speed - 1)).rounded())
    return ["LD_PRELOAD": "\(Self.waits) \(Self.library) \(Self.memory)", "FAKETIME": "+\(ahead)s x\(speed)"]
  }

  /// Seconds of its time since it was made.
  package var seconds: Double { (ContinuousClock.now - started) / .seconds(1) * Double(speed) }
}
