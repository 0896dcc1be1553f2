import Domain
package import Intake

/// What the fields of a message are for, as docs/message.md says it.
extension OpenAPIRequests {
  /// The parts of a message, in the order of the page, with what they are called here.
  package static let parts: [(name: String, schema: Schema)] = [
    ("Message", .message), ("Recipients", .recipients), ("Token", .token), ("Channel", .channel),
    ("Notification", .notification), ("Sound", .sound), ("Button", .button), ("WebLook", .web),
    ("LocalizedText", .localized), ("LiveActivity", .liveActivity), ("FileProvider", .fileProvider), ("MDM", .mdm),
    ("Variant", .variant), ("QuietHours", .quietHours), ("Cap", .cap), ("ErrorBrake", .errorBrake),
    ("Durability", .durability), ("Overrides", .overrides), ("APNsOverrides", .apnsOverrides),
    ("FCMOverrides", .fcmOverrides),
  ]

  /// With the text of each field that the guide explains.
  static func described(_ object: JSONValue, as name: String) -> JSONValue {
    let known = name == "BulkMessage" ? "Message" : name
    guard let schema = parts.first(where: { $0.name == known })?.schema, var members = object.object,
      let properties = members["properties"]?.object
    else { return object }
    let explained = properties.map { property in
      guard let text = FieldGuide.text(schema, property.key), var inner = property.value.object else { return property }
      inner.set("description", .string(inner["maxProperties"] == nil ? text : "\(text) \(bounds(of: inner))"))
      return JSONMember(property.key, .object(inner))
    }
    members.set("properties", .object(explained))
    return .object(members)
  }

  /// What free content may have, as `free` says it.
  private static func bounds(of members: [JSONMember]) -> String {
    let text = members["description"]?.string ?? ""
    return text.firstRange(of: "At most").map { String(text[$0.lowerBound...]) } ?? ""
  }
}
