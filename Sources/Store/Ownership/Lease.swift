package import Domain

/// A partition owned by this process: proof and deadline (design D5). Held by the worker, passed to all that writes.
package struct Lease: Hashable, Sendable {
  package var partition: Int
  package var epoch: Int64
  package var nonce: UInt64
  /// Monotonic; three quarters of the lease after the request for it was sent. No write to a socket after it.
  package var deadline: Instant
}
