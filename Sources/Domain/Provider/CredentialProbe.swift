/// What the answer to a probe shows. A probe is a call that the vendor answers by looking at the credential, and that sends and
/// changes nothing.
package enum ProbeFinding: Hashable, Sendable {
  /// The vendor takes the credential; what that was seen by.
  case proven(String)
  /// The vendor answers, and keeps no account that it could compare the credential with; what shows whether it works.
  case reached(String)
  /// The vendor refuses it; its word, and what to do.
  case refused(String)
  /// The vendor said neither: it was busy, or its answer is not known.
  case unclear(String)
}
