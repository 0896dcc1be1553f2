import Domain
import Glibc
import HTTPServer
import JSON
import Loop

/// A body of one JSON document a line (NDJSON), as the bulk calls take it. A line that is wrong is answered for, and
/// stops no other.
struct Lines {
  static let mediaType = "application/x-ndjson"
  static let maximum = 10_000

  struct Line {
    /// From 1, as editors count.
    var number: Int
    var bytes: [UInt8]
    /// Why it cannot be read; nil: it can, or `document` tells.
    var fault: Problem?

    func document() throws(Problem) -> JSONValue {
      if let fault { throw fault }
      do throws(JSONFault) {
        return try JSON.parse(bytes, Call.limits)
      } catch {
        throw Problem(error, in: "line")
      }
    }

    func document(_ bodies: LargeBodies) async throws(Problem) -> JSONValue {
      guard bodies.areLarge(bytes.count) else { return try document() }
      return try await bodies.read(bytes.count) { Result { () throws(Problem) in try document() } }.get()
    }
  }

  /// Bytes of one line: no more than of the call that takes one such document.
  struct Bound {
    var bytes: Int
    /// Where it is set.
    var setting: String

    func fault(of line: Int) -> Problem? {
      guard line > bytes else { return nil }
      return Problem(
        .bodyTooLarge,
        "This line has \(line) bytes; the limit of a line is \(bytes) (`\(setting)` of the configuration)")
    }
  }

  /// Without empty ones.
  let all: [Line]

  /// Counts them while it reads, and gives way to other requests between two of them.
  init(of call: Call, _ bound: Bound, _ loop: EventLoop) async throws(Problem) {
    if Call.mediaType(call.request.header("content-type") ?? "") == ListForm.table.mediaType {
      all = try await DeviceTable.lines(of: call, bound, loop)
      return
    }
    var body = call.request.body[...]
    for mark: [UInt8] in [[0xFE, 0xFF], [0xFF, 0xFE]] where body.starts(with: mark) {
      throw Problem(.malformedJSON, "The body is UTF-16: save it as UTF-8; nothing was done")
    }
    // Some editors begin a UTF-8 file so.
    if body.starts(with: [0xEF, 0xBB, 0xBF]) { body = body.dropFirst(3) }
    var lines: [Line] = []
    var number = 0
    while !body.isEmpty {
      await loop.giveWay()
      let end = Self.end(of: body)
      number += 1
      var bytes = body[..<end]
      if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
      // Blanks or not: that many are no mistake of an editor.
      if let fault = bound.fault(of: bytes.count) {
        try Self.checkCount(behind: lines.count)
        lines.append(Line(number: number, bytes: [], fault: fault))
      } else if bytes.contains(where: { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }) {
        try Self.checkCount(behind: lines.count)
        lines.append(Line(number: number, bytes: Array(bytes)))
      }
      body = body[end...].dropFirst()
    }
    guard !lines.isEmpty else { throw Problem(.malformedJSON, "The body has no line: send one JSON object a line") }
    all = lines
  }

  /// Of the first line. A line may have megabytes: looked for by words, not by bytes.
  private static func end(of body: ArraySlice<UInt8>) -> Int {
    body.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress, let found = memchr(start, Int32(UInt8(ascii: "\n")), bytes.count) else {
        return body.endIndex
      }
      return body.startIndex + (found - UnsafeMutableRawPointer(mutating: start))
    }
  }

  /// Refuses a body that has another line behind so many.
  static func checkCount(behind lines: Int) throws(Problem) {
    guard lines < maximum else {
      throw Problem(
        .bodyTooLarge, "The body has more than \(maximum) lines: send it in parts; nothing was done")
    }
  }

  /// One answer a line, in the order asked: `line`, and what became of it or `problem`.
  static func answer(
    _ results: [(line: Int, result: Result<(inout JSONWriter) -> Void, Problem>)], _ loop: EventLoop
  ) async -> HTTPServerResponse {
    var bytes: [UInt8] = []
    for (line, result) in results {
      await loop.giveWay()
      var writer = JSONWriter()
      writer.beginObject()
      writer.member("line", line)
      switch result {
      case .success(let write): write(&writer)
      case .failure(let problem):
        writer.key("problem")
        problem.write(to: &writer)
      }
      writer.endObject()
      bytes += writer.bytes
      bytes.append(UInt8(ascii: "\n"))
    }
    return Answer.bytes(mediaType, bytes)
  }
}
