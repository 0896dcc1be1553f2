import Domain
import Foundation
import JSON
import Support

extension Gateway {
  /// Metrics of this process, the only one that has sent and one that has lived throughout, count what the reports of all
  /// messages say, outcome by outcome.
  func metricsAgreeWithReports() async throws {
    var said: [String: Int] = [:]
    var counted: [String: Int] = [:]
    do {
      // A worker counts what it finds once a second.
      try await until("metrics that agree with the reports", within: 60) { gateway in
        (said, counted) = (try await gateway.ends(), try await gateway.countedEnds())
        return said == counted
      }
    } catch {
      throw ChildFailure(reason: "the reports say \(said), the metrics \(counted): \(error)")
    }
  }

  private func ends() async throws -> [String: Int] {
    var ends: [String: Int] = [:]
    var cursor: String?
    repeat {
      let page = try await client.get("/v1/messages?limit=100" + (cursor.map { "&cursor=\($0)" } ?? "")).json
      for report in page["items"]?.array ?? [] {
        for row in report["counts"]?.array ?? [] {
          ends[row["outcome"]?.string ?? "", default: 0] += Int(row["count"]?.integer ?? 0)
        }
      }
      cursor = page["next_cursor"]?.string
    } while cursor != nil
    return ends
  }

  private func countedEnds() async throws -> [String: Int] {
    var ends: [String: Int] = [:]
    for line in try await client.get("/metrics").text.split(separator: "\n") {
      guard let match = line.firstMatch(of: /^fanfare_deliveries_total\{.*outcome="(\w+)".*\} (\d+)/),
        let count = Int(match.2), count > 0
      else { continue }
      ends[String(match.1), default: 0] += count
    }
    return ends
  }
}
