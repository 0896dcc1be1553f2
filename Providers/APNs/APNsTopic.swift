import Domain

/// A topic as protocols/apns.md section 3 builds it: a bundle id, and a suffix by what its tokens are for.
struct APNsTopic: Hashable, Sendable {
  var bundleID: String
  var tokenKinds: Set<TokenKind>

  /// What an MDM push certificate's topic starts with.
  static let managementPrefix = "com.apple.mgmt."

  /// protocols/apns.md section 3 read from the other side.
  private static let suffixes: [(suffix: String, kinds: Set<TokenKind>)] = PushType.all.filter {
    !$0.kind.topicSuffix.isEmpty
  }.map { ($0.kind.topicSuffix, Set($0.tokenKinds).subtracting([.device, .fid])) }

  /// `isApp`: the topic is known to be a bundle id as it stands.
  init(_ topic: String, isApp: Bool = false) {
    if topic.hasPrefix(Self.managementPrefix) {
      self.init(bundleID: topic, tokenKinds: [.mdm])
      return
    }
    let fitting = isApp ? [] : Self.suffixes.filter { topic.hasSuffix($0.suffix) && topic != $0.suffix }
    guard let suffix = fitting.first?.suffix else {
      self.init(bundleID: topic, tokenKinds: [.device])
      return
    }
    self.init(
      bundleID: String(topic.dropLast(suffix.count)), tokenKinds: fitting.reduce(into: []) { $0.formUnion($1.kinds) })
  }

  private init(bundleID: String, tokenKinds: Set<TokenKind>) {
    self.bundleID = bundleID
    self.tokenKinds = tokenKinds
  }

  static func isBundleID(_ text: String) -> Bool {
    (1...155).contains(text.utf8.count) && Header.isSafeValue(text) && !text.contains(" ")
  }
}
