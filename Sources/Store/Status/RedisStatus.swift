import Domain
import RedisClient

/// What Redis says of itself.
package struct RedisStatus: Sendable {
  package var version: String
  package var role: String
  package var usedMemory: Int64
  /// 0: none is set.
  package var maximumMemory: Int64
  package var policy: String
  package var appendOnly: Bool
  /// The last write to its disk went well.
  package var writesWell: Bool
  package var connectedReplicas: Int
  /// `always`, `everysec` or `no`; nil: this account may not ask.
  package var appendFsync: String?
  /// It writes snapshots; nil: this account may not ask.
  package var snapshots: Bool?
}

extension RedisStatus {
  /// What is accepted and may be lost all the same, and what mends it.
  package var losses: [String] {
    var losses: [String] = []
    if !appendOnly {
      let rest =
        snapshots == true ? "everything accepted since its last snapshot" : "everything accepted"
      losses.append("when Redis stops, it loses \(rest) (appendonly no): set `appendonly yes`")
    } else if appendFsync == "no" {
      losses.append(
        "when the machine crashes, about the last 30 seconds of writes are lost (appendfsync no): set `appendfsync "
          + "everysec` or `always`")
    }
    if !writesWell { losses.append("Redis could not write to its disk: make room there, and see its log") }
    if policy != "noeviction" {
      losses.append("Redis drops accepted messages when it is full (\(policy)): set `maxmemory-policy noeviction`")
    }
    return losses
  }

  /// What answers every send with 503; nil: nothing. `replicas`: how many durability asks for.
  package func shortage(ofReplicas replicas: Int) -> String? {
    guard connectedReplicas < replicas else { return nil }
    let connected =
      switch connectedReplicas {
      case 0: "none is"
      case 1: "only one is"
      default: "only \(connectedReplicas) are"
      }
    let required = replicas == 1 ? "one replica" : "\(replicas) replicas"
    return
      "durability requires \(required), but \(connected) connected: sends are answered 503 durability_unconfirmed, and "
      + "their messages are lost if this Redis is lost; connect more replicas, or lower durability.replicas"
  }

  /// What is lost by design, in plain words.
  package var promise: String {
    guard appendOnly else { return "nothing is kept on its disk" }
    switch appendFsync {
    case "always": return "on disk before each answer (appendfsync always)"
    case "everysec":
      return
        "on disk within a second: a crash of the machine loses its last second (appendfsync everysec)"
    case "no": return "on disk when the operating system writes it (appendfsync no)"
    default: return "append-only; how often it syncs cannot be asked (CONFIG is refused)"
    }
  }
}

extension RedisSession {
  /// Asks Redis how it is and what it keeps.
  package func redisStatus() async throws(StoreError) -> RedisStatus {
    let info = InfoFields(try await ask(RedisCommand("INFO")).text ?? "")
    let settings = await redisSettings()
    return RedisStatus(
      version: info["redis_version"] ?? "?", role: info["role"] ?? "?",
      usedMemory: info["used_memory"].flatMap { StoredNumber.read($0) } ?? 0,
      maximumMemory: info["maxmemory"].flatMap { StoredNumber.read($0) } ?? 0, policy: info["maxmemory_policy"] ?? "?",
      appendOnly: info["aof_enabled"] == "1",
      writesWell: info["aof_last_write_status"] != "err" && info["rdb_last_bgsave_status"] != "err",
      connectedReplicas: info["connected_slaves"].flatMap { StoredNumber.read(Array($0.utf8)) } ?? 0,
      appendFsync: settings["appendfsync"], snapshots: settings["save"].map { !$0.isEmpty })
  }

  /// Empty where the account may not ask, as with some hosts of Redis.
  private func redisSettings() async -> [String: String] {
    guard let reply = try? await ask(RedisCommand("CONFIG", "GET", "appendfsync", "save")) else { return [:] }
    return Dictionary(
      pairs(reply.array ?? []).map { (String(decoding: $0, as: UTF8.self), String(decoding: $1, as: UTF8.self)) },
      uniquingKeysWith: { $1 })
  }
}
