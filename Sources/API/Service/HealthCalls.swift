import Domain
import HTTPServer
import JSON
import Loop
import Store
import Telemetry

extension Service {
  /// The process lives and its loop turns.
  func health() -> HTTPServerResponse { Answer.json { $0.member("status", "ok") } }

  /// Whether the gateway can do its work, and if not, why. What stands against a credential is told and does not make it unready: it
  /// is one tenant's trouble, and must not take the others' gateway out of the load balancer.
  func readiness() async -> HTTPServerResponse {
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
    if let refusedConfiguration { reasons.append(("configuration_refused", refusedConfiguration)) }
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

  /// What everybody counted, and the queue as it stands now.
  func metricsPage() async -> HTTPServerResponse {
    try? await store.session.makeSure()
    let available = metrics.gauge("fanfare_store_available", "1 while Redis is reachable.")
    let condition = store.session.condition.word
    for word in StoreCondition.words {
      metrics.gauge(
        "fanfare_store_condition", "1 for each current condition of Redis, named as in /readyz.", [("condition", word)]
      )
      .set(word == condition ? 1 : 0)
    }
    metrics.gauge(
      "fanfare_clock_skew_seconds", "Seconds by which this machine's clock is ahead of Redis' clock (negative: behind)."
    ).set((store.session.lastClockOffset ?? 0) / 1_000)
    guard store.session.condition.takesQuestions else {
      available.set(0)
      return Answer.bytes("text/plain; version=0.0.4; charset=utf-8", metrics.exposition())
    }
    do throws(StoreError) {
      let queue = try await store.queue.status()
      available.set(1)
      show(queue)
      let brakes = try await store.pruneBrakes.all()
      metrics.gauge("fanfare_prune_brakes_on", "Credentials whose prunes are held for the operator.")
        .set(Int64(brakes.count))
      let held = try await store.pruneBrakes.held(of: Array(brakes.keys)).values.reduce(0, +)
      metrics.gauge("fanfare_prunes_held", "Prunes held for the operator, of credentials whose prune brake is on.")
        .set(Int64(held))
    } catch {
      available.set(0)
    }
    return Answer.bytes("text/plain; version=0.0.4; charset=utf-8", metrics.exposition())
  }

  private struct QueueName: Hashable {
    var credential: CredentialID
    var urgency: Urgency
  }

  private func show(_ queue: QueueStatus) {
    var depth: [QueueName: Int] = [:]
    // Credentials without jobs are shown too: a gauge that vanishes looks like one that stands still.
    for credential in accounts.keys {
      for urgency in Urgency.allCases { depth[QueueName(credential: credential, urgency: urgency)] = 0 }
    }
    for (stream, jobs) in queue.jobs {
      let name = QueueName(credential: stream.credential, urgency: stream.urgency)
      // A credential that left the configuration has no gauge of its own: its name would stay for ever.
      if accounts[stream.credential] != nil { depth[name, default: 0] += jobs }
    }
    for (name, jobs) in depth {
      metrics.gauge(
        "fanfare_queue_jobs", "Jobs that wait in the queue.",
        [("credential", name.credential.rawValue), ("urgency", name.urgency.rawValue)]
      ).set(Int64(jobs))
    }
    metrics.gauge("fanfare_queue_retries", "Deliveries that wait for a retry.").set(Int64(queue.retries))
    metrics.gauge(
      "fanfare_quarantined", "Stored jobs, retries and message parts that could not be read, since the store exists."
    )
    .set(Int64(queue.quarantined))
    let age = queue.oldest.map { max(0, (loop.wallNow - $0) / 1000) } ?? 0
    metrics.gauge("fanfare_queue_oldest_seconds", "Age of the oldest job.").set(age)
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
  }
}
