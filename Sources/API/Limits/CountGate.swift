import Domain
import HTTPServer

/// How many counts of audiences, and dry runs, of a key or an app are at work in this process. Belongs to the loop.
final class CountGate {
  let limit: Int
  /// Nil: it is the app's.
  let key: String?
  let app: AppID
  var atWork = 0

  init(_ limit: Int, key: String?, app: AppID) { (self.limit, self.key, self.app) = (limit, key, app) }

  var isFull: Bool { atWork >= limit }
  var policy: String { "\(key == nil ? "app" : "key")-counts" }

  var problem: Problem {
    var problem = Problem(
      .rateLimited,
      "\(limit) counts and dry runs of \(key == nil ? "the app" : "this key") are in progress "
        + "(limits.\(key == nil ? "apps" : "keys").counts): send fewer at a time",
      retryAfter: 1,
      headers: [
        Header("ratelimit-policy", "\"\(policy)\";q=\(limit);qu=\"concurrent-requests\""),
        Header("ratelimit", "\"\(policy)\";r=0;t=1"),
      ])
    problem.violatedPolicies = [policy]
    return problem
  }
}
