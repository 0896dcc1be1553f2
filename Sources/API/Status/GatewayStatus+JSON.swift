import Domain
package import JSON
import Store

/// For programs.
extension GatewayStatus {
  /// The members of an object.
  package func write(to writer: inout JSONWriter) {
    writer.member("needs_operator", needsOperator)
    if let whole {
      writer.member("configuration_faults", JSONValue.array(whole.faults.map { .string($0) }))
      whole.owners.writeStatus(to: &writer)
    }
    writer.objects("credentials", credentials) { writer, credential in credential.write(to: &writer, now: now) }
    writer.key("queue")
    writer.beginObject()
    writer.member("jobs", jobs)
    if let whole {
      writer.member("retries", whole.retries)
      writer.member("quarantined", whole.quarantined)
    }
    writer.member("oldest_at", oldest?.rfc3339)
    writer.endObject()
    guard let whole else { return }
    writer.key("redis")
    writer.beginObject()
    whole.redis.write(to: &writer)
    writer.member("losses", JSONValue.array(whole.losses.map { .string($0) }))
    writer.endObject()
  }
}

extension Owners {
  /// As `write(to:)` of `/readyz`, with all that is known.
  fileprivate func writeStatus(to writer: inout JSONWriter) {
    writer.objects("workers", workers) { writer, worker in
      writer.member("worker", worker.name)
      writer.member("host", worker.host)
      writer.member("process", worker.process)
      writer.member("started_at", worker.startedAt.rfc3339)
      writer.member("heartbeat_at", worker.beatAt.rfc3339)
      writer.member("partition_count", partitions(of: worker.serial).count)
    }
    writer.objects("partitions", partitions) { writer, partition in
      writer.member("partition", partition.partition)
      writer.member("worker", partition.worker.map { String($0, radix: 16) })
      writer.member("epoch", partition.epoch)
      writer.member("lease_ends_at", partition.worker == nil ? nil : partition.until.rfc3339)
    }
  }
}

extension RedisStatus {
  fileprivate func write(to writer: inout JSONWriter) {
    writer.member("version", version)
    writer.member("role", role)
    writer.member("used_memory_bytes", usedMemory)
    writer.member("maximum_memory_bytes", maximumMemory)
    writer.member("policy", policy)
    writer.member("append_only", appendOnly)
    writer.member("append_fsync", appendFsync)
    writer.member("replicas", connectedReplicas)
  }
}

extension GatewayStatus.Credential {
  fileprivate func write(to writer: inout JSONWriter, now: WallTime) {
    writer.member("credential", id.rawValue)
    writer.member("state", state)
    writer.member("reason", reason)
    writer.member("began_at", condition?.since.rfc3339)
    writer.member("next_try_at", condition?.nextTry?.rfc3339)
    writer.member("not_before_at", condition?.until?.rfc3339)
    writer.member("kind", facts?.kind)
    writer.member("expires_at", facts?.expiresAt?.rfc3339)
    writer.member("expiry", facts?.expiryWarning(now: now)?.text)
    writer.member("connections", connections)
    writer.member("at_work", atWork)
    writer.member("limit", limit)
    writer.member("jobs", jobs)
    writer.member("oldest_at", oldest?.rfc3339)
    writer.member("held_prunes", held)
    guard let brake else { return }
    writer.key("prune_brake")
    writer.beginObject()
    writer.member("began_at", brake.since.rfc3339)
    writer.member("seen", brake.seen)
    writer.member("dead", brake.dead)
    writer.member("normal_share", JSONValue.double(brake.norm))
    writer.member("normal_share_limit", JSONValue.double(brake.normal))
    writer.endObject()
  }
}
