import Domain
import HTTPServer
import Intake

/// Finds the endpoint of a request.
package enum Router {
  /// What a method and path lead to; a refusal is 400, 404 or 405.
  package enum Match: Sendable {
    /// `parameters`: the decoded parts of the path that stand for braces, in order.
    case found(Endpoint, parameters: [String])
    case refused(Problem)
  }

  private static let table: [(segments: [[UInt8]], endpoint: Endpoint)] = Endpoint.all.map {
    (split($0.path), $0)
  }

  /// Paths without parameters, as almost every client writes them.
  private static let literal = Dictionary(
    grouping: Endpoint.all.filter { !$0.path.contains("{") }, by: \.path)

  /// `path` as it came, still escaped.
  package static func match(_ method: String, _ path: String) -> Match {
    if let endpoint = literal[path]?.first(where: { $0.method == method }) { return .found(endpoint, parameters: []) }
    let raw = split(path)
    var segments: [[UInt8]] = []
    for segment in raw {
      guard let plain = decode(segment) else {
        return .refused(Problem(.badRequest, "The path has a broken % escape, or one that is not UTF-8"))
      }
      segments.append(plain)
    }
    let wanted = method == "HEAD" ? "GET" : method
    var methods: [String] = []
    let fitting = table.filter { fits($0.segments, segments) }
    // A word of the API is never an id: `/v1/devices/export` is no device.
    let words = fitting.map { entry in entry.segments.count { !isParameter($0) } }.max() ?? 0
    for entry in fitting where entry.segments.count(where: { !isParameter($0) }) == words {
      if entry.endpoint.method == wanted {
        let parameters = zip(entry.segments, segments).filter { isParameter($0.0) }.map {
          String(decoding: $0.1, as: UTF8.self)
        }
        return .found(entry.endpoint, parameters: parameters)
      }
      methods.append(entry.endpoint.method)
    }
    if !methods.isEmpty {
      if methods.contains("GET") { methods.append("HEAD") }
      let allow = Array(Set(methods)).sorted().joined(separator: ", ")
      return .refused(
        Problem(.methodNotAllowed, "This path allows \(allow)", headers: [Header("allow", allow)]))
    }
    guard let near = suggestion(for: segments) else {
      return .refused(Problem(.notFound, "This path does not exist; /openapi.json lists all paths"))
    }
    return .refused(Problem(.notFound, "This path does not exist; did you mean \(near)?"))
  }

  /// What can be no id, as a path says something else by it: `/v1/devices/export`.
  package static let words = Set(
    table.flatMap { entry in
      table.flatMap { other -> [String] in
        guard entry.segments.count == other.segments.count else { return [] }
        return zip(entry.segments, other.segments).enumerated().compactMap { place, pair in
          guard isParameter(pair.0), !isParameter(pair.1),
            entry.segments[..<place].elementsEqual(other.segments[..<place])
          else { return nil }
          return String(decoding: pair.1, as: UTF8.self)
        }
      }
    })

  private static func split(_ path: String) -> [[UInt8]] {
    path.utf8.dropFirst(path.hasPrefix("/") ? 1 : 0)
      .split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map(Array.init)
  }

  private static func isParameter(_ segment: [UInt8]) -> Bool { segment.first == UInt8(ascii: "{") }

  private static func fits(_ template: [[UInt8]], _ segments: [[UInt8]]) -> Bool {
    guard template.count == segments.count else { return false }
    return zip(template, segments).allSatisfy { isParameter($0) ? !$1.isEmpty : $0 == $1 }
  }

  private static func decode(_ segment: [UInt8]) -> [UInt8]? {
    PercentDecoding.text(segment[...], plusIsSpace: false).map { Array($0.utf8) }
  }

  /// A path that was probably meant: a slip in a segment, a slash too many at the end, or the version forgotten.
  private static func suggestion(for segments: [[UInt8]]) -> String? {
    guard segments.count <= 6 else { return nil }
    let plain = segments.last == [] ? Array(segments.dropLast()) : segments
    for candidate in [plain, [Array("v1".utf8)] + plain] {
      for entry in table where isNear(entry.segments, candidate) { return entry.endpoint.path }
    }
    return nil
  }

  private static func isNear(_ template: [[UInt8]], _ segments: [[UInt8]]) -> Bool {
    guard template.count == segments.count else { return false }
    return zip(template, segments).allSatisfy { wanted, found in
      if isParameter(wanted) || wanted == found { return true }
      let word = String(decoding: wanted, as: UTF8.self)
      return Suggestion.nearest(to: String(decoding: found, as: UTF8.self), among: [word]) != nil
    }
  }
}
