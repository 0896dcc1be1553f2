import Glibc

/// Dumps of this process' memory, which holds keys, tokens and messages.
package enum CoreDumps {
  /// From here on this process and its children write none, not even through a program that the system pipes dumps to,
  /// which is no subject to the limit on their size.
  package static func forbid() {
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    _ = setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    let filter = open("/proc/self/coredump_filter", O_WRONLY | O_CLOEXEC)
    guard filter >= 0 else { return }
    defer { close(filter) }
    _ = "0".withCString { write(filter, $0, 1) }
  }
}
