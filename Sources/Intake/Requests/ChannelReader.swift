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

/// Reads broadcast channels.
package enum ChannelReader {
  /// A channel as `POST /v1/channels` takes it.
  package static func read(_ document: JSONValue) throws(Refusal) -> ChannelReading {
    var findings = Findings(providers: nil, maximumTargets: RequestBounds.targets)
    var reading: ChannelReading?
    if let fields = Fields(document, at: .root, of: .channelRequest, &findings) {
      let storage = fields.choice("message_storage", MessageStorage.self, &findings) ?? .none
      reading = ChannelReading(
        bundleID: AddressReader.bundleID(fields, &findings),
        environment: fields.choice("environment", Environment.self, &findings) ?? .production,
        keepsNewest: storage == .newest)
    }
    try findings.refuse()
    guard let reading else { preconditionFailure("a channel was not read, but nothing was found wrong with it") }
    return reading
  }

  /// `to.channel`: a broadcast channel of Live Activities.
  static func recipient(_ recipients: Fields, _ findings: inout Findings) -> Address? {
    guard let fields = recipients.object("channel", of: .channel, &findings) else { return nil }
    fields.require("id", "`id` is missing", &findings)
    let environment = fields.choice("environment", Environment.self, &findings) ?? .production
    let bundleID = AddressReader.bundleID(fields, &findings)
    guard let id = fields.text("id", .base64, &findings) else { return nil }
    return Address(provider: .apns, token: id, tokenKind: .channel, environment: environment, bundleID: bundleID)
  }

  /// True if a channel may have this id.
  package static func isChannelID(_ text: String) -> Bool { !text.isEmpty && TextRule.base64.fault(in: text) == nil }
}
