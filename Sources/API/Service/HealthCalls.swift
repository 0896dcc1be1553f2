import Domain
import HTTPServer
import JSON
import Store

/// `/healthz` and `/readyz`: how the gateway is, for who runs it.
struct HealthCalls {
  let store: Store
  let configuration: AdoptedConfiguration
  /// Everybody is told why it is not ready.
  let isOpen: Bool

  /// The process lives and its loop turns.
  func health() -> HTTPServerResponse { Answer.json { $0.member("status", "ok") } }

  /// Whether the gateway can do its work, and if not, why. What stands against a credential is told and does not make
  /// it unready: it is one tenant's trouble, and must not take the others' gateway out of the load balancer.
  /// Who may not know more is told the state alone, and Redis is not asked for it.
  func readiness(withKey: Bool) async -> HTTPServerResponse {
    guard isOpen || withKey else {
      let condition = store.session.condition
      let isReady = condition.takesWrites
      let headers = isReady ? [] : [Header("retry-after", String(condition.retryAfter))]
      return Answer.json(isReady ? 200 : 503, headers: headers) { writer in
        writer.member("status", isReady ? "ready" : "unavailable")
        writer.key("reasons")
        writer.beginArray()
        writer.endArray()
      }
    }
    // Otherwise what was known a second ago is told.
    try? await store.session.makeSure()
    var reasons: [(code: String, detail: String)] = []
    let condition = store.session.condition
    var isReady = condition.takesWrites
    if condition != .ready { reasons.append((condition.word, condition.detail)) }
    if let skew = store.session.clockSkew { reasons.append(("clock_skew", skew.text)) }
    var owners: Owners?
    if isReady {
      do throws(StoreError) {
        for (credential, condition) in try await store.conditions.all().sorted(by: { $0.key.rawValue < $1.key.rawValue }
        ) {
          reasons.append(("credential_\(condition.state.rawValue)", "\(credential.rawValue): \(condition.text)"))
        }
        for (credential, brake) in try await store.pruneBrakes.all().sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
          reasons.append(("prunes_held", "\(credential.rawValue): \(brake.told)"))
        }
        let known = try await store.workers.owners()
        owners = known
        if let reason = known.reason { reasons.append(("partitions_unowned", reason)) }
      } catch {
        reasons.append(("store_unavailable", Problem(error).detail))
        isReady = false
      }
    }
    if let refusal = configuration.certificateRefusal { reasons.append(("certificate_refused", refusal)) }
    if let refusal = configuration.refusal { reasons.append(("configuration_refused", refusal)) }
    let headers = isReady ? [] : [Header("retry-after", String(condition.retryAfter))]
    return Answer.json(isReady ? 200 : 503, headers: headers) { writer in
      writer.member("status", isReady ? (reasons.isEmpty ? "ready" : "degraded") : "unavailable")
      writer.objects("reasons", reasons) { writer, reason in
        writer.member("code", reason.code)
        writer.member("detail", reason.detail)
      }
      owners?.write(to: &writer)
    }
  }
}

extension Braked {
  /// For operators, with what to do.
  var told: String {
    let percent = { (share: Double) in "\((share * 1_000).rounded() / 10) %" }
    let limit = "up to \(percent(normal)) is normal"
    let what =
      share > normal
      ? "\(dead) of \(seen) tokens were called dead (\(percent(share)), \(limit))"
      : "\(first.dead) of \(first.seen) tokens in a row were called dead (\(percent(first.share)), \(limit)), "
        + "\(dead) of \(seen) so far"
    return "\(what): nothing is pruned; see fanfare devices prunes review, then apply or discard"
  }
}

extension Owners {
  /// Why not all that is accepted is being sent; nil: it is.
  var reason: String? {
    let unowned = self.unowned
    guard !unowned.isEmpty else { return nil }
    let counted =
      "\(unowned.count) of \(partitions.count) partitions have no owner; their messages wait"
    return workers.isEmpty
      ? "\(counted): no worker runs; start fanfare serve" : "\(counted): a worker leases them within seconds"
  }

  /// Who owns what.
  func write(to writer: inout JSONWriter) {
    writer.member("partition_count", partitions.count)
    writer.member("unowned_count", unowned.count)
    writer.objects("workers", workers) { writer, worker in
      writer.member("worker", worker.name)
      writer.member("host", worker.host)
      writer.member("process", worker.process)
      writer.member("heartbeat_age_ms", max(0, at - worker.beatAt))
      writer.key("partitions")
      writer.beginArray()
      for partition in partitions(of: worker.serial) { writer.integer(partition) }
      writer.endArray()
    }
    // No reason to be degraded: it is so in the midst of each send to dead tokens.
    writer.objects("waiting_prunes", waitingPrunes.sorted { $0.key.rawValue < $1.key.rawValue }) { writer, row in
      writer.member("credential", row.key.rawValue)
      writer.member("count", row.value)
    }
  }
}
