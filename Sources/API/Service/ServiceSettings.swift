package import HTTP2
package import HTTPServer

/// Limits of the API, and where it listens.
package struct ServiceSettings: Sendable {
  /// `maximumBody` holds for all requests but messages and bulk calls.
  package var server = HTTPServerSettings()
  /// Of messages.
  package var maximumMessageBody = 4 << 20
  /// Of NDJSON calls.
  package var maximumBulkBody = 20 << 20
  package var maximumTargets = 10_000
  /// Deliveries of one replay: all that a message may hold.
  package var maximumReplayed = 65_535
  /// Direct sends with more targets are bulk (decision 0003).
  package var urgentTargets = 500
  /// Of an app.
  package var maximumDrafts = 200
  /// Bytes of the message of a draft.
  package var maximumDraftBytes = 256 << 10
  /// Requests at work at a time; more are answered 503.
  package var maximumRequests = 2_000
  /// Keys that do not exist, which an address may show before it has to wait; one more each second.
  package var failedKeysPerAddress = 60
  /// Look-ups at work of keys that were not known before.
  package var maximumLookUps = 500
  /// Serves only what needs no key, so that a process that only sends can be watched.
  package var onlyOpen = false
  /// Of forecasts that are asked for, and of those that only warn.
  package var forecasts = (
    answer: ForecastBounds(exact: 10_000, sample: 4_000), warning: ForecastBounds(exact: 1_000, sample: 1_000)
  )
  /// Who may read `/metrics` and the details of `/readyz`.
  package enum Operations: Sendable {
    case everybody
    /// Whoever has a key with scope `read`.
    case keys
    /// Nobody: another listener of the process tells them.
    case elsewhere
  }
  package var operations = Operations.everybody
  /// The log has the audit entries of sends at level `info`, and not at `debug`.
  package var logsSends = false
  /// False: another service of this process logs how Redis is.
  package var logsConditions = true
  /// Calls to providers: PEM file of authorities (nil: the system's), and their connections.
  package var caFile: String?
  package var http2 = HTTP2Settings()
  /// The same defaults as the configuration's.
  package init() {}

  private static let unneededBody = 16_384

  /// `limit`: in bytes, of the call whose body was too large.
  func bodyTooLarge(_ limit: Int) -> Problem {
    let mebibyte = 1 << 20
    let size = limit.isMultiple(of: mebibyte) ? "\(limit / mebibyte) MiB" : "\(limit) bytes"
    let names = [
      ("limits.message_body", maximumMessageBody), ("limits.bulk_body", maximumBulkBody),
      ("limits.body", server.maximumBody),
    ].filter { $0.1 == limit }.map { "`\($0.0)`" }
    guard !names.isEmpty else { return Problem(.bodyTooLarge, "This call takes at most \(size)") }
    return Problem(
      .bodyTooLarge,
      "The limit of this call is \(size) (\(names.joined(separator: " or ")) of the configuration): send less at a time"
    )
  }

  /// A line of a bulk call may be as large as the body of the call that takes one such document.
  var lineOfMessages: Lines.Bound { Lines.Bound(bytes: maximumMessageBody, setting: "limits.message_body") }
  var lineOfDevices: Lines.Bound { Lines.Bound(bytes: server.maximumBody, setting: "limits.body") }

  /// Bytes that the body of a request to this path may have.
  func maximumBody(of path: String) -> Int {
    if path.hasSuffix(Endpoint.bulkEnding) { return maximumBulkBody }
    if path == "/v1/messages" { return maximumMessageBody }
    // Nothing else takes a body.
    return path.hasPrefix("/v1/") ? server.maximumBody : min(server.maximumBody, Self.unneededBody)
  }
}
