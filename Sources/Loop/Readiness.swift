import CEpoll

/// What to be told about a descriptor.
package struct Interests: OptionSet, Sendable {
  package let rawValue: UInt8
  /// Other bits than the two below have no effect.
  package init(rawValue: UInt8) { self.rawValue = rawValue }
  /// Bytes, a new connection or the peer's end can be read.
  package static let readable = Self(rawValue: 1)
  /// There is room to write, or a connect has ended.
  package static let writable = Self(rawValue: 2)

  var events: UInt32 {
    (contains(.readable) ? EPOLLIN.rawValue : 0) | (contains(.writable) ? EPOLLOUT.rawValue : 0)
  }
}

/// What a descriptor is ready for. An error or hang-up reads as both, so that the next read or write reports it.
package struct Readiness: Sendable {
  package let readable: Bool
  package let writable: Bool
  package let failed: Bool

  init(events: UInt32) {
    failed = events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0
    readable = failed || events & EPOLLIN.rawValue != 0
    writable = failed || events & EPOLLOUT.rawValue != 0
  }
}
