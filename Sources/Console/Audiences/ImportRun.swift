import Domain
import HTTPServer
import JSON
import Loop

/// Hands a file to the import of the API, part by part, so that later lines win over earlier ones.
struct ImportRun {
  let visitor: Visitor
  let loop: EventLoop

  /// Tries of one part while the gateway has too much to do, a second apart.
  private static let tries = 8

  /// A failure: the API refused the first part, so that nothing was done.
  func run(_ file: ImportFile, _ start: ImportReport) async -> Result<ImportReport, ToldProblem> {
    var report = start
    var parts = ImportParts(file)
    var query = report.query
    if report.isTrial { query.append(("dry_run", "true")) }
    while let part = parts.next() {
      await loop.giveWay()
      let response = await send(part, query, isTable: file.isTable)
      guard response.status == 200 else {
        let problem = ToldProblem(response)
        guard report.reached > 0 else { return .failure(problem) }
        report.stopped = problem.detail
        return .success(report)
      }
      let lines = ImportParts.Lines(of: part, in: file)
      let isWhole = await response.lines(loop) { line in
        guard let result = try? JSON.parse(line, maximumDepth: 16) else { return }
        report.take(result, shift: part.shift) { lines.text($0, upTo: $1) }
      }
      report.reached = part.lastLine
      if !isWhole {
        report.stopped = ""
        return .success(report)
      }
    }
    return .success(report)
  }

  private func send(
    _ part: ImportParts.Part, _ query: [(name: String, value: String)], isTable: Bool
  ) async -> HTTPServerResponse {
    let type = isTable ? "text/csv" : "application/x-ndjson"
    for _ in 1..<Self.tries {
      let response = await visitor.raw("POST", ["v1", "devices", "bulk"], query: query, body: (part.body, type))
      guard response.status == 503 || response.status == 429 else { return response }
      await loop.sleep(milliseconds: 1_000)
    }
    return await visitor.raw("POST", ["v1", "devices", "bulk"], query: query, body: (part.body, type))
  }
}

extension HTTPServerResponse {
  /// A line that is longer is passed over.
  private static var longestLine: Int { 1 << 20 }

  /// Calls `take` with each line of the body, whole or in pieces. False: the body broke off.
  func lines(_ loop: EventLoop, _ take: ([UInt8]) -> Void) async -> Bool {
    var rest: [UInt8] = []
    func cut(_ piece: [UInt8]) async {
      var start = 0
      while let end = piece[start...].firstIndex(of: 10) {
        let line = rest + piece[start..<end]
        if !line.isEmpty, line.count <= Self.longestLine { take(line) }
        (rest, start) = ([], end + 1)
        await loop.giveWay()
      }
      // One byte beyond the bound tells that it is too long.
      rest += piece[start...].prefix(Self.longestLine + 1 - min(rest.count, Self.longestLine + 1))
    }
    switch body {
    case .whole(let bytes): await cut(bytes)
    case .pieces(let pieces):
      do throws(BodyPieces.Broken) {
        while let piece = try await pieces.next() { await cut(piece) }
      } catch {
        return false
      }
    }
    if !rest.isEmpty, rest.count <= Self.longestLine { take(rest) }
    return true
  }
}
