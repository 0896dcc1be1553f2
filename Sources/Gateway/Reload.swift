import Configuration
import Domain

/// What differs between the configuration at work and a new one.
struct Reload {
  /// Credentials that are new, or whose settings or files have changed.
  let changed: Set<CredentialID>
  let removed: Set<CredentialID>
  /// Settings that differ and hold only from the next start on, as pointers.
  let waiting: [String]

  init(from old: Setup, to new: Setup) {
    changed = Set(new.credentials.filter { old.credentials[$0.key] != $0.value }.keys)
    removed = Set(old.credentials.keys).subtracting(new.credentials.keys)
    let (before, after) = (old.configuration, new.configuration)
    let settings: [(String, Bool)] = [
      ("/redis", before.redis == after.redis), ("/listen", before.listen.isSamePlace(as: after.listen)),
      ("/partitions", before.partitions == after.partitions), ("/retention", before.retention == after.retention),
      ("/console", before.console == after.console), ("/audit", before.audit == after.audit),
      ("/lanes", before.lanes == after.lanes),
      ("/retry", before.retry == after.retry),
      ("/http2", before.http2 == after.http2), ("/limits", before.limits == after.limits),
      ("/workers", before.workers == after.workers), ("/monitor", before.monitor == after.monitor),
      ("/prune_brake", before.pruneBrake == after.pruneBrake),
      ("/durability/timeout", before.durability.timeout == after.durability.timeout),
      ("/ca_file", before.caFile == after.caFile), ("/log_level", before.logLevel == after.logLevel),
    ]
    waiting = settings.filter { !$0.1 }.map(\.0)
  }

  /// What queued deliveries of one provider must not be sent through: a credential that kept its name and changed its
  /// provider.
  static func faults(from old: Setup, to new: Setup) -> [ConfigurationFault] {
    new.configuration.apps.flatMap { entry in
      zip(entry.credentials, entry.places).compactMap { credential, place in
        guard let known = old.credentials[credential.id], known.provider != credential.provider else { return nil }
        return ConfigurationFault(
          pointer: place + "/provider",
          problem:
            "\(credential.id.rawValue) has sent to \(known.provider.rawValue) until now, and its queued jobs would "
            + "go to \(credential.provider.rawValue)",
          fix: "Give the new credential another name")
      }
    }
  }
}
