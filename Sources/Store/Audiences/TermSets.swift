import Audience
import Domain

/// Which sets make up the devices of a term.
enum TermSets {
  /// Whose values must be known to tell; nil: the sets follow from the term alone.
  static func kindToList(_ term: AudienceTerm) -> SetKind? {
    guard sole(term) == nil, let field = term.field else { return nil }
    return kind(field)
  }

  static func kind(_ field: AudienceField) -> SetKind {
    switch field {
    case .tag: .tag
    case .provider: .route
    case .platform: .platform
    case .language: .language
    case .zone: .zone
    case .appVersion: .version
    case .seen: .seen
    case .permission: .permission
    case .activity: .activity
    }
  }

  /// The one set of a term, where there is one.
  static func sole(_ term: AudienceTerm) -> SetName? {
    if case .tagPrefix(let prefix) = term, SetName.key(ofTag: prefix) == prefix { return SetName(.tagKey, prefix) }
    guard let field = term.field, field != .provider, let value = term.soleValue else { return nil }
    return SetName(kind(field), value)
  }

  /// Those of `values` of the term's kind that count.
  static func names(_ term: AudienceTerm, among values: [String], today: Int) -> [SetName] {
    guard let field = term.field else { return [] }
    return values.filter { value in
      switch (field, term) {
      case (_, .present): true
      case (.seen, _):
        Whole.read(value, in: Int(Int32.min)...Int(Int32.max)).map { term.matches(day: $0, today: today) } ?? false
      case (.provider, _): RouteClass(name: value).map { term.matches($0.provider.rawValue) } ?? false
      default: term.matches(value)
      }
    }.map { SetName(kind(field), $0) }
  }
}
