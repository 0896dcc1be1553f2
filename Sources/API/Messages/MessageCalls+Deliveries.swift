import Domain
import HTTPServer
import Intake
import JSON
import Store

extension MessageCalls {
  private static let cursorMark = "d:"

  /// A page as JSON; everything as NDJSON or CSV when the client asks for that.
  func listDeliveries(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let id = try call.messageID()
    let filter = filter(of: call)
    if let variant = filter.variant { try await checkVariant(variant, of: id, call) }
    let listing = Listing<DeliveryReport>(
      write: { $0.write(to: &$1) }, columns: ["device", "user"] + DeliveryReport.columns,
      row: { [$0.device.rawValue, $0.user ?? ""] + $0.row },
      page: { [self] cursor, limit throws(Problem) in
        let place = try cursor.map { cursor throws(Problem) in
          try call.place(of: cursor, marked: Self.cursorMark) { DeliveryPlace(text: $0) }
        }
        let page = try await deliveries(id, call, filter, cursor: place, limit: limit)
        var rest: Delay?
        if page.next == nil, call.form() == .json { rest = try await unlisted(id, filter, call) }
        return ListingPage(
          items: page.items, next: page.next.map { call.cursor(at: $0.text, marked: Self.cursorMark) },
          more: rest.map { rest in { (writer: inout JSONWriter) in rest.tell(as: "not_listed", to: &writer) } })
      })
    return try await listing.answer(call)
  }

  /// Members of an audience that the list does not have yet, as the time of their part has not come.
  private func unlisted(_ id: MessageID, _ filter: DeliveryFilter, _ call: Call) async throws(Problem) -> Delay? {
    guard filter.states?.contains(DeliveryState.pending.rawValue) != false else { return nil }
    do throws(StoreError) {
      return try await store.reports.unlisted(id, app: call.app)
    } catch {
      throw Problem(error)
    }
  }

  /// `?state=failed,dead&reason=…&provider=…&platform=…&variant=…`: all that are given must hold.
  private func filter(of call: Call) -> DeliveryFilter {
    var filter = DeliveryFilter()
    filter.states = call.words("state")
    filter.reason = call.request.query("reason")
    filter.platform = call.request.query("platform")
    filter.variant = call.request.query("variant")
    filter.provider = call.request.query("provider").map { ProviderName(rawValue: $0) }
    return filter
  }

  /// A name that the message does not have would find nothing, without a word.
  private func checkVariant(_ variant: String, of id: MessageID, _ call: Call) async throws(Problem) {
    let report: MessageReport?
    do throws(StoreError) {
      report = try await store.reports.report(id, app: call.app)
    } catch {
      throw Problem(error)
    }
    guard let report else { throw Problem.noMessage }
    let names = report.split?.shares.names ?? []
    guard !names.contains(variant) else { return }
    let near = Suggestion.nearest(to: variant, among: names).map { "did you mean `\($0)`?" }
    let known = names.isEmpty ? "the message has no variants" : "the variants are \(names.joined(separator: ", "))"
    var violation = Violation("", .unknownValue, "the message has no variant with this name; \(near ?? known)")
    violation.parameter = "variant"
    throw Problem(.invalidParameter, violation.detail, violations: [violation])
  }

  private func deliveries(
    _ id: MessageID, _ call: Call, _ filter: DeliveryFilter, cursor: DeliveryPlace?, limit: Int
  ) async throws(Problem) -> (items: [DeliveryReport], next: DeliveryPlace?) {
    let page: (items: [DeliveryReport], next: DeliveryPlace?)?
    do throws(StoreError) {
      page = try await store.deliveries.page(
        id, app: call.app, filter: filter, cursor: cursor, limit: limit, tellsUsers: true)
    } catch {
      throw Problem(error)
    }
    guard let page else { throw Problem.noMessage }
    return page
  }
}

extension DeliveryReport {
  func write(to writer: inout JSONWriter) {
    writer.beginObject()
    // A member of an audience whose device was deleted since has no name any more.
    if !device.rawValue.isEmpty { writer.member("device", device.rawValue) }
    writer.member("user", user)
    writeMembers(to: &writer)
    writer.endObject()
  }

  /// Without braces, device and user, for objects that say more.
  func writeMembers(to writer: inout JSONWriter) {
    writer.member("provider", provider?.rawValue)
    writer.member("platform", platform)
    writer.member("variant", variant)
    writer.member("state", state)
    writer.member("reason", reason)
    writer.member("moved_to", movedTo?.rawValue)
    writer.member("provider_id", providerID)
    writer.member("request_id", requestID?.description)
    writer.member("next_attempt_at", nextAttemptAt?.rfc3339)
    writer.member("overtaken", overtaken)
    if let attemptedBetween {
      writer.member("earliest_attempt_at", attemptedBetween.lowerBound.rfc3339)
      writer.member("latest_attempt_at", attemptedBetween.upperBound.rfc3339)
    }
    if attempts.omitted.count > 0 { writer.member("attempts_omitted", attempts.omitted.count) }
    writer.objects("attempts", attempts.kept) { writer, attempt in
      writer.member("attempted_at", attempt.at.rfc3339)
      writer.member("verdict", attempt.verdict)
      writer.member("reason", attempt.reason)
      writer.member("http_status", attempt.status)
    }
  }

  static let columns = [
    "provider", "platform", "variant", "state", "reason", "provider_id", "request_id", "attempts", "last_attempt_at",
    "next_attempt_at", "overtaken", "earliest_attempt_at", "latest_attempt_at",
    "moved_to",
  ]

  var row: [String] {
    [
      provider?.rawValue ?? "", platform ?? "", variant ?? "", state, reason ?? "", providerID ?? "",
      requestID?.description ?? "",
      // How often is not known where no record is kept.
      attemptedBetween == nil ? String(attempts.count) : "",
      attempts.last?.at.rfc3339 ?? "", nextAttemptAt?.rfc3339 ?? "", String(overtaken),
      attemptedBetween?.lowerBound.rfc3339 ?? "", attemptedBetween?.upperBound.rfc3339 ?? "",
      movedTo?.rawValue ?? "",
    ]
  }
}
