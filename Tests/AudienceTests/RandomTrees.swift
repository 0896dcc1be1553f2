import Audience
import Support

/// Trees as the parser makes them, over few enough values that their terms meet.
enum RandomTrees {
  static let tags = [
    "plan:pro", "plan:team", "plan", "churned", "city:New York", "a\"b\\c", "lang:de", "and", "Everyone", "größe:xl",
    "é", "e\u{301}", "x:y:z", "*", "plan:*", "tab(le)", "👩‍👧", "provider:apns", ":", "a=b", "SEEN:<3d", "auth:denied",
    "activity:x", "activity",
  ]
  static let versions = ["2.1", "2.1.0", "2.10", "3.0-beta.2", "3.0", "0.9"]

  static func term(_ random: inout Seeded) -> AudienceTerm {
    switch Int.random(in: 0..<16, using: &random) {
    case 0: return .tagPrefix(random.pick(["plan:", "city:", "x:y:", "lang:", "a b:", "and:"]))
    case 1: return .provider(random.pick(["apns", "fcm", "onesignal"]))
    case 2: return .platform(random.pick(["ios", "android", "web"]))
    case 3: return .language(random.pick(["de", "de-at", "fr", "zh-hans"]))
    case 4: return .zone(random.pick(["Europe/Vienna", "UTC", "Etc/GMT+5"]))
    case 5: return .appVersion(random.pick(AudienceTerm.Comparison.allCases), Version(random.pick(versions)))
    case 6: return .appVersion(.exact, Version(random.pick(["2.1 (451)", "dev", "<3", "*"])))
    case 7: return .seen(random.pick([.within, .olderThan]), days: Int.random(in: 1...40, using: &random))
    case 8: return .present(random.pick([.language, .zone, .platform, .appVersion, .permission]))
    case 9: return .permission(random.pick(["provisional", "time-sensitive", "denied"]))
    case 10: return .activity(random.pick(["match-7", "Match 7", "*", "a:b", "say \"go\"", "everyone", "é"]))
    default: return .tag(random.pick(tags))
    }
  }

  static func tree(_ random: inout Seeded, depth: Int = 5) -> AudienceExpression {
    func members() -> [AudienceExpression] {
      (0..<Int.random(in: 2...3, using: &random)).map { _ in tree(&random, depth: depth - 1) }
    }
    return switch depth == 0 ? 0 : Int.random(in: 0..<8, using: &random) {
    case 0, 1: .term(term(&random))
    case 2: Int.random(in: 0..<6, using: &random) == 0 ? .everyone : .term(term(&random))
    case 3, 4: .not(tree(&random, depth: depth - 1))
    case 5: .all(members())
    default: .any(members())
    }
  }
}
