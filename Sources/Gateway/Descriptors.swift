import Glibc

/// Too few descriptors for what is configured.
package struct DescriptorShortage: Hashable, Sendable {
  package let needed: Int
  package let allowed: Int
  /// One line, for the operator.
  package var problem: String { "the process may open \(allowed) descriptors, and may need \(needed)" }
  package var fix: String {
    "raise the limit (LimitNOFILE= of systemd, --ulimit nofile= of Docker, ulimit -Hn), or lower limits.connections by "
      + "\(needed - allowed)"
  }
}

/// How many descriptors the process may open.
package enum Descriptors {
  /// For Redis, event loops, access tokens, files that are read, and standard streams.
  static let reserve = 128

  /// Raises the soft limit to the hard one. Nil: `needed` fit.
  static func raise(toFit needed: Int) -> DescriptorShortage? {
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    var limit = rlimit()
    guard getrlimit(resource, &limit) == 0 else { return nil }
    if limit.rlim_cur < limit.rlim_max {
      var raised = limit
      raised.rlim_cur = limit.rlim_max
      if setrlimit(resource, &raised) == 0 { limit = raised }
    }
    let allowed = Int(clamping: limit.rlim_cur)
    return needed <= allowed ? nil : DescriptorShortage(needed: needed, allowed: allowed)
  }
}
