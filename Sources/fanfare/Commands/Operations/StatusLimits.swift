import CommandFrame
import Domain
import Gateway
import JSON
import Store

/// The rate limits that are in use, as `fanfare status` shows them: how much each bucket has left. What processes have
/// leased from a bucket, a sixteenth of it each, counts as used.
struct StatusLimits: Sendable {
  private struct Row: Sendable {
    var app: AppID
    /// Nil: of the app as a whole.
    var key: APIKey?
    var use: LimitedUse
    var limit: RateLimit
    var left: Int

    var share: Double { Double(left) / Double(limit.quota) }
    var policy: String { "\(key == nil ? "app" : "key")-\(use.rawValue)" }
  }

  /// Those with the least share left first.
  private let used: [Row]
  private let idle: Int
  /// Rows for people.
  private static let most = 50

  init(_ store: Store, _ limits: [AppID: TenantLimits]) async throws(StoreError) {
    var rows: [Row] = []
    var buckets: [(name: LimitBucketName, limit: RateLimit)] = []
    for (app, limits) in limits.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      var owners: [(key: APIKey?, limits: RateLimits)] = [(nil, limits.app)]
      for key in try await store.keyring.keys(app: app) {
        owners.append((key, limits.limits(ofKeyThatOnlyRegisters: key.onlyRegisters)))
      }
      for (key, limits) in owners {
        for use in LimitedUse.allCases {
          guard let limit = limits[use] else { continue }
          buckets.append((key.map { LimitBucketName(key: $0.id, use) } ?? LimitBucketName(app: app, use), limit))
          rows.append(Row(app: app, key: key, use: use, limit: limit, left: 0))
        }
      }
    }
    for (place, left) in try await store.limitBuckets.left(in: buckets).enumerated() { rows[place].left = left }
    used = rows.filter { $0.left < $0.limit.quota }.sorted { $0.share < $1.share }
    idle = rows.count - used.count
  }

  /// Nothing where nothing is limited.
  func show() {
    guard !used.isEmpty || idle > 0 else { return }
    Terminal.print("limits")
    var table = Table("app", "key", "name", "limit", "of", "left")
    for row in used.prefix(Self.most) {
      table.row(
        row.app.rawValue, row.key?.id ?? "all", row.key?.name ?? "", row.use.rawValue,
        "\(row.limit.quota) in \(row.limit.window / 1_000) s", String(row.left))
    }
    if !table.isEmpty { table.show() }
    if used.count > Self.most { Terminal.print("  and \(used.count - Self.most) more; --json has all") }
    Terminal.print("  unused: \(counted(idle, used.isEmpty ? "limit" : "other limit"))")
  }

  func write(to writer: inout JSONWriter) {
    writer.objects("limits", used) { writer, row in
      writer.member("app", row.app.rawValue)
      writer.member("key", row.key?.id)
      writer.member("policy", row.policy)
      writer.member("quota", row.limit.quota)
      writer.member("window_seconds", row.limit.window / 1_000)
      writer.member("left", row.left)
    }
    writer.member("full_limits", idle)
  }
}
