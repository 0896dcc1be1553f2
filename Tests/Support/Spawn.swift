import CSpawn
import Glibc

/// Starts a program that has nothing of this process but what is given: a descriptor that it inherited would keep a
/// connection open that another test has closed. Nil: it cannot be started; `errno` says why.
///
/// `environment`: in place of this process' own. `input` and `output`: its standard descriptors; nil: the input of this
/// process, and nowhere.
func spawn(
  _ path: String, _ arguments: [String], environment: [String: String]? = nil, directory: String? = nil,
  input: Int32? = nil, output: Int32? = nil
) -> pid_t? {
  var actions = posix_spawn_file_actions_t()
  posix_spawn_file_actions_init(&actions)
  defer { posix_spawn_file_actions_destroy(&actions) }
  if let input { posix_spawn_file_actions_adddup2(&actions, input, 0) }
  for descriptor in [Int32(1), 2] {
    if let output {
      posix_spawn_file_actions_adddup2(&actions, output, descriptor)
    } else {
      posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_WRONLY, 0)
    }
  }
  guard fanfare_close_from(&actions, 3) == 0 else { return nil }
  if let directory, fanfare_change_directory(&actions, directory) != 0 { return nil }

  // The caller's thread may block signals; a shell that inherits that never notices its children.
  var attributes = posix_spawnattr_t()
  posix_spawnattr_init(&attributes)
  defer { posix_spawnattr_destroy(&attributes) }
  var signals = sigset_t()
  sigemptyset(&signals)
  posix_spawnattr_setsigmask(&attributes, &signals)
  sigaddset(&signals, SIGPIPE)
  posix_spawnattr_setsigdefault(&attributes, &signals)
  posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

  let words = CStrings([path] + arguments)
  let variables = environment.map { CStrings($0.map { "\($0.key)=\($0.value)" }) }
  var child: pid_t = 0
  errno = withExtendedLifetime((words, variables)) {
    posix_spawn(&child, path, &actions, &attributes, words.pointers, variables?.pointers ?? environ)
  }
  return errno == 0 ? child : nil
}

/// A list of texts as C has it.
private final class CStrings {
  let pointers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
  private let count: Int

  init(_ texts: [String]) {
    count = texts.count
    pointers = .allocate(capacity: count + 1)
    for (index, text) in texts.enumerated() { pointers[index] = strdup(text) }
    pointers[count] = nil
  }

  deinit {
    for index in 0..<count { free(pointers[index]) }
    pointers.deallocate()
  }
}
