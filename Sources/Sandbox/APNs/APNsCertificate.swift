import HTTP2
import TLS

/// What a client certificate of APNs says in its extensions, read and written. Values are DER: topics a sequence of each
/// topic's name and the sequence of its services; environments are told by the presence of an extension.
struct APNsCertificate: Hashable, Sendable {
  static let topicsExtensions = ["1.2.840.113635.100.6.3.6", "1.2.840.113635.100.6.3.4"]
  static let environmentExtensions: [APNsEnvironment: String] = [
    .development: "1.2.840.113635.100.6.3.1", .production: "1.2.840.113635.100.6.3.2",
  ]

  var topics: [String]
  var environments: Set<APNsEnvironment>
  var isTrusted = true

  init(topics: [String], environments: Set<APNsEnvironment>) {
    self.topics = topics
    self.environments = environments
  }

  /// An MDM certificate names no topics: its subject is the topic.
  init(_ peer: HTTP2ClientCertificate) {
    topics = []
    for oid in Self.topicsExtensions { topics += peer.certificate.extension(oid).map { Self.topics(in: $0) } ?? [] }
    if topics.isEmpty, let uid = peer.certificate.userID { topics = [uid] }
    environments = Set(Self.environmentExtensions.filter { peer.certificate.extension($0.value) != nil }.keys)
    isTrusted = peer.isTrusted
  }

  var extensions: [(oid: String, value: [UInt8])] {
    var list = environments.compactMap { Self.environmentExtensions[$0] }.sorted().map { (oid: $0, value: Self.null) }
    guard !topics.isEmpty else { return list }
    let content = topics.flatMap { topic in
      let service = topic.split(separator: ".").last.map(String.init) ?? "app"
      return Self.tagged(Self.text, Array(topic.utf8))
        + Self.tagged(Self.sequence, Self.tagged(Self.text, Array(service.utf8)))
    }
    list.append((oid: Self.topicsExtensions[0], value: Self.tagged(Self.sequence, content)))
    return list
  }

  // MARK: DER

  private static let null: [UInt8] = [0x05, 0x00]
  private static let text: UInt8 = 0x0C
  private static let sequence: UInt8 = 0x30

  private static func tagged(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
    let count = content.count
    let length: [UInt8] =
      switch count {
      case ..<128: [UInt8(count)]
      case ..<256: [0x81, UInt8(count)]
      default: [0x82, UInt8(count >> 8 & 0xFF), UInt8(count & 0xFF)]
      }
    return [tag] + length + content
  }

  /// The texts that stand directly in the outer sequence.
  static func topics(in der: [UInt8]) -> [String] {
    var outer = der[...]
    guard let (tag, content) = element(&outer), tag == sequence else { return [] }
    var rest = content
    var topics: [String] = []
    while let (tag, content) = element(&rest) {
      if tag == text { topics.append(String(decoding: content, as: UTF8.self)) }
    }
    return topics
  }

  private static func element(_ bytes: inout ArraySlice<UInt8>) -> (tag: UInt8, content: ArraySlice<UInt8>)? {
    guard let tag = bytes.popFirst(), let first = bytes.popFirst() else { return nil }
    var count = Int(first)
    if first >= 0x80 {
      guard (0x81...0x83).contains(first) else { return nil }
      count = 0
      for _ in 0..<Int(first & 0x7F) {
        guard let byte = bytes.popFirst() else { return nil }
        count = count << 8 | Int(byte)
      }
    }
    guard count <= bytes.count else { return nil }
    let content = bytes.prefix(count)
    bytes = bytes.dropFirst(count)
    return (tag, content)
  }
}
