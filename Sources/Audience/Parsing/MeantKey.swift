package import Domain

/// What a tag with a key was probably meant to ask for. `platfrm:ios` is a tag as any other to the grammar.
package enum MeantKey {
  /// Names that other products have for the facts of a device.
  private static let others: [String: AudienceField] = [
    "authorization": .permission, "device_type": .platform, "language": .language, "last_seen": .seen,
    "last_session": .seen, "locale": .language, "os": .platform, "permission": .permission, "time_zone": .zone,
    "timezone": .zone, "version": .appVersion,
  ]

  /// The same value under the key that was probably meant; nil: no key is near. The key alone if the value does not fit it.
  package static func nearest(to tag: String, _ suggestions: SuggestionBudget) -> String? {
    guard let colon = tag.unicodeScalars.firstIndex(of: ":") else { return nil }
    let key = String(tag.unicodeScalars[..<colon])
    let known = others[key.lowercased()]?.rawValue ?? suggestions.nearest(to: key, among: Key.all)
    guard let known else { return nil }
    let meant = known + String(tag.unicodeScalars[colon...])
    return (try? AudienceExpression(parsing: meant)) == nil ? known + ":" : meant
  }
}
