import Audience
import Domain
import HTTPServer
import JSON
import Store

/// Which messages to list; all that are given must hold.
private struct MessageQuery {
  var states: Set<String>?
  var label: String?
  /// In small letters.
  var name: String?
  var topic: String?
  var audience: AudienceExpression?
  /// Accepted then or later, and before that.
  var from: WallTime?
  var to: WallTime?

  init(_ call: Call) {
    states = call.words("state")
    label = call.request.query("label")
    name = call.request.query("name")?.lowercased()
    topic = call.request.query("topic")
    audience = call.request.query("audience").flatMap { try? AudienceExpression(parsing: $0) }
    from = call.time("from")
    to = call.time("to")
  }

  /// The store looks for labels by itself.
  var isWithinReports: Bool { states != nil || name != nil || topic != nil || audience != nil }

  func takes(_ report: MessageReport) -> Bool {
    if let states, !states.contains(report.state.rawValue) { return false }
    if let name, report.labels.name?.lowercased().contains(name) != true { return false }
    if let topic, report.labels.topic != topic { return false }
    return takes(audience: report.labels.audience)
  }

  /// True where the message was for this audience; for one term also where it is a part of the audience.
  private func takes(audience text: String?) -> Bool {
    guard let audience else { return true }
    guard let own = text.flatMap({ try? AudienceExpression(parsing: $0) }) else { return false }
    if case .term(let term) = audience { return own.terms.contains(term) }
    return own.canonical == audience.canonical
  }
}

extension MessageCalls {
  /// Messages that one page with filters looks at: what lies further is for the next page.
  private static let messageMark = "m:"
  private static let mostLookedAt = 2_000
  private static let lookedAtOnce = 200

  /// `GET /v1/messages`: newest first. With filters a page may hold fewer than `limit`, or none, and still have a next
  /// one.
  func listMessages(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let query = MessageQuery(call)
    let app = call.app
    let listing = Listing<MessageReport>(
      write: { $0.write(to: &$1) }, columns: MessageReport.columns, row: \.row,
      page: { [self] cursor, limit throws(Problem) in
        let before = try cursor.map { cursor throws(Problem) in
          try call.place(of: cursor, marked: Self.messageMark) { MessageID($0) }
        }
        var page = try await messages(query, app, before: before, limit: limit)
        page.next = page.next.map { call.cursor(at: $0, marked: Self.messageMark) }
        return page
      })
    return try await listing.answer(call)
  }

  private func messages(
    _ query: MessageQuery, _ app: AppID, before cursor: MessageID?, limit: Int
  ) async throws(Problem) -> ListingPage<MessageReport> {
    var place = cursor
    if let to = query.to {
      let bound = MessageID(acceptedAt: to, partition: 0, random: 0)
      place = place.map { min($0, bound) } ?? bound
    }
    var found: [MessageReport] = []
    var looked = 0
    repeat {
      let page: MessagePage
      do throws(StoreError) {
        page = try await store.reports.messages(
          app: app, before: place, limit: query.isWithinReports ? Self.lookedAtOnce : limit, label: query.label)
      } catch {
        throw Problem(error)
      }
      for (index, report) in page.reports.enumerated() {
        if let from = query.from, report.acceptedAt < from { return ListingPage(items: found) }
        guard query.takes(report) else { continue }
        found.append(report)
        guard found.count == limit else { continue }
        let isLast = page.next == nil && index == page.reports.count - 1
        return ListingPage(items: found, next: isLast ? nil : report.id.description)
      }
      looked += page.reports.count
      place = page.next
      // With a label the store has looked at as many as it will.
    } while place != nil && looked < Self.mostLookedAt && query.label == nil
    return ListingPage(items: found, next: place?.description)
  }
}

extension MessageReport {
  fileprivate static let columns =
    [
      "id", "name", "audience", "state", "kind", "accepted_at", "starts_at", "starts_at_local",
      "starts_at_zone", "first_attempt_at", "completed_at", "targets", "final", "retrying",
    ] + Outcome.allCases.map(\.rawValue) + ["labels"]

  fileprivate var row: [String] {
    let outcomes = Outcome.allCases.map { outcome in
      String(counts.filter { $0.key.outcome == outcome }.values.reduce(0, +))
    }
    let words = labels.members.isEmpty ? "" : String(decoding: JSONValue.object(labels.members).encoded, as: UTF8.self)
    return [
      id.description, labels.name ?? "", labels.audience ?? "", state.rawValue, kind.rawValue, acceptedAt.rfc3339,
      startsAt?.rfc3339 ?? "", startsAtLocal?.text ?? "", zoneOfStart ?? "",
      firstAttemptAt?.rfc3339 ?? "", completedAt?.rfc3339 ?? "", String(total),
      String(counts.values.reduce(0, +)), String(retrying),
    ] + outcomes + [words]
  }
}
