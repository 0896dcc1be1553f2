package import Domain

/// Validates and normalises requests (pure). A refusal tells every fault at once.
package enum Intake {
  /// Targets that one message may list.
  package static let maximumTargets = 10_000
  /// Faults told of one request; what lies beyond is counted.
  package static let maximumViolations = 200
  /// Of those one document of a bulk call may have so many.
  package static let maximumViolationsOfLine = 20
  /// Warnings told of one request; what lies beyond is counted.
  package static let maximumWarnings = 200

  /// A message as `POST /v1/messages` takes it. The same body reads the same at any later time, so that a worker can
  /// read what was stored.
  package static func message(from document: JSONValue) throws(Refusal) -> Message {
    try read(messageFrom: document).message
  }

  /// As `message(from:)`, with what was changed on the way. `providers`: those that exist, nil where any will do;
  /// `maximumTargets`: a lower bound than Intake's own; `now`: times that are asked for must lie ahead of it;
  /// `faults`: shared by all lines of a request.
  package static func read(
    messageFrom document: JSONValue, providers: [ProviderName: TokenRules]? = nil,
    maximumTargets: Int = Intake.maximumTargets,
    now: WallTime? = nil, faults: FaultBudget = FaultBudget()
  ) throws(Refusal) -> MessageReading {
    var findings = Findings(
      providers: providers, maximumTargets: min(maximumTargets, Self.maximumTargets), now: now, faults: faults)
    let message = readMessage(document, &findings)
    do throws(Refusal) {
      try findings.refuse()
    } catch {
      var refusal = error
      refusal.partialMessage = message
      throw refusal
    }
    guard let message else { preconditionFailure("a message was not read, but nothing was found wrong with it") }
    return MessageReading(message: message, warnings: findings.warnings)
  }

  /// A device as `PUT /v1/devices/{id}` and `POST /v1/devices` take it, with what else the request said. `id`: from the path, or nil
  /// (then a body's `id` is used, or one derived by the caller, left empty here). `isImported`: a line of `POST /v1/devices/bulk`,
  /// which may tell when the app registered elsewhere. `faults`: shared by all lines of a request.
  package static func read(
    deviceFrom document: JSONValue, id: DeviceID?, now: WallTime, providers: [ProviderName: TokenRules]? = nil,
    isImported: Bool = false, faults: FaultBudget = FaultBudget()
  ) throws(Refusal) -> DeviceReading {
    var findings = Findings(providers: providers, maximumTargets: maximumTargets, faults: faults)
    let reading = readDevice(document, id: id, now: now, isImported: isImported, &findings)
    try findings.refuse()
    guard var reading else { preconditionFailure("a device was not read, but nothing was found wrong with it") }
    reading.warnings = findings.warnings
    return reading
  }
}

/// A valid message, and what the client should know about it.
package struct MessageReading: Sendable {
  package var message: Message
  package var warnings: [Warning]
}

/// A valid device, and what the request said beside it.
package struct DeviceReading: Sendable {
  package var device: Device
  /// The names of the members that the request had: what it left out may be kept from an earlier registration.
  package var given: Set<String>
  /// Hex HMAC-SHA256 over `user`; checked by the caller, who knows the key.
  package var userSignature: String?
  /// In place of an id.
  package var installation: InstallationID?
  package var warnings: [Warning]
}
