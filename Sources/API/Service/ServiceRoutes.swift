import Store

extension Endpoint {
  static let service: [Endpoint] = [
    Endpoint.later("GET", "/v1/events", .key([.read]), "Follow events"),
    Endpoint(
      "health", "GET", "/healthz", .open, "Show that the process is alive",
      answers: [.json(200, "The process is alive", "Health")]
    ) { resources in { _ in resources.health.health() } },
    Endpoint(
      readiness, "GET", "/readyz", .open, "Show whether the gateway is ready",
      answers: [.json(200, "Ready", "Readiness"), .json(503, "Not ready, with reasons", "Readiness")]
    ) { resources in { call in await resources.health.readiness(withKey: call.key != nil) } },
    Endpoint(
      metrics, "GET", "/metrics", .open, "Metrics in Prometheus' text format",
      answers: [.init(200, "Prometheus' text format", [("text/plain", nil)])],
      // Where `listen.operations` asks for a key, or serves them elsewhere.
      problems: [.unauthorized, .forbidden, .notFound, .invalidParameter, .overloaded]
    ) { resources in { _ in await resources.metrics.metricsPage() } },
    Endpoint(
      "openAPI", "GET", "/openapi.json", .open, "This description",
      answers: [.init(200, "OpenAPI 3.1", [("application/json", nil)])]
    ) { _ in { _ in Answer.bytes("application/json", OpenAPI.encoded) } },
  ]

  static let audits: [Endpoint] = [
    Endpoint(
      "listAudit", "GET", "/v1/audit", .key([.admin]),
      query: ["limit", "cursor", "operation", "key", "object", "from", "to", "format"],
      "List or export the audit: who did what, newest first",
      answers: [.list("A page, newest first; all entries as NDJSON or CSV", "Audit", "AuditEntry")],
      problems: [.invalidCursor]
    ) { $0.audits.listAudit }
  ]

  static let statuses: [Endpoint] = [
    Endpoint(
      "readStatus", "GET", "/v1/status", .key([.read]), "Show how credentials and queues are",
      answers: [.json(200, "As of a second ago; with scope `admin` also the gateway's workers and Redis", "Status")]
    ) { $0.status.readStatus },
    Endpoint(
      "readActivity", "GET", "/v1/activity", .key([.read]), query: ["hours"],
      "Show how deliveries ended, by hour, and how fast they end now",
      answers: [.json(200, "The last hours, the oldest first, and rates of the last whole minutes", "Activity")]
    ) { $0.activity.readActivity },
  ]
}
