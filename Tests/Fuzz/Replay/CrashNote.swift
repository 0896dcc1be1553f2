import Glibc

/// A trap ends the process, so what is at work is noted beforehand, for each thread, and written to standard error by whoever sees the
/// signal of the trap.
enum CrashNote {
  private static let signals = [SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGABRT, SIGFPE]

  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    pthread_key_create(&key) { free($0) }
    for signal in signals { watch(signal) }
    return key
  }()

  /// Nil: nothing is at work any more.
  static func set(_ note: String?) {
    free(pthread_getspecific(key))
    pthread_setspecific(key, note.map { UnsafeMutableRawPointer(strdup("trapped: \($0)\n")) } ?? nil)
  }

  /// Once; behind it the signal does what it would have done.
  private static func watch(_ signal: CInt) {
    var action = sigaction()
    action.sa_flags = CInt(bitPattern: UInt32(SA_RESETHAND))
    action.__sigaction_handler.sa_handler = { _ in CrashNote.tell() }
    sigaction(signal, &action, nil)
  }

  private static func tell() {
    guard let note = pthread_getspecific(key) else { return }
    write(STDERR_FILENO, note, strlen(note.assumingMemoryBound(to: CChar.self)))
  }
}
