import Domain
import Intake
import JSON
import Store

/// Faults that several checks of one message find, so that they are told together.
private struct MessageFaults {
  private(set) var violations: [Violation] = []

  /// Nil: the check has found faults. What is no fault of the message is thrown.
  mutating func check<Value>(_ part: () async throws(Problem) -> Value) async throws(Problem) -> Value? {
    do throws(Problem) {
      return try await part()
    } catch {
      guard error.code == .invalidMessage, !error.violations.isEmpty else { throw error }
      violations += error.violations
      return nil
    }
  }
}

/// The checks of a message that need more than the message: the registry, the zones of this server, the accounts.
/// Belongs to the loop.
final class MessageCheck {
  private let attributes: AttributeCheck
  private let rendering: RenderingCheck
  private let recipientResolver: RecipientResolver
  private let zones: ZoneBook

  init(attributes: AttributeCheck, rendering: RenderingCheck, recipientResolver: RecipientResolver, zones: ZoneBook) {
    self.attributes = attributes
    self.rendering = rendering
    self.recipientResolver = recipientResolver
    self.zones = zones
  }

  /// What reading alone does not find: of attributes, the zones of this server, the recipients, and what providers
  /// refuse.
  func perform(
    _ message: Message, _ contents: [VariantTexts], _ call: Call,
    recipients: () async throws(Problem) -> ResolvedRecipients
  ) async throws(Problem) -> (recipients: ResolvedRecipients, notices: [Notice]) {
    var faults = MessageFaults()
    _ = try await faults.check { () throws(Problem) in try await attributes.check(contents, call) }
    _ = try await faults.check { () throws(Problem) in try checkZones(message) }
    let found = try await faults.check(recipients)
    var findings = RenderingFindings()
    if let found {
      findings =
        try await faults.check { () throws(Problem) in
          try rendering.check(contents, found.credentials, call.now, devices: found.devicesByCredential)
        } ?? findings
    }
    guard faults.violations.isEmpty, let found else {
      throw Problem(Refusal(violations: faults.violations), .invalidMessage)
    }
    if case .users = message.to { found.leaveOutWithoutActivityToken(at: findings.needLiveActivityToken) }
    return (found, findings.notices)
  }

  /// Times of day need the database of zones.
  func checkZones(_ message: Message) throws(Problem) {
    var pointers: [String] = []
    if case .local? = message.sendAt { pointers.append("/send_at_local") }
    if case .own = message.quietHours { pointers.append("/quiet_hours") }
    guard !pointers.isEmpty, !zones.isThere else { return }
    let detail = "this server has no time zone database: install tzdata in /usr/share/zoneinfo"
    throw Problem(
      .invalidMessage, detail, violations: pointers.map { Violation($0, Violation.Code.notAllowed, detail) })
  }

  /// Members that say whom a message goes to, as what, and what else it must have: with a fault in one of them, what a
  /// provider would refuse is not known.
  private static let decisive: Set<String> = [
    "to", "kind", "providers", "reach", "onesignal_targeting", "variants", "live_activity", "file_provider", "mdm",
  ]

  /// A refusal with what later checks find in the rest of the message, as far as its other faults have no say in it.
  /// They are left out if `faults` has no room for what they find.
  func withLaterFaults(
    _ refusal: Refusal, _ document: JSONValue, _ call: Call, _ faults: FaultBudget
  ) async -> Refusal {
    let faulty = refusal.violations.map { Pointer($0.pointer) }
    guard let message = refusal.partialMessage, faults.hasRoom(behind: refusal.violations.count),
      !faulty.contains(where: { $0.steps.isEmpty || Self.decisive.contains(String($0.steps[0])) })
    else { return refusal }
    let contents = message.textsByVariant
    do throws(Problem) {
      _ = try await perform(message, contents, call) { () throws(Problem) in
        try await recipientResolver.resolve(message, call, document: document, keepsDevices: false)
      }
      return refusal
    } catch {
      guard error.code == .invalidMessage else { return refusal }
      let later = error.violations.filter { violation in
        let pointer = Pointer(violation.pointer)
        return !RenderFault.isOfAbsence(violation.code) && !faulty.contains { $0.meets(pointer) }
      }
      var whole = refusal
      whole.violations = faults.add(later, to: refusal.violations)
      return whole
    }
  }
}

/// A JSON pointer by its steps, as they are written.
private struct Pointer {
  let steps: [Substring]
  init(_ text: String) { steps = text.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map { $0 } }

  /// One of the two lies in the other, or they are the same. What is said of the whole message meets nothing.
  func meets(_ other: Pointer) -> Bool {
    !other.steps.isEmpty && zip(steps, other.steps).allSatisfy { $0 == $1 }
  }
}
