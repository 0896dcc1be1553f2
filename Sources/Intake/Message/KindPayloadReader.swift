import Domain

/// Reads the own payloads of kinds that have little to say.
enum KindPayloadReader {
  static func fileProvider(_ message: Fields, _ findings: inout Findings) -> FileProvider? {
    guard let fields = message.object("file_provider", of: .fileProvider, &findings) else { return nil }
    fields.require("container_identifier", "name the container that has changed", &findings)
    let domain = fields.text("domain", .line(256), &findings)
    guard let container = fields.text("container_identifier", .line(256), &findings) else { return nil }
    return FileProvider(containerIdentifier: container, domain: domain)
  }

  static func mdm(_ message: Fields, _ findings: inout Findings) -> MDM? {
    guard let fields = message.object("mdm", of: .mdm, &findings) else { return nil }
    fields.require("push_magic", "give the `PushMagic` that the device sent when it enrolled", &findings)
    return fields.text("push_magic", .line(256), &findings).map(MDM.init(pushMagic:))
  }
}
