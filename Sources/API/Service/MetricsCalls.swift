import Domain
import HTTPServer
import Loop
import Store
import Telemetry

/// `/metrics`, for Prometheus.
struct MetricsCalls {
  let loop: EventLoop
  let store: Store
  let configuration: AdoptedConfiguration
  let metrics: Metrics

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
      show(try await store.conditions.all())
      let brakes = try await store.pruneBrakes.all()
      metrics.gauge("fanfare_prune_brakes_on", "Credentials whose prunes are held for the operator.")
        .set(Int64(brakes.count))
      let held = try await store.pruneBrakes.held(of: Array(brakes.keys)).values.reduce(0, +)
      metrics.gauge("fanfare_prunes_held", "Prunes held for the operator, of credentials whose prune brake is on.")
        .set(Int64(held))
      metrics.gauge(
        "fanfare_partitions_unowned",
        "Partitions of the store that no live worker of any process owns: their messages wait."
      ).set(Int64(try await store.workers.owners().unowned.count))
    } catch {
      available.set(0)
    }
    return Answer.bytes("text/plain; version=0.0.4; charset=utf-8", metrics.exposition())
  }

  /// Of each configured credential each state: a series that vanishes looks like one that stands still.
  private func show(_ conditions: [CredentialID: CredentialCondition]) {
    for credential in configuration.accounts.keys {
      let condition = conditions[credential]
      for state in CredentialCondition.State.allCases {
        metrics.gauge(
          "fanfare_credential_condition", "1 for the condition of a credential, as in /readyz.",
          [("credential", credential.rawValue), ("state", state.rawValue)]
        ).set(condition?.state == state ? 1 : 0)
      }
      metrics.gauge(
        "fanfare_credential_next_try_timestamp_seconds",
        "When a credential that does not send tries one delivery; 0 if it has no condition, or if the time is unknown.",
        [("credential", credential.rawValue)]
      ).set((condition?.nextTry?.milliseconds ?? 0) / 1_000)
    }
  }

  private struct QueueName: Hashable {
    var credential: CredentialID
    var urgency: Urgency
  }

  private func show(_ queue: QueueStatus) {
    var depth: [QueueName: Int] = [:]
    // Credentials without jobs are shown too: a gauge that vanishes looks like one that stands still.
    for credential in configuration.accounts.keys {
      for urgency in Urgency.allCases { depth[QueueName(credential: credential, urgency: urgency)] = 0 }
    }
    for (stream, jobs) in queue.jobs {
      let name = QueueName(credential: stream.credential, urgency: stream.urgency)
      // A credential that left the configuration has no gauge of its own: its name would stay for ever.
      if configuration.accounts[stream.credential] != nil { depth[name, default: 0] += jobs }
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
