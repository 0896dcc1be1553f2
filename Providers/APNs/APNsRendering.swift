import Domain
import JSON

/// Sections 2–5: a message as headers and body.
extension APNsAccount {
  static let payloadLimit = 4096
  static let collapseIDLimit = 64

  func render(_ message: Message, startedAt: WallTime) throws(RenderFault) -> Rendering {
    guard message.kind == .alert || message.kind == .background else {
      throw .kindNotSupported(message.kind, provider: .apns)
    }
    var warnings: [RenderWarning] = []
    let headers = try headers(message, startedAt: startedAt, warnings: &warnings)
    let body = try body(message, warnings: &warnings)
    guard body.count <= Self.payloadLimit else {
      throw .tooLarge("the payload", provider: .apns, bytes: body.count, limit: Self.payloadLimit)
    }
    return Rendering(path: "/3/device/", headers: headers, head: body, warnings: warnings)
  }

  private func headers(_ message: Message, startedAt: WallTime, warnings: inout [RenderWarning]) throws(RenderFault)
    -> [Header]
  {
    let priority: String
    switch message.kind {
    case .background:
      if message.priority == .high {
        warnings.append(RenderWarning("/priority", "apns: a background message always goes with priority 5"))
      }
      priority = "5"
    default:
      switch message.priority ?? .high {
      case .high: priority = "10"
      case .normal: priority = "5"
      case .low: priority = "1"
      }
    }
    let expiration = message.ttl == 0 ? 0 : startedAt.seconds + Int64(message.ttl)
    var headers = [
      Header(APNsHeader.pushType, message.kind.rawValue),
      Header(APNsHeader.priority, priority),
      Header(APNsHeader.expiration, String(expiration), indexed: false),
    ]
    if let key = message.collapseKey {
      try Self.checkCollapseID(key, pointer: "/collapse_key")
      headers.append(Header(APNsHeader.collapseID, key, indexed: false))
    }
    for member in message.overrides.apnsHeaders { try Self.apply(member, to: &headers) }
    return headers
  }

  private static func checkCollapseID(_ key: String, pointer: String) throws(RenderFault) {
    guard !key.isEmpty, key.utf8.count <= collapseIDLimit else {
      throw RenderFault(
        pointer: pointer, code: "collapse_key_too_long",
        detail: "apns: a collapse id has 1 to \(collapseIDLimit) bytes, this one has \(key.utf8.count)")
    }
    guard Header.isSafeValue(key) else {
      throw RenderFault(
        pointer: pointer, code: "header_invalid", detail: "apns: a collapse id is printable ASCII, as a header value")
    }
  }

  /// Headers that name the connection, the caller or the push itself; the transport and Fanfare set them.
  private static let reserved: Set<String> = [
    "authorization", APNsHeader.id, "host", "connection", "keep-alive", "proxy-connection", "transfer-encoding",
    "upgrade", "te", "trailer", "content-length", "content-encoding", "expect",
  ]

  private static func apply(_ member: JSONMember, to headers: inout [Header]) throws(RenderFault) {
    let pointer = "/overrides/apns/headers/\(member.key.pointerStep)"
    let name = member.key.lowercased()
    if name.hasPrefix(":") || reserved.contains(name) {
      throw RenderFault(pointer: pointer, code: "header_reserved", detail: "apns: this header is set by Fanfare alone")
    }
    let value: String
    switch member.value {
    case .string(let text): value = text
    case .integer(let number): value = String(number)
    default:
      throw RenderFault(pointer: pointer, code: "header_invalid", detail: "apns: a header is a string or whole number")
    }
    guard Header.isSafeName(name), Header.isSafeValue(value) else {
      throw RenderFault(
        pointer: pointer, code: "header_invalid",
        detail: "apns: a header is a plain name and printable ASCII, without line breaks")
    }
    if name == APNsHeader.collapseID { try checkCollapseID(value, pointer: pointer) }
    headers.removeAll { $0.name == name }
    let steady = name != APNsHeader.expiration && name != APNsHeader.collapseID
    let header = Header(name, value, indexed: steady)
    if name == APNsHeader.topic { headers.insert(header, at: 0) } else { headers.append(header) }
  }

  private func body(_ message: Message, warnings: inout [RenderWarning]) throws(RenderFault) -> [UInt8] {
    if message.data["aps"] != nil {
      throw RenderFault(
        pointer: "/data/aps", code: "reserved_key", detail: "apns: use notification and overrides.apns.aps instead")
    }
    var aps = APNsPayload.aps(message, warnings: &warnings)
    aps.merge(message.overrides.aps)
    guard message.kind != .alert || aps["alert"] != nil || aps["badge"] != nil || aps["sound"] != nil else {
      throw RenderFault(
        pointer: "/notification", code: "text_required",
        detail: "apns: an alert shows a text, sets a badge or plays a sound; send kind background for none of these")
    }
    var root: [JSONMember] = [JSONMember("aps", .object(aps))]
    root += message.data
    if message.kind == .alert, let image = message.notification?.image {
      if root[imageKey] == nil {
        root.append(JSONMember(imageKey, .string(image)))
      } else {
        warnings.append(RenderWarning("/notification/image", "apns: data has \(imageKey) already, which is kept"))
      }
    }
    return JSONValue.object(root).encoded
  }
}
