import Domain
import JSON

/// protocols/apns.md sections 2 to 5: a message as headers and body.
extension APNsAccount {
  static let collapseIDLimit = 64

  func render(_ message: Message, startedAt: WallTime) throws(RenderFault) -> Rendering {
    var warnings: [RenderWarning] = []
    var faults = RenderFaults()
    let headers = headers(message, startedAt: startedAt, &warnings, &faults)
    let body = body(message, &warnings, &faults)
    if message.analyticsLabel != nil {
      warnings.append(RenderWarning("/analytics_label", "apns: APNs has no reports", isLeftOut: true))
    }
    let limit = message.apnsPayloadLimit
    if body.count > limit {
      faults.add(.tooLarge("the payload", provider: .apns, bytes: body.count, limit: limit))
    }
    try faults.refuse()
    return Rendering(
      path: message.isBroadcast ? "/4/broadcasts/apps/" : "/3/device/", headers: headers, head: body,
      mark: message.kind.topicSuffix, limit: limit, warnings: warnings)
  }

  private func headers(
    _ message: Message, startedAt: WallTime, _ warnings: inout [RenderWarning], _ faults: inout RenderFaults
  ) -> [Header] {
    var headers: [Header] = []
    headers.reserveCapacity(4)
    headers.append(Header(APNsHeader.pushType, message.kind.pushType))
    if let priority = message.apnsPriority {
      headers.append(Header(APNsHeader.priority, priority))
      if let asked = message.priority, priority == "5", asked != .normal {
        warnings.append(
          RenderWarning(
            "/priority", "apns: a \(message.kind.rawValue) push goes with priority 5 instead",
            isLeftOut: message.kind == .background))
      }
    }
    let expiration = message.ttl == 0 ? 0 : startedAt.seconds + Int64(message.ttl)
    headers.append(Header(APNsHeader.expiration, String(expiration), indexed: false))
    if let key = message.collapseKey {
      if message.isBroadcast {
        warnings.append(
          RenderWarning("/collapse_key", "apns: a channel keeps the newest message by itself", isLeftOut: true))
      } else {
        faults.check { () throws(RenderFault) in try Self.checkCollapseID(key, pointer: "/collapse_key") }
        headers.append(Header(APNsHeader.collapseID, key, indexed: false))
      }
    }
    for member in message.overrides.apnsHeaders {
      faults.check { () throws(RenderFault) in try Self.apply(member, to: &headers, message.isBroadcast) }
    }
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
    "authorization", APNsHeader.id, APNsHeader.topic, APNsHeader.pushType, APNsHeader.channelID, APNsHeader.requestID,
    "host", "connection", "keep-alive",
    "proxy-connection", "transfer-encoding",
    "upgrade", "te", "trailer", "content-length", "content-encoding", "expect",
  ]

  private static func apply(_ member: JSONMember, to headers: inout [Header], _ isBroadcast: Bool)
    throws(RenderFault)
  {
    let pointer = "/overrides/apns/headers/\(member.key.pointerStep)"
    let name = member.key.lowercased()
    if name.hasPrefix(":") || reserved.contains(name) {
      throw RenderFault(pointer: pointer, code: "header_reserved", detail: "apns: this header is set by Fanfare alone")
    }
    if isBroadcast, name == APNsHeader.collapseID {
      throw RenderFault(pointer: pointer, code: "header_reserved", detail: "apns: a broadcast has no such header")
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
    headers.append(Header(name, value, indexed: steady))
  }

  private func body(_ message: Message, _ warnings: inout [RenderWarning], _ faults: inout RenderFaults) -> [UInt8] {
    if message.data["aps"] != nil {
      faults.add(
        RenderFault(
          pointer: "/data/aps", code: "reserved_key", detail: "apns: use notification and overrides.apns.aps instead"))
    }
    let notification = message.notification
    var aps = APNsPayload.aps(message, notification, warnings: &warnings)
    aps.merge(message.overrides.aps)
    if message.kind == .alert, aps["alert"] == nil, aps["badge"] == nil, aps["sound"] == nil {
      faults.add(
        RenderFault(
          pointer: "/notification", code: RenderFault.textRequiredCode,
          detail: "apns: an alert shows a text, sets a badge or plays a sound; send kind background for none of these"))
    }
    var root = faults.check { () throws(RenderFault) in try APNsPayload.own(message) } ?? []
    root += message.data
    // Pushes that the app itself handles have no `aps`; an empty payload is none.
    if !aps.isEmpty || root.isEmpty { root.insert(JSONMember("aps", .object(aps)), at: 0) }
    if message.kind == .alert {
      add(imageKey, notification?.image.map(JSONValue.string), "/notification/image", to: &root, &warnings)
      add(dataKeys.link, notification?.link.map(JSONValue.string), "/notification/link", to: &root, &warnings)
      add(dataKeys.buttons, notification?.buttonData, "/notification/buttons", to: &root, &warnings)
      let encryptedBody = message.encryptedBody.map(JSONValue.string)
      add(APNsPayload.encryptedBodyKey, encryptedBody, "/encrypted_body", to: &root, &warnings)
    }
    return JSONValue.object(root).encoded
  }

  private func add(
    _ key: String, _ value: JSONValue?, _ pointer: String, to root: inout [JSONMember],
    _ warnings: inout [RenderWarning]
  ) {
    guard let value else { return }
    if root[key] == nil {
      root.append(JSONMember(key, value))
    } else {
      warnings.append(RenderWarning(pointer, "apns: data has \(key) already, which is kept", isLeftOut: true))
    }
  }
}
