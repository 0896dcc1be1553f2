import CommandFrame
import Glibc
import Processes

/// The wall clock of a soak and of all its children, which is moved on in leaps so that hours pass in minutes: retention, lives of keys
/// and hours of messages go by it. Waits and leases go by clocks that nobody moves. By Debian's libfaketime, with which the
/// program starts itself again. Main thread only.
struct SoakClock {
  private let file: String
  private var ahead = 0

  private static let library = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"
  /// See `ChaosStack`.
  private static let memoryLibrary = "libc.so.6"
  private static let name = "FANFARE_SOAK_CLOCK"

  /// Nil: the clock cannot be moved, and the soak takes as long as it takes. Does not return where the program has to start
  /// itself anew for it.
  static func take() -> SoakClock? {
    if let file = getenv(name) { return SoakClock(file: String(cString: file)) }
    // A sanitizer has to be the first of all libraries, and so has libfaketime.
    guard access(library, R_OK) == 0, dlsym(nil, "__asan_init") == nil, dlsym(nil, "__tsan_init") == nil else {
      return nil
    }
    var template = Array("/tmp/fanfare-clock.XXXXXX".utf8CString)
    let descriptor = mkstemp(&template)
    guard descriptor >= 0 else { return nil }
    Terminal.write("+0\n", to: descriptor)
    close(descriptor)
    let file = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    // libfaketime changes the environment of the first process that it is loaded into, by which Swift loses the arguments; not that
    // of the next one.
    let words =
      [
        "env", "LD_PRELOAD=\(library) \(memoryLibrary)", "FAKETIME_TIMESTAMP_FILE=\(file)",
        "FAKETIME_DONT_FAKE_MONOTONIC=1", "FAKETIME_NO_CACHE=1", "FAKETIME_DONT_RESET=1", "\(name)=\(file)",
        "env",
        ThisProgram.path,
      ] + CommandLine.arguments.dropFirst()
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    execvp("env", &arguments)
    unlink(file)
    return nil
  }

  /// Each process reads the file whenever it asks for the time: it is another one at once, and never half-written.
  mutating func leap(seconds: Int) {
    ahead += seconds
    let next = file + ".next"
    let descriptor = open(next, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return }
    Terminal.write("+\(ahead)\n", to: descriptor)
    close(descriptor)
    rename(next, file)
  }
  /// Microseconds until every process has asked for the time once more.
  static let settling: UInt32 = 500_000

  /// Removes the file, and what libfaketime leaves behind.
  func end() {
    unlink(file)
    for name in ["faketime_shm_", "sem.faketime_sem_"] { unlink("/dev/shm/\(name)\(getpid())") }
  }
}
