import Domain

/// Schemas of prunes that wait for the operator.
extension OpenAPIAnswers {
  private static let reasonCounts = JSONValue.make([
    ("type", "array"), ("items", open(["reason", "count"], [("reason", text), ("count", count)])),
  ])
  static let pruneReview = open(
    ["credential", "held", "waiting_count", "normal_share", "seen", "dead", "reasons", "waiting_reasons", "samples"],
    [
      ("credential", text), ("held", count), ("earliest_dead_at", time), ("waiting_count", count),
      ("unreadable", count),
      ("normal_share", number),
      ("seen", count), ("dead", count),
      (
        "brake",
        open(
          ["began_at", "seen", "dead", "share", "normal_share", "normal_share_limit"],
          [
            ("began_at", time), ("seen", count), ("dead", count), ("share", number), ("normal_share", number),
            ("normal_share_limit", number),
          ])
      ),
      ("reasons", reasonCounts), ("waiting_reasons", reasonCounts),
      (
        "samples",
        .make([
          ("type", "array"),
          (
            "items",
            open(
              ["device", "reason", "dead_at"],
              [("device", text), ("reason", text), ("dead_at", time), ("unregistered_at", time), ("message", text)])
          ),
        ])
      ),
    ])
  static let prunesApplied = open(
    ["credential", "pruned", "kept", "brake_released"],
    [("credential", text), ("pruned", count), ("kept", count), ("brake_released", flag)])
  static let prunesDiscarded = open(
    ["credential", "discarded", "brake_released"],
    [("credential", text), ("discarded", count), ("brake_released", flag)])
}
