import Audience
import Domain
import Store

extension Service {
  /// Tags of an expression that are compared with those in use.
  private static let mostTags = 10
  /// Tags in use that one of them is compared with.
  private static let compared = 1_000

  /// Of an audience in which nobody is: which of its tags no device has, and which was probably meant.
  func tagHints(_ expression: AudienceExpression, _ call: Call, at pointer: String) async throws(Problem) -> [Notice] {
    let tags = expression.terms.compactMap { if case .tag(let tag) = $0 { tag } else { nil } }.sorted()
    var notices: [Notice] = []
    for tag in tags.prefix(Self.mostTags) {
      let count: AudienceCount
      do throws(StoreError) {
        let selection = AudienceSelection(expression: .term(.tag(tag)), reach: .allDevices)
        count = try await store.count(selection, app: call.app, now: call.now)
      } catch {
        throw Problem(error)
      }
      guard count.total == 0 else { continue }
      let near = try await nearest(to: tag, call.app).map { "; did you mean `\($0)`?" } ?? ""
      notices.append(Notice(pointer: pointer, code: "unknown_tag", detail: "no device has the tag `\(tag)`\(near)"))
    }
    return notices
  }

  /// Among tags of the same key first, as `plan:pro` for `plan:por`.
  private func nearest(to tag: String, _ app: AppID) async throws(Problem) -> String? {
    let key = tag.firstIndex(of: ":").map { String(tag[...$0]) }
    for prefix in [key, ""].compactMap({ $0 }) {
      let found: [TagCount]
      do throws(StoreError) {
        found = try await store.tags(app, prefix: prefix, limit: Self.compared, cursor: nil).items
      } catch {
        throw Problem(error)
      }
      let words = found.map { String($0.tag.dropFirst(prefix.count)) }
      if let near = Suggestion.nearest(to: String(tag.dropFirst(prefix.count)), among: words) { return prefix + near }
    }
    return nil
  }
}
