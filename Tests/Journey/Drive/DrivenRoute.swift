import Domain
import JSON

/// One method of one path, as the running program describes it in /openapi.json: new routes are driven by themselves.
struct DrivenRoute {
  var method: String
  var path: String
  var query: [String] = []
  var headers: [String] = []
  /// What the body may be; nil: it takes none.
  var body: JSONValue?
  /// The types that a body may have, as they are described.
  var types: [String] = []
  /// Documented.
  var statuses: Set<Int> = []
  static let lines = "application/x-ndjson"
  static let table = "text/csv"
  var name: String { "\(method) \(path)" }

  /// What any path may answer before it is known which one it is: authorization, the head, the body's size and type.
  static let everywhere: Set<Int> = [400, 401, 403, 404, 405, 408, 413, 415, 431, 503]

  static func all(of document: JSONValue) throws -> [DrivenRoute] {
    var routes: [DrivenRoute] = []
    for path in document["paths"]?.object ?? [] {
      for method in path.value.object ?? [] {
        var route = DrivenRoute(method: method.key.uppercased(), path: path.key)
        for parameter in method.value["parameters"]?.array ?? [] {
          guard let name = parameter["name"]?.string else { continue }
          switch parameter["in"]?.string {
          case "query": route.query.append(name)
          case "header": route.headers.append(name)
          default: break
          }
        }
        let contents = method.value["requestBody"]?["content"]?.object ?? []
        route.types = contents.map(\.key)
        // A table is made of what its lines would be.
        route.body = contents.first { $0.key != Self.table }?.value["schema"]
        route.statuses = Set((method.value["responses"]?.object ?? []).compactMap { Int($0.key) })
        routes.append(route)
      }
    }
    guard routes.count > 20 else { throw DriveFault(text: "/openapi.json tells of \(routes.count) routes only") }
    return routes
  }
}

struct DriveFault: Error { var text: String }
