import Glibc

/// The sanitizer that this process and those that it starts are built with.
package enum Sanitizer {
  /// Then memory tells nothing: it holds shadows of all that is used, and what was freed for long.
  package static var isOn: Bool { dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil }
}
