import Domain
import JSON

/// Schemas of how the gateway is and of what it did.
extension OpenAPIAnswers {
  static let statusSchemas: [JSONMember] = [
    JSONMember("Status", status), JSONMember("CredentialStatus", credentialStatus), JSONMember("Activity", activity),
  ]

  private static let status = open(
    ["needs_operator", "credentials", "queue"],
    [
      ("needs_operator", flag), ("configuration_faults", .make([("type", "array"), ("items", text)])),
      ("workers", objects(["worker"], statusWorker)), ("partitions", objects(["partition"], statusPartition)),
      ("credentials", list("CredentialStatus")),
      (
        "queue",
        open(["jobs"], [("jobs", count), ("retries", count), ("quarantined", count), ("oldest_at", time)])
      ), ("redis", statusRedis),
    ])
  private static let statusWorker: [(String, JSONValue)] = [
    ("worker", text), ("host", text), ("process", count), ("started_at", time), ("heartbeat_at", time),
    ("partition_count", count),
  ]
  private static let statusPartition: [(String, JSONValue)] = [
    ("partition", count), ("worker", text), ("epoch", count), ("lease_ends_at", time),
  ]
  private static let statusRedis = open(
    ["version"],
    [
      ("version", text), ("role", text), ("used_memory_bytes", count), ("maximum_memory_bytes", count),
      ("policy", text), ("append_only", flag), ("append_fsync", text), ("replicas", count),
      ("losses", .make([("type", "array"), ("items", text)])),
    ])
  private static let credentialStatus = open(
    ["credential", "state", "connections", "at_work", "limit", "jobs", "held_prunes"],
    [
      ("credential", text), ("state", text), ("reason", text), ("began_at", time), ("next_try_at", time),
      ("not_before_at", time), ("kind", text), ("expires_at", time), ("expiry", text), ("connections", count),
      ("at_work", count), ("limit", count), ("jobs", count), ("oldest_at", time), ("held_prunes", count),
      (
        "prune_brake",
        open(
          ["began_at", "seen", "dead", "normal_share", "normal_share_limit"],
          [
            ("began_at", time), ("seen", count), ("dead", count), ("normal_share", number),
            ("normal_share_limit", number),
          ])
      ),
    ])
  private static let activity = open(
    ["hours", "rates"],
    [
      (
        "hours",
        objects(
          ["began_at", "counts"],
          [
            ("began_at", time),
            (
              "counts",
              objects(
                ["outcome", "count"],
                [("provider", text), ("outcome", words(Outcome.allCases.map(\.rawValue))), ("count", count)])
            ),
          ])
      ), ("rates", objects(["provider", "per_second"], [("provider", text), ("per_second", number)])),
    ])

  private static func objects(_ required: [String], _ members: [(String, JSONValue)]) -> JSONValue {
    .make([("type", "array"), ("items", open(required, members))])
  }
}
