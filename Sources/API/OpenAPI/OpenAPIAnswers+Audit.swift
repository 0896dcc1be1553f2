import JSON
import Store

/// Schema of an entry of the audit.
extension OpenAPIAnswers {
  static let auditEntry = open(
    ["operation", "outcome", "began_at", "trail"],
    [
      ("id", text), ("operation", text), ("outcome", words(AuditEntry.Outcome.allCases.map(\.rawValue))),
      ("began_at", time), ("ended_at", time), ("key", text), ("user", text), ("address", text), ("object", text),
      ("query", text), ("created_id", text), ("status", count), ("code", text), ("request_id", text),
      ("request_digest", text),
      ("before_digest", text), ("after_digest", text), ("trail", words(AuditTrailName.allCases.map(\.rawValue))),
      ("number", count),
    ])
}
