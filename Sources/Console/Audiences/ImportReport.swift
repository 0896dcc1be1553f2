import API
import Domain
import JSON

/// What became of the lines of an import, or what would: all are counted, and the first that were refused are kept,
/// as far as they fit into a note.
struct ImportReport {
  struct Reason {
    /// Of the first line that has it.
    var detail: String
    var line: Int
    var count: Int
  }
  struct Reject {
    var line: Int
    var reason: String
    var text: String
  }

  var isTrial: Bool
  /// How the columns were mapped.
  var query: [(name: String, value: String)]
  private(set) var counts: [String: Int] = [:]
  private(set) var refused = 0
  private(set) var reasons: [Reason] = []
  private(set) var rejects: [Reject] = []
  /// The last line of the file that was answered for.
  var reached = 0
  /// Why it went no further; nil: it came to the end.
  var stopped: String?
  private var places: [String: Int] = [:]
  /// Hashes of the ids that a trial would have registered: a later part of the file is judged without the earlier ones.
  private var registered: Set<Int> = []
  private var rejectBytes = 0

  /// What may become of a line, in the order in which a page tells it.
  static let kinds = ["created", "updated", "revived", "moved", "skipped"]
  /// Counted beside that.
  static let warnings = ["stays_disabled", "enabled_again"]
  static let mostRejects = 1_000
  /// More lines a file of the console hardly has; beyond that an id may count as new twice.
  private static let mostRegistered = 500_000
  /// Bytes of refused lines and their reasons, as they are packed: with all the rest they fit into a note.
  private static let mostRejectBytes = 3 << 20
  private static let mostReasons = 50
  private static let longestText = 2_000
  /// In Unicode scalars.
  private static let longestReason = 500

  init(isTrial: Bool, query: [(name: String, value: String)]) { (self.isTrial, self.query) = (isTrial, query) }

  var lines: Int { counts.filter { Self.kinds.contains($0.key) }.values.reduce(0, +) + refused }

  /// One line of the answer. `text` gives a line of the file.
  mutating func take(_ result: JSONValue, shift: Int, text: (_ line: Int, _ most: Int) -> String) {
    guard let place = result["line"]?.integer else { return }
    let line = Int(clamping: place) &+ shift
    guard let problem = result["problem"] else {
      var kind = result["registration"]?.string ?? ""
      if isTrial, isKnown(result["id"]?.string, kind) { kind = "updated" }
      if Self.kinds.contains(kind) { counts[kind, default: 0] += 1 }
      for warning in (result["warnings"]?.array ?? []).prefix(20) {
        if let code = warning["code"]?.string, Self.warnings.contains(code) { counts[code, default: 0] += 1 }
      }
      return
    }
    refused += 1
    let violations = problem["violations"]?.array ?? []
    let told = violations.prefix(5).map {
      FieldName.sentence($0["detail"]?.string ?? "", at: $0["pointer"]?.string ?? "")
    }
    let whole = told.isEmpty ? problem["detail"]?.string ?? "" : told.joined(separator: "; ")
    let reason = String(String.UnicodeScalarView(whole.unicodeScalars.prefix(Self.longestReason)))
    let first = violations.first
    let kind = [problem["code"], first?["pointer"], first?["code"]].map { $0?.string ?? "" }.joined(separator: " ")
    if let place = places[kind] {
      reasons[place].count += 1
    } else if reasons.count < Self.mostReasons {
      places[kind] = reasons.count
      reasons.append(Reason(detail: reason, line: line, count: 1))
    }
    guard rejects.count < Self.mostRejects, rejectBytes < Self.mostRejectBytes else { return }
    let reject = Reject(line: line, reason: reason, text: text(line, Self.longestText))
    rejectBytes += [reject.reason, reject.text].reduce(0) { $0 + JSONValue.string($1).encoded.count }
    rejects.append(reject)
  }

  /// An earlier line would have registered the device anew.
  private mutating func isKnown(_ id: String?, _ kind: String) -> Bool {
    guard let id, kind == "created" || kind == "revived" else { return false }
    guard registered.count < Self.mostRegistered else { return registered.contains(id.hashValue) }
    return !registered.insert(id.hashValue).inserted
  }

  /// Lines that were refused, as a table for spreadsheets: no cell of it is run as a formula.
  var table: [UInt8] {
    var bytes = CSV.line(["line", "reason", "original"])
    for reject in rejects { bytes += CSV.line([String(reject.line), reject.reason, reject.text]) }
    return bytes
  }

  // MARK: Kept between two pages

  var packed: [UInt8] {
    func list(_ values: [JSONValue]) -> JSONValue { .array(values) }
    func number(_ value: Int) -> JSONValue { .integer(Int64(value)) }
    var members: [JSONMember] = [
      JSONMember("trial", .bool(isTrial)),
      JSONMember("query", list(query.map { list([.string($0.name), .string($0.value)]) })),
      JSONMember("counts", .object(counts.map { JSONMember($0.key, number($0.value)) })),
      JSONMember("refused", number(refused)), JSONMember("reached", number(reached)),
      JSONMember("reasons", list(reasons.map { list([.string($0.detail), number($0.line), number($0.count)]) })),
      JSONMember("rejects", list(rejects.map { list([number($0.line), .string($0.reason), .string($0.text)]) })),
    ]
    if let stopped { members.append(JSONMember("stopped", .string(stopped))) }
    return JSONValue.object(members).encoded
  }

  /// Nil: it is none.
  init?(_ packed: [UInt8]) {
    guard let document = try? JSON.parse(packed, maximumDepth: 8), case .bool(let trial)? = document["trial"] else {
      return nil
    }
    func number(_ value: JSONValue?) -> Int { Int(clamping: value?.integer ?? 0) }
    func rows(_ name: String, _ width: Int) -> [[JSONValue]] {
      (document[name]?.array ?? []).compactMap { $0.array }.filter { $0.count == width }
    }
    self.init(isTrial: trial, query: rows("query", 2).map { ($0[0].string ?? "", $0[1].string ?? "") })
    for member in document["counts"]?.object ?? [] { counts[member.key] = number(member.value) }
    (refused, reached, stopped) = (
      number(document["refused"]), number(document["reached"]), document["stopped"]?.string
    )
    reasons = rows("reasons", 3).map { Reason(detail: $0[0].string ?? "", line: number($0[1]), count: number($0[2])) }
    rejects = rows("rejects", 3).map {
      Reject(line: number($0[0]), reason: $0[1].string ?? "", text: $0[2].string ?? "")
    }
  }
}
