import Configuration
import Glibc
import Processes

/// `h2load` in the gateway's place, against a responder of its own: what the same requests cost where nothing is kept, judged
/// or recorded.
enum H2Load {
  static let path = "/usr/bin/h2load"

  /// Of requests to APNs, whatever the scenario: the measure of all of them is the same.
  private static let (connections, streams) = (2, 500)

  /// Adds what the gateway and Redis spend in units of what a request costs here, if it is installed.
  static func compare(_ reading: inout Reading, requests: Int, folder: ScratchFolder, log: String) throws {
    guard FileContent.exists(path) else { return }
    let cost = try cost(requests: requests, folder: folder, log: log)
    reading[.h2load] = cost
    reading[.ratio] = (reading[.gateway] ?? reading[.acceptCPU]).map { $0 / cost }
    reading[.redisRatio] = reading[.redis].map { $0 / cost }
  }

  /// CPU microseconds per request.
  private static func cost(requests: Int, folder: ScratchFolder, log: String) throws -> Double {
    var settings = ResponderSettings()
    settings.directory = folder.folder("h2load")
    settings.streams = streams
    let responder = try ResponderProcess(settings, log: log, core: BenchStage.otherCore)
    let body = folder.write(
      "body.json", "{\"aps\":{\"alert\":{\"title\":\"Benchmark\",\"body\":\"\(BenchMessage.text)\"}}}")
    let before = ProcessTimes.ofEndedChildren
    let load = try ChildProcess(
      path,
      [
        "-n", "\(requests)", "-c", "\(connections)", "-m", "\(streams)", "-d", body,
        "-H", "apns-push-type: alert", "-H", "apns-priority: 10", "-H", "apns-expiration: 1780000000",
        "-H", "apns-id: 00000000-0000-4000-8000-000000000000", "-H", "apns-topic: com.example.app",
        "-H", "authorization: bearer \(String(repeating: "a", count: 200))",
        "https://localhost:\(responder.port)/3/device/fa\(String(repeating: "0", count: 62))",
      ], log: log, core: BenchStage.workerCore)
    if !load.wait(milliseconds: 120_000) { load.stop() }
    let cost = Double(ProcessTimes.ofEndedChildren - before) / Double(requests)
    // Its own children count from here on.
    let tally = try responder.stop()
    guard tally.requests >= requests else { throw BenchFailure(reason: "h2load sent \(tally.requests) requests only") }
    return cost
  }
}
