import Configuration
import Domain
package import Store
import Telemetry

/// A setting that suits a trial or a private network, and not the open internet. Each is warned of at start and by
/// `fanfare check`; with `strict: true` it ends the start.
package struct Risk: Hashable, Sendable {
  /// A short word, which stays the same: for logs.
  package var code: String
  /// What may happen, and what to change.
  package var text: String
}

extension Setup {
  /// What the configuration says by itself.
  package var risks: [Risk] {
    let listen = configuration.listen
    var risks: [Risk] = []
    if listen.certificate == nil, !Self.isLocal(listen.address) {
      risks.append(
        Risk(
          code: "plaintext_api",
          text:
            "the API listens on \(listen.address) without TLS, so that others can read keys and messages on the way: "
            + "set listen.certificate_file and key_file, or listen on 127.0.0.1 behind a proxy with TLS"))
    }
    if listen.operations == .open, !Self.isLocal(listen.address) {
      risks.append(
        Risk(
          code: "open_operations",
          text: "anybody who reaches \(listen.address) can read /metrics and /readyz: set listen.operations "
            + "to \"key\" or \"monitor\""))
    }
    if case .tcp(let host, _, let tls) = configuration.redis.place, !Self.isLocal(host) {
      if !tls {
        risks.append(
          Risk(
            code: "plaintext_redis",
            text: "Redis on \(host) is reached without TLS, so that others can read and change everything on the way: "
              + "use rediss:// in redis.url"))
      }
      if configuration.redis.password == nil {
        risks.append(
          Risk(
            code: "redis_without_password",
            text: "Redis on \(host) needs no password, so that whoever reaches it can send anything: "
              + "set requirepass or a user there, and redis.password_file here"))
      }
    }
    if configuration.tenantLimits.registerKeys[.registrations] == nil {
      risks.append(
        Risk(
          code: "register_without_limit",
          text: "whoever takes a `register` key out of an app can register any number of devices: "
            + "set limits.register_keys.registrations"))
    }
    for file in configuration.filesOfOthers {
      risks.append(
        Risk(
          code: "file_of_another_user",
          text: "\(file) belongs to another user, who can read and replace the key in it: "
            + "run chown for the gateway's user"
        ))
    }
    return risks
  }

  /// What the Redis behind it says.
  package func risks(of redis: RedisStatus) -> [Risk] {
    var risks: [Risk] = []
    if redis.maximumMemory == 0 {
      risks.append(
        Risk(
          code: "redis_without_limit",
          text: "Redis may use all memory of its machine (maxmemory 0), and is then killed: set `maxmemory`; "
            + "sends are refused from 85 % of it on"))
    }
    if redis.policy != "noeviction" {
      risks.append(
        Risk(
          code: "redis_evicts",
          text: "Redis drops accepted messages when it is full (\(redis.policy)): set `maxmemory-policy noeviction`"))
    }
    return risks
  }

  /// Logs each; throws `RunningGateway.Failure` where the configuration is strict and there is one.
  func weighRisks(_ store: Store, _ log: Log) async throws {
    let all = risks + risks(of: try await store.session.redisStatus()) + (try await risks(ofKeysIn: store))
    for risk in all { log(.warning, "risky_setting", ["risk": risk.code, "detail": risk.text]) }
    if configuration.isStrict, !all.isEmpty { throw RunningGateway.Failure.risky(all) }
  }

  private static func isLocal(_ host: String) -> Bool {
    host == "localhost" || host == "::1" || host.hasPrefix("127.")
  }
}
