import Audience
import Domain
import JSON
import Store

/// Drafts and waiting messages that name an audience, by itself or within others. A draft gets what the name stands for
/// when it is sent; a message keeps what it stood for when it was accepted.
struct AudienceUses {
  private static let named = 5

  let store: Store

  /// What somebody is to know who changes or deletes the audience. `all`: of the app.
  func notices(of name: String, isDeleted: Bool, _ all: [NamedAudience], _ app: AppID) async throws(Problem) -> [Notice]
  {
    var names: Set<String> = [name]
    var known = -1
    while names.count > known {
      known = names.count
      for audience in all where !Self.names(in: audience.expression).isDisjoint(with: names) {
        names.insert(audience.name)
      }
    }
    do throws(StoreError) {
      return try await drafts(names, isDeleted: isDeleted, app) + messages(names, app)
    } catch {
      throw Problem(error)
    }
  }

  static func names(in text: String?) -> Set<String> {
    text.flatMap { try? AudienceExpression(parsing: $0) }.map { Set($0.names) } ?? []
  }

  private func drafts(_ names: Set<String>, isDeleted: Bool, _ app: AppID) async throws(StoreError) -> [Notice] {
    var found: [String] = []
    for draft in try await store.drafts.all(app: app) where draft.message == nil {
      guard case .found(let whole) = try await store.drafts.draft(draft.id, app: app),
        let message = try? JSON.parse(whole.body, maximumDepth: Call.maximumDepth),
        !Self.names(in: message["to"]?["audience"]?.string).isDisjoint(with: names)
      else { continue }
      found.append(Self.shown(draft.id.description, draft.name))
    }
    guard !found.isEmpty else { return [] }
    let (count, use) = found.count == 1 ? ("1 draft", "names") : ("\(found.count) drafts", "name")
    let effect = isDeleted ? "cannot be sent before that is changed" : "will be sent to the new audience"
    return [
      Notice(
        pointer: "", code: "audience_in_drafts",
        detail: "\(count) \(use) this audience and \(effect): \(Self.listed(found))")
    ]
  }

  private func messages(_ names: Set<String>, _ app: AppID) async throws(StoreError) -> [Notice] {
    let (waiting, isWhole) = try await store.schedule.waiting(app: app)
    let found = waiting.filter { !Self.names(in: $0.labels.audience).isDisjoint(with: names) }
      .map { Self.shown($0.id.description, $0.labels.name) }
    guard !found.isEmpty else { return [] }
    let count = found.count == 1 ? "1 scheduled message keeps" : "\(grouped(found.count)) scheduled messages keep"
    let rest = isWhole ? "" : ". There are very many scheduled messages; only the next ones were checked"
    return [
      Notice(
        pointer: "", code: "audience_kept",
        detail:
          "\(count) the audience as it was at acceptance: \(Self.listed(found)). To change that, cancel it and send "
          + "it again\(rest)")
    ]
  }

  private static func shown(_ id: String, _ name: String?) -> String { name.map { "\(id) \"\($0)\"" } ?? id }

  private static func listed(_ all: [String]) -> String {
    all.prefix(named).joined(separator: ", ") + (all.count > named ? " and \(all.count - named) more" : "")
  }
}
