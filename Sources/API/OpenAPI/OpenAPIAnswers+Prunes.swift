import Domain

/// Schemas of prunes that wait for the operator.
extension OpenAPIAnswers {
  static let pruneReview = open(
    ["credential", "held", "norm_share", "reasons", "sample"],
    [
      ("credential", text), ("held", count), ("unreadable", count), ("norm_share", number),
      (
        "brake",
        open(
          ["since", "seen", "dead", "share", "norm_share", "normal_share"],
          [
            ("since", time), ("seen", count), ("dead", count), ("share", number), ("norm_share", number),
            ("normal_share", number),
          ])
      ),
      (
        "reasons",
        .make([
          ("type", "array"), ("items", open(["reason", "count"], [("reason", text), ("count", count)])),
        ])
      ),
      (
        "sample",
        .make([
          ("type", "array"),
          (
            "items",
            open(
              ["device", "reason", "at"],
              [("device", text), ("reason", text), ("at", time), ("since", time), ("message", text)])
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
