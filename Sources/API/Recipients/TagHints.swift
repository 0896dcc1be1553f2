import Audience
package import Domain
import Loop
import Store

/// Tags in use, as they were looked up a moment ago: sends that repeat one slip look once, and sends with ever new ones
/// cannot keep the store busy.
package final class TagBook {
  /// A look holds for so many milliseconds, and so many are made in that time; what needs more gets no suggestion.
  package static let milliseconds: Int64 = 10_000
  /// Of all apps together.
  package static let mostLooks = 8

  private struct Question: Hashable {
    var app: AppID
    var prefix: ExactText
  }
  private var looks: [Question: (at: Instant, tags: [String]?)] = [:]

  /// One for each API loop.
  package init() {}

  /// Tags that begin with `prefix`: those known, or those that `look` finds. Nil: another request is looking, or too
  /// many have looked.
  package func tags(
    _ app: AppID, prefix: String, now: Instant, _ look: () async -> [String]
  ) async -> [String]? {
    let question = Question(app: app, prefix: ExactText(prefix))
    looks = looks.filter { now - $0.value.at < Self.milliseconds }
    if let known = looks[question] { return known.tags }
    guard looks.count < Self.mostLooks else { return nil }
    looks[question] = (now, nil)
    let found = await look()
    looks[question]?.tags = found
    return found
  }
}

/// Tags in an audience that were probably mistyped. Belongs to the loop.
final class TagHints {
  /// Tags of an expression that are told, and those of them that are compared with the tags in use.
  private static let mostTold = 10
  private static let mostCompared = 3
  /// Tags in use that one of them is compared with.
  private static let candidates = 1_000

  private let loop: EventLoop
  private let store: Store
  private let book = TagBook()

  init(loop: EventLoop, store: Store) {
    self.loop = loop
    self.store = store
  }

  /// Tags of an audience that no device has, whoever else is in it, and which was probably meant; languages and
  /// platforms that no system gives.
  func notices(of count: AudienceCount, _ expression: AudienceExpression, _ call: Call, at pointer: String) async
    -> [Notice]
  {
    var notices = Self.doubts(of: expression, count).prefix(Self.mostTold).map {
      Notice(pointer: pointer, code: $0.code, detail: $0.detail)
    }
    for (place, tag) in count.unusedTags.prefix(Self.mostTold).enumerated() {
      let hint = place < Self.mostCompared ? await hint(for: tag, call) : ""
      notices.append(Notice(pointer: pointer, code: "unknown_tag", detail: "no device has the tag `\(tag)`\(hint)"))
    }
    return notices
  }

  private static func doubts(of expression: AudienceExpression, _ count: AudienceCount) -> [(
    code: String, detail: String
  )] {
    if count.total == 0, case .term(.activity(let name)) = expression {
      return [(code: "unknown_activity", detail: "no device is registered with the `activity_id` `\(name)`")]
    }
    var doubts: [(code: String, detail: String)] = []
    for term in expression.terms.sorted(by: { $0.canonical < $1.canonical }) {
      switch term {
      case .language(let language):
        if let doubt = KnownLanguages.doubt(of: language) { doubts.append((code: "unknown_language", detail: doubt)) }
      case .platform(let platform):
        if let doubt = KnownPlatforms.doubt(of: platform) { doubts.append((code: "unknown_platform", detail: doubt)) }
      default: continue
      }
    }
    return doubts
  }

  private func hint(for tag: String, _ call: Call) async -> String {
    guard let key = ["tag:", "tags:"].first(where: tag.lowercased().hasPrefix), tag.count > key.count else {
      return await nearest(to: tag, call).map { "; did you mean `\($0)`?" } ?? ""
    }
    // Other systems write the word `tag` before a tag.
    let plain = String(tag.dropFirst(key.count))
    let near = await tags(with: plain, call)?.contains(plain) == true ? plain : await nearest(to: plain, call)
    return "; a tag is written without `\(key)`: did you mean `\(near ?? plain)`?"
  }

  /// Nil: they cannot be looked up now.
  private func tags(with prefix: String, _ call: Call) async -> [String]? {
    await book.tags(call.app, prefix: prefix, now: loop.now) { [store] in
      // A message is not refused because a suggestion cannot be found.
      let found = try? await store.tags.page(call.app, prefix: prefix, limit: Self.candidates, cursor: nil)
      return found?.items.map(\.tag) ?? []
    }
  }

  /// Among tags of the same key first, as `plan:pro` for `plan:por`; then among the grammar's own keys, as
  /// `platform:ios` for `platfrm:ios`; then among all tags.
  private func nearest(to tag: String, _ call: Call) async -> String? {
    // A named audience that is written as a tag.
    if AudienceName.isWellFormed(tag), let found = try? await store.namedAudiences.find([tag], app: call.app),
      found.first ?? nil != nil
    {
      return "audience:\(tag)"
    }
    let key = tag.firstIndex(of: ":").map { String(tag[...$0]) }
    for prefix in [key, ""].compactMap({ $0 }) {
      guard call.suggestions.isLeft else { return nil }
      guard let tags = await tags(with: prefix, call) else { continue }
      // No tag has this key.
      if tags.isEmpty, !prefix.isEmpty, let meant = MeantKey.nearest(to: tag, call.suggestions) { return meant }
      let words = tags.map { String($0.dropFirst(prefix.count)) }
      if let near = call.suggestions.nearest(to: String(tag.dropFirst(prefix.count)), among: words) {
        return prefix + near
      }
    }
    return nil
  }
}
