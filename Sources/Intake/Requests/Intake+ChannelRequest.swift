package import Domain

/// Whether a device that comes later gets the newest message of a channel.
package enum MessageStorage: String, Hashable, Sendable, CaseIterable {
  case none
  case newest
}

/// A broadcast channel to be made.
package struct ChannelReading: Sendable {
  package var bundleID: String?
  package var environment: Environment
  package var keepsNewest: Bool
}

extension Intake {
  /// A channel as `POST /v1/channels` takes it.
  package static func read(channelFrom document: JSONValue) throws(Refusal) -> ChannelReading {
    var findings = Findings(providers: nil, maximumTargets: maximumTargets)
    var reading: ChannelReading?
    if let fields = Fields(document, at: .root, of: .channelRequest, &findings) {
      let storage = fields.choice("message_storage", MessageStorage.self, &findings) ?? .none
      reading = ChannelReading(
        bundleID: readBundleID(fields, &findings),
        environment: fields.choice("environment", Environment.self, &findings) ?? .production,
        keepsNewest: storage == .newest)
    }
    try findings.refuse()
    guard let reading else { preconditionFailure("a channel was not read, but nothing was found wrong with it") }
    return reading
  }

  package static func isBundleID(_ text: String) -> Bool {
    (1...155).contains(text.utf8.count)
      && text.utf8.allSatisfy {
        $0.isASCIILetter || $0.isASCIIDigit || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-")
      }
  }

  package static func isChannelID(_ text: String) -> Bool { !text.isEmpty && TextRule.base64.fault(in: text) == nil }
}
