package import Domain

/// Another time for a message that has not begun.
package struct ScheduleChange: Hashable, Sendable {
  /// `send_at` or `send_at_local`, as given.
  package var member: JSONMember
  package var sendAt: SendTime
  /// The version that the client has read; nil: whichever it is now.
  package var version: Int?
}

/// Reads another time for a message.
package enum ScheduleReader {
  /// The body of `PATCH /v1/messages/{id}`.
  package static func read(_ document: JSONValue, now: WallTime) throws(Refusal) -> ScheduleChange {
    var findings = Findings(providers: nil, maximumTargets: RequestBounds.targets, now: now)
    var change: ScheduleChange?
    if let fields = Fields(document, at: .root, of: .schedule, &findings) {
      change = read(fields, &findings)
      change?.version = fields.integer("version", in: 1...Int64(Int32.max), &findings).map(Int.init)
      if change == nil, !fields.hasOrMeans("send_at"), !fields.hasOrMeans("send_at_local") {
        findings.refuse(
          fields.place, .required,
          "give the new time as `send_at` or `send_at_local`; to stop the message, cancel it")
      }
    }
    try findings.refuse()
    guard let change else { preconditionFailure("no time was read, but nothing was found wrong with it") }
    return change
  }

  /// The body of `POST /v1/drafts/{id}/send`. Nil: the time that the draft has counts, or it goes at once.
  package static func readOfDraft(_ document: JSONValue, now: WallTime) throws(Refusal) -> ScheduleChange? {
    var findings = Findings(providers: nil, maximumTargets: RequestBounds.targets, now: now)
    let change = Fields(document, at: .root, of: .draftSending, &findings).flatMap { read($0, &findings) }
    try findings.refuse()
    return change
  }

  private static func read(_ fields: Fields, _ findings: inout Findings) -> ScheduleChange? {
    guard let time = SendTimeReader.read(fields, &findings) else { return nil }
    let name = fields.has("send_at") ? "send_at" : "send_at_local"
    return fields[name].map { ScheduleChange(member: JSONMember(name, $0), sendAt: time) }
  }
}
