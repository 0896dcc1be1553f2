import Configuration
import Domain
import Glibc
import Telemetry

/// Tells of configurations taken and refused, and of credentials that end soon.
struct ReloadMetrics {
  private let metrics: Metrics
  private let isLast: Gauge
  private let taken: Counter
  private let refused: Counter

  init(_ metrics: Metrics) {
    self.metrics = metrics
    isLast = metrics.gauge(
      "fanfare_config_last_reload_successful",
      "0 while the last reloaded configuration is refused and an older one is in use.")
    let counter = { (result: String) in
      metrics.counter("fanfare_config_reloads_total", "Configurations read on SIGHUP.", [("result", result)])
    }
    taken = counter("taken")
    refused = counter("refused")
  }

  func began(with setup: Setup, _ log: Log) {
    isLast.set(1)
    tellExpiry(setup, log)
  }

  func took(_ setup: Setup, _ reload: Reload, _ log: Log) {
    isLast.set(1)
    taken.add()
    log(
      .info, "configuration_reloaded",
      [
        "apps": String(setup.apps.count), "credentials": String(setup.accounts.count),
        "changed": Self.list(reload.changed), "removed": Self.list(reload.removed),
      ])
    if !reload.waiting.isEmpty {
      log(.warning, "restart_needed", ["settings": reload.waiting.joined(separator: " ")])
    }
    for id in reload.removed { expiry(of: id).set(0) }
    tellExpiry(setup, log)
  }

  func refused(_ faults: ConfigurationFaults, _ log: Log) {
    isLast.set(0)
    refused.add()
    for fault in faults.faults {
      log(.error, "configuration_refused", ["file": faults.file, "fault": fault.text])
    }
  }

  private static func list(_ ids: Set<CredentialID>) -> String {
    ids.map(\.rawValue).sorted().joined(separator: " ")
  }

  private func expiry(of credential: CredentialID) -> Gauge {
    metrics.gauge(
      "fanfare_credential_expiry_timestamp_seconds",
      "When a certificate expires; 0: it is no longer in the configuration.",
      [("credential", credential.rawValue)])
  }

  private func tellExpiry(_ setup: Setup, _ log: Log) {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    let now = WallTime(seconds: Int64(time.tv_sec))
    for (id, account) in setup.accounts.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      guard let end = account.facts.expiresAt else { continue }
      expiry(of: id).set(end.seconds)
      guard let warning = account.facts.expiryWarning(now: now) else { continue }
      log(
        warning.isOver ? .error : .warning, "credential_expires",
        ["credential": id.rawValue, "expires_at": end.rfc3339, "detail": warning.text])
    }
  }
}
