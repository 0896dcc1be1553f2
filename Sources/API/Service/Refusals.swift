import Domain
import HTTPServer
import Telemetry

/// What is turned away before any work: counted by its cause, and told in the log once in a while.
final class Refusals {
  /// The names are those of the metric's label.
  enum Cause: String, CaseIterable {
    case addressConnections = "address_connections"
    case slow
    case bytes
    case keyBytes = "key_bytes"
    case addressBytes = "address_bytes"
    case lingering
    case failedKeys = "failed_keys"
    case keyLookups = "key_lookups"
    case requests

    init(_ turnedAway: HTTPTurnedAway) {
      switch turnedAway {
      case .connections: self = .addressConnections
      case .slow: self = .slow
      case .totalBytes: self = .bytes
      case .bytesOfKey: self = .keyBytes
      case .bytesOfAddress: self = .addressBytes
      case .lingering: self = .lingering
      }
    }
  }

  private let counters: [Cause: Counter]
  private var bursts: [Cause: Burst] = [:]
  private let log: Log

  init(_ metrics: Metrics, _ log: Log) {
    self.log = log
    counters = Dictionary(
      uniqueKeysWithValues: Cause.allCases.map {
        (
          $0,
          metrics.counter(
            "fanfare_http_turned_away_total", "Connections and requests refused to keep the API working, by cause.",
            [("cause", $0.rawValue)])
        )
      })
  }

  func add(_ cause: Cause, _ address: NetworkAddress?, now: Instant) {
    counters[cause]?.add()
    guard let count = bursts[cause, default: Burst()].add(now: now) else { return }
    log(
      .warning, "turned_away",
      ["cause": cause.rawValue, "count": String(count), "last_address": address?.description ?? "unknown"])
  }
}

/// One line for many events: the first is told at once, the others with the first one after a while. Values only.
struct Burst {
  /// Milliseconds.
  static let silence: Int64 = 10_000
  private var toldAt: Instant?
  private var untold = 0

  /// Events to be told now, this one among them; nil: it is told later.
  mutating func add(now: Instant) -> Int? {
    untold += 1
    if let toldAt, now - toldAt < Self.silence { return nil }
    defer { untold = 0 }
    toldAt = now
    return untold
  }
}
