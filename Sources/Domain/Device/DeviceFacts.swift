/// What the text of a message may depend on, of one registered device.
package struct DeviceFacts: Hashable, Sendable {
  package var platform: String?
  /// A BCP 47 tag, as the app gave it.
  package var language: String?
  /// Its own clock; nil: not told.
  package var timeZone: String?
  /// Values are strings, numbers or booleans.
  package var attributes: [JSONMember]

  package init(
    platform: String? = nil, language: String? = nil, timeZone: String? = nil, attributes: [JSONMember] = []
  ) {
    self.platform = platform
    self.language = language
    self.timeZone = timeZone
    self.attributes = attributes
  }
}

extension Device {
  package var facts: DeviceFacts {
    DeviceFacts(platform: platform, language: language, timeZone: timeZone, attributes: attributes)
  }
}
