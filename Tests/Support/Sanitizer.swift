import Glibc

/// The sanitizer that this process and those that it starts are built with.
package enum Sanitizer {
  /// Then memory tells nothing: it holds shadows of all that is used, and what was freed for long.
  package static let isOn = dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil

  /// By how much longer to wait for what must come; nothing that is asked of the program in time is asked under it.
  package static let slowness = isOn ? 10 : 1
}
