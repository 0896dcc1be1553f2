/// The two worlds of APNs; what belongs to one is unknown in the other.
enum APNsEnvironment: String, CaseIterable, Sendable {
  case production, development
}

/// The topics that a credential may push to.
enum APNsTopics: Hashable, Sendable {
  /// A key: every topic of these bundle ids; of none given, of any.
  case bundles(Set<String>)
  /// A certificate: what its extensions name, and nothing else.
  case exactly([String])

  func allow(_ topic: String, bundle: String) -> Bool {
    switch self {
    case .bundles(let ids): ids.isEmpty || ids.contains(bundle)
    case .exactly(let topics): topics.contains(topic)
    }
  }

  /// "On a certificate with one topic it may be left out."
  var usual: String? {
    if case .exactly(let topics) = self, topics.count == 1 { topics[0] } else { nil }
  }
}
