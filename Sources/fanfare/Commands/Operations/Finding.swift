import Configuration
import Domain
import Gateway
import JSON

/// What `check` found of one thing.
struct Finding: Sendable {
  var subject: String
  /// Nil: in order.
  var problem: String?
  /// The problem is that something does not answer.
  var isAway = false
  /// In order, but not for long.
  var warning: String?
  var note: String
  /// Of a credential.
  var facts: CredentialFacts?

  init(_ subject: String, problem: String? = nil, note: String = "") {
    self.subject = subject
    self.problem = problem
    self.note = note
  }

  /// A warning; where the configuration is strict, a problem.
  init(of risk: Risk, _ setup: Setup) {
    self.init(risk.code)
    if setup.configuration.isStrict { problem = risk.text } else { warning = risk.text }
  }

  /// The API's own certificate. One that has expired is a problem.
  init(of certificate: ServerCertificate, now: WallTime) {
    self.init("API certificate")
    facts = certificate.facts
    guard let expiry = certificate.expiryWarning(now: now) else { return }
    if expiry.isOver { problem = expiry.text } else { warning = expiry.text }
  }

  var mark: String { problem != nil ? "FAIL" : warning != nil ? "WARN" : "ok" }

  var text: String {
    var parts: [String] = []
    if let facts {
      parts.append("\(facts.kind) \(facts.name)")
      if !facts.topics.isEmpty { parts.append("topics \(facts.topics.joined(separator: " "))") }
      if let expiry = facts.expiresAt { parts.append("expires \(expiry.rfc3339)") }
    }
    parts += [warning, problem ?? note].compactMap { $0 }.filter { !$0.isEmpty }
    return parts.joined(separator: "; ")
  }

  func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("subject", subject)
    writer.member("ok", problem == nil)
    writer.member("note", problem ?? note)
    writer.member("warning", warning)
    if let facts {
      writer.member("kind", facts.kind)
      writer.member("name", facts.name)
      writer.member("expires_at", facts.expiresAt?.rfc3339)
      writer.member("topics", JSONValue.array(facts.topics.map { .string($0) }))
    }
    writer.endObject()
  }
}
