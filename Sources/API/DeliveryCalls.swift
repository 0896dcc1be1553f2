import Domain
import HTTPServer
import JSON
import Store

extension Service {
  private static let exportPage = 1_000

  /// A page as JSON; everything as NDJSON or CSV when the client asks for that.
  func listDeliveries(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let id = try messageID(of: call)
    let filter = try filter(of: call)
    if call.accepts("application/x-ndjson") {
      return try await export(id, call, filter, .lines { $0.write(to: &$1) })
    }
    if call.accepts("text/csv") {
      return try await export(id, call, filter, .table(DeliveryReport.columns) { $0.row })
    }
    let page = try await deliveries(
      id, call, filter, cursor: try call.cursor(marked: Self.cursorMark), limit: try call.limit())
    return Answer.json { writer in
      writer.key("items")
      writer.beginArray()
      for delivery in page.items { delivery.write(to: &writer) }
      writer.endArray()
      writer.nextCursor(page.next, marked: Self.cursorMark)
    }
  }

  private static let cursorMark = "d:"

  /// `?state=failed,dead&reason=…&provider=…&platform=…&variant=…`: all that are given must hold.
  private func filter(of call: Call) throws(Problem) -> DeliveryFilter {
    var filter = DeliveryFilter()
    if let text = call.request.query("state") {
      let known = DeliveryState.allCases.map(\.rawValue) + Outcome.allCases.map(\.rawValue)
      let states = text.split(separator: ",").map(String.init)
      for state in states where !known.contains(state) {
        let hint = Suggestion.nearest(to: state, among: known).map { "did you mean `\($0)`?" }
        throw Problem(
          .invalidParameter,
          "`state` has an unknown value `\(state.prefix(40))`; \(hint ?? "use \(known.joined(separator: ", "))")")
      }
      filter.states = Set(states)
    }
    filter.reason = call.request.query("reason")
    filter.platform = call.request.query("platform")
    filter.variant = call.request.query("variant")
    if let name = call.request.query("provider") {
      guard providerNames.contains(where: { $0.rawValue == name }) else {
        let known = providerNames.map(\.rawValue)
        let hint = Suggestion.nearest(to: name, among: known).map { "did you mean `\($0)`?" }
        throw Problem(
          .invalidParameter, "`provider` is unknown; \(hint ?? "there are \(known.joined(separator: ", "))")")
      }
      filter.provider = ProviderName(rawValue: name)
    }
    return filter
  }

  private func export(
    _ id: MessageID, _ call: Call, _ filter: DeliveryFilter, _ form: Export<DeliveryReport>
  ) async throws(Problem) -> HTTPServerResponse {
    guard call.request.query("cursor") == nil, call.request.query("limit") == nil else {
      throw Problem(.invalidParameter, "An export has no pages: leave `limit` and `cursor` out")
    }
    return try await form.answer { [self] cursor throws(Problem) in
      try await deliveries(id, call, filter, cursor: cursor, limit: Self.exportPage)
    }
  }

  private func deliveries(
    _ id: MessageID, _ call: Call, _ filter: DeliveryFilter, cursor: String?, limit: Int
  ) async throws(Problem) -> (items: [DeliveryReport], next: String?) {
    let page: (items: [DeliveryReport], next: String?)?
    do throws(StoreError) {
      page = try await store.deliveries(id, app: call.app, filter: filter, cursor: cursor, limit: limit)
    } catch {
      throw Problem(error)
    }
    guard let page else { throw Self.noMessage }
    return page
  }
}

extension DeliveryReport {
  func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writeMembers(to: &writer)
    writer.endObject()
  }

  /// Without braces, for objects that say more.
  func writeMembers(to writer: inout JSONWriter) {
    // A member of an audience whose device was deleted since has no name any more.
    if !device.rawValue.isEmpty { writer.member("device", device.rawValue) }
    writer.member("provider", provider?.rawValue)
    writer.member("platform", platform)
    writer.member("variant", variant)
    writer.member("state", state)
    writer.member("reason", reason)
    writer.member("provider_id", providerID)
    writer.member("request_id", requestID?.description)
    writer.member("next_attempt_at", nextAttemptAt?.rfc3339)
    writer.member("overtaken", overtaken)
    writer.objects("attempts", attempts) { writer, attempt in
      writer.member("at", attempt.at.rfc3339)
      writer.member("verdict", attempt.verdict)
      writer.member("reason", attempt.reason)
      writer.member("status", attempt.status)
    }
  }

  static let columns = [
    "device", "provider", "platform", "variant", "state", "reason", "provider_id", "request_id", "attempts",
    "last_attempt_at",
    "next_attempt_at", "overtaken",
  ]

  var row: [String] {
    [
      device.rawValue, provider?.rawValue ?? "", platform ?? "", variant ?? "", state, reason ?? "", providerID ?? "",
      requestID?.description ?? "", String(attempts.count),
      attempts.last?.at.rfc3339 ?? "", nextAttemptAt?.rfc3339 ?? "", String(overtaken),
    ]
  }
}
