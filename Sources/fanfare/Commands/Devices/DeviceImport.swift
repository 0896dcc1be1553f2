import API
import CommandFrame
import Configuration
import Domain
import GatewayClient
import HTTPClient
import JSON
import Loop

/// One import on its way: batches one after the other, so that later lines win over earlier ones.
struct DeviceImport {
  private let path: String
  private let batch: Int
  private let rejects: RejectsFile?
  /// Nil: NDJSON.
  private let table: Table?
  private let keepsMissing: Bool
  /// Nothing is registered.
  private let isTrial: Bool
  /// With its question mark; empty: nothing is said.
  private let query: String
  /// The first line of a table that is not empty, which each request begins with.
  private var head: [UInt8]?
  private var progress = Progress("importing")
  private var tally = ImportTally()
  private var notes = ImportNotes()
  /// All lines up to this one are registered or refused.
  private var reached = 0
  /// How many those are, without empty ones.
  private var reachedLines = 0
  private var isComplete = false
  /// What is to be said of missing columns as soon as the server has accepted the table; nil: nothing, or it is said.
  private var clearing: String?

  private typealias Line = (number: Int, bytes: [UInt8])

  /// Bytes of one request: the server takes 20 MiB.
  private static let bytesAtOnce = 8 << 20
  /// Tries of one batch while the server has too much to do.
  private static let tries = 30

  /// A file that is a table, and what the command line says of its columns.
  struct Table {
    /// What the command line says, as parameters of the request.
    let query: [(name: String, value: String?)]

    /// Nil where the file is none.
    init?(_ path: String, _ arguments: Arguments) throws(UsageProblem) {
      let maps = arguments.texts("--map")
      let sets = arguments.texts("--set")
      let name = path.lowercased()
      let isTable = arguments.has("--csv") || name.hasSuffix(".csv")
      let hasRules = !maps.isEmpty || !sets.isEmpty
      if !isTable, hasRules, [".ndjson", ".jsonl", ".json"].contains(where: name.hasSuffix) {
        throw UsageProblem(text: "--map and --set are for CSV: \(path) is read as JSON (add --csv if it is a table)")
      }
      if !isTable, !hasRules, Self.looksLikeTable(path) {
        throw UsageProblem(text: "\(path) looks like CSV: add --csv")
      }
      guard isTable || hasRules else { return nil }
      var parts: [(name: String, value: String?)] = []
      for (name, texts) in [("map", maps), ("set", sets)] {
        for text in texts {
          let mark = name == "map" ? text.lastIndex(of: "=") : text.firstIndex(of: "=")
          guard let mark else {
            throw UsageProblem(text: "--\(name) takes \(name == "map" ? "COLUMN=FIELD" : "FIELD=VALUE")")
          }
          parts.append((name, "\(text[..<mark]):\(text[text.index(after: mark)...])"))
        }
      }
      query = parts
      mapped = maps.compactMap { text in text.lastIndex(of: "=").map { String(text[text.index(after: $0)...]) } }
      set = sets.map { String($0.prefix { $0 != "=" }) }
    }

    /// Fields that columns are mapped to, and fields that are set for all.
    let mapped: [String]
    let set: [String]

    /// The first line is no JSON, and has several cells.
    private static func looksLikeTable(_ path: String) -> Bool {
      guard path != "-", let file = try? LineFile(path) else { return false }
      var first = try? file.next()
      while let line = first, DeviceImport.isBlank(line, number: file.number) { first = try? file.next() }
      let text = (first ?? []).drop { [0xEF, 0xBB, 0xBF, UInt8(ascii: " ")].contains($0) }
      return text.first != UInt8(ascii: "{")
        && text.contains { [UInt8(ascii: ","), UInt8(ascii: ";"), 9].contains($0) }
    }

    /// Fields of a registration that neither a column nor an option gives: an import clears them.
    func cleared(head: [UInt8]) -> [String] {
      let columns = String(decoding: head, as: UTF8.self).split { ",;\t\r\n".contains($0) }.compactMap { cell in
        DeviceTable.field(of: String(cell.filter { $0 != "\"" && $0 != "\u{feff}" }))
      }
      let given = Set((columns + mapped + set).map { $0.hasPrefix("attributes.") ? "attributes" : $0 })
      return Self.clearedFields.filter { !given.contains($0) }
    }

    /// What a registration without them loses.
    private static let clearedFields = [
      "tags", "attributes", "user", "language", "tz", "platform", "app_version", "last_seen_at",
    ]
  }

  /// `keepsMissing`: a device keeps what its line does not have. `isTrial`: the server says what would become of the lines.
  init(_ path: String, batch: Int, rejects: RejectsFile?, table: Table?, keepsMissing: Bool, isTrial: Bool = false) {
    self.table = table
    self.keepsMissing = keepsMissing
    self.isTrial = isTrial
    query = ServerCall.query(
      (table?.query ?? []) + [("keep_missing", keepsMissing ? "true" : nil), ("dry_run", isTrial ? "true" : nil)])
    self.path = path
    self.batch = batch
    self.rejects = rejects
  }

  /// However it ends, what was refused until then is kept, and how far it came is told.
  mutating func run(_ client: Client, _ loop: EventLoop, json: Bool) async throws(HTTPClientFailure) -> ExitCode {
    var code = ExitCode.failure
    var failure: HTTPClientFailure?
    do throws(HTTPClientFailure) {
      code = try await take(client, loop)
    } catch {
      failure = error
    }
    progress.clear()
    for line in notes.lines { Terminal.note(line) }
    rejects?.end(isComplete: isComplete)
    if let rejects, rejects.isBroken {
      Terminal.complain("\(rejects.path) cannot take all refused lines", "is the disk full?")
      code = code == .success ? .failure : code
    }
    show(json: json)
    if let failure { throw failure }
    return code
  }

  private mutating func take(_ client: Client, _ loop: EventLoop) async throws(HTTPClientFailure) -> ExitCode {
    var file: LineFile?
    while true {
      let lines: [Line]
      do throws(LineFile.Fault) {
        let open = if let file { file } else { try LineFile(path) }
        if file == nil, let table {
          head = try firstRecord(of: open)?.bytes
          let cleared = keepsMissing || head == nil ? [] : table.cleared(head: head ?? [])
          let fields = cleared.map { "`\($0)`" }.joined(separator: ", ")
          if !fields.isEmpty {
            clearing =
              "note: the table has no column for \(fields): devices that have them lose them (--keep-missing keeps them)"
          }
        }
        lines = try batch(of: open)
        file = open
      } catch {
        Terminal.complain("\(path) cannot be read\(file == nil ? "" : " to its end"): \(error.reason)")
        tellStop(at: nil)
        return .failure
      }
      guard !lines.isEmpty else {
        isComplete = true
        guard reachedLines > 0 else {
          let what = table == nil ? "line" : "row"
          Terminal.complain("\(path == "-" ? "standard input" : path) holds no \(what): nothing is imported")
          return .failure
        }
        return tally.refused == 0 ? .success : .failure
      }
      if let failed = try await send(lines, client, loop) { return failed }
      if let file { progress.saw(reachedLines, "lines", part: file.taken, of: file.size) }
    }
  }

  /// Empty at the end.
  private func batch(of file: LineFile) throws(LineFile.Fault) -> [Line] {
    var lines: [Line] = []
    var size = 0
    while lines.count < batch, size < Self.bytesAtOnce, let line = try record(of: file) {
      guard !Self.isBlank(line.bytes, number: line.number) else { continue }
      lines.append(line)
      size += line.bytes.count + 1
    }
    return lines
  }

  private func firstRecord(of file: LineFile) throws(LineFile.Fault) -> Line? {
    while let line = try record(of: file) {
      if !Self.isBlank(line.bytes, number: line.number) { return line }
    }
    return nil
  }

  /// A line; of a table a record, whose cells may hold line breaks within quotes.
  private func record(of file: LineFile) throws(LineFile.Fault) -> Line? {
    guard var bytes = try file.next() else { return nil }
    let number = file.number
    while table != nil, Self.isOpen(bytes), bytes.count < Self.longestRecord, let more = try file.next() {
      bytes += [UInt8(ascii: "\n")] + more
    }
    return (number, bytes)
  }
  /// A quote that does not end must not read the whole file.
  private static let longestRecord = 1 << 20

  private static func isOpen(_ bytes: [UInt8]) -> Bool {
    !bytes.count { $0 == UInt8(ascii: "\"") }.isMultiple(of: 2)
  }

  /// What the server takes for no line either. Some editors begin a UTF-8 file with a mark.
  private static func isBlank(_ line: [UInt8], number: Int) -> Bool {
    var rest = line[...]
    if number == 1, rest.starts(with: [0xEF, 0xBB, 0xBF]) { rest = rest.dropFirst(3) }
    if rest.last == UInt8(ascii: "\r") { rest = rest.dropLast() }
    return rest.allSatisfy { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
  }

  /// Nil when it was answered line by line.
  private mutating func send(
    _ lines: [Line], _ client: Client, _ loop: EventLoop
  ) async throws(HTTPClientFailure) -> ExitCode? {
    var body = head.map { $0 + [UInt8(ascii: "\n")] } ?? []
    for line in lines {
      body += line.bytes
      body.append(UInt8(ascii: "\n"))
    }
    // Of an attempt that a later one followed.
    var inPart = false
    for attempt in 1... {
      let answer: Client.Answer
      do throws(HTTPClientFailure) {
        answer = try await client.call(
          "POST", "/v1/devices/bulk\(query)", body,
          type: table == nil ? "application/x-ndjson" : "text/csv")
      } catch {
        tellStop(at: lines, inPart: inPart || error.processed)
        throw error
      }
      if answer.isSuccess {
        guard read(answer.body, lines) == lines.count else {
          Terminal.complain("the answer does not cover every line", "check that the server is Fanfare")
          tellStop(at: lines)
          return .failure
        }
        if let clearing { Terminal.note(clearing) }
        clearing = nil
        reached = lines[lines.count - 1].number
        reachedLines += lines.count
        return nil
      }
      inPart = inPart || answer.status >= 500
      guard answer.status == 503, attempt < Self.tries else {
        let code = ServerCall.refused(answer, json: false)
        tellStop(at: lines, inPart: inPart)
        return code
      }
      await loop.sleep(milliseconds: 1_000)
    }
    return nil
  }

  /// `lines`: sent, and not answered line by line; `inPart`: some of them may have been taken all the same.
  private func tellStop(at lines: [Line]?, inPart: Bool = true) {
    guard !isTrial else { return Terminal.note("this was a dry run: nothing is registered") }
    if reached > 0 {
      Terminal.note(
        "\(reached == 1 ? "line 1 is" : "lines 1–\(reached) are") imported\(tally.refused > 0 ? ", except the refused ones" : "")"
      )
    }
    if let first = lines?.first?.number, let last = lines?.last?.number {
      let range = first == last ? "line \(first)" : "lines \(first)–\(last)"
      Terminal.note(
        inPart
          ? "\(first == last ? range : "some of \(range)") may be imported; later lines are not"
          : reached == 0 ? "nothing is imported" : "line \(first) and later lines are not imported")
    } else {
      Terminal.note(reached > 0 ? "later lines are not imported" : "nothing is imported")
    }
    if reached > 0 || inPart { Terminal.note("it is safe to repeat the whole import") }
  }

  /// How many lines the answer tells of.
  private mutating func read(_ answer: [UInt8], _ lines: [Line]) -> Int {
    var answered = 0
    // Where each of them stood in the request, from 1.
    var places: [Int64: Int] = [:]
    var place: Int64 = 1 + (head.map { Int64($0.count { $0 == UInt8(ascii: "\n") }) + 1 } ?? 0)
    for (index, line) in lines.enumerated() {
      places[place] = index
      place += Int64(line.bytes.count { $0 == UInt8(ascii: "\n") }) + 1
    }
    progress.clear()
    var last: (begin: Int64, record: Line)?
    for text in answer.split(separator: UInt8(ascii: "\n")) {
      guard let result = try? JSON.parse(Array(text)), case .integer(let place)? = result["line"] else { continue }
      let line: Line
      if let index = places[place] {
        answered += 1
        (last, line) = ((place, lines[index]), lines[index])
      } else if let (begin, record) = last, let part = Self.line(Int(place - begin), of: record) {
        // A quote did not end, and the server took the lines behind it one by one.
        line = part
      } else {
        continue
      }
      guard let problem = result["problem"] else {
        tally.take(result, line: line.number)
        notes.take(result["warnings"]?.array ?? [], line.number)
        continue
      }
      tally.refuse()
      let isFirst = result["problem"]?["code"]?.string == "malformed_csv"
      rejects?.append(isFirst ? Self.line(0, of: line)?.bytes ?? [] : line.bytes, head: head)
      notes.refuse(problem, line.number)
    }
    return answered
  }

  /// One of the lines of a record whose cells hold line breaks, or seem to.
  private static func line(_ offset: Int, of record: Line) -> Line? {
    let parts = record.bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    return parts.indices.contains(offset) ? (record.number + offset, Array(parts[offset])) : nil
  }

  private func show(json: Bool) {
    if json {
      var writer = JSONWriter()
      writer.beginObject()
      writer.member("complete", isComplete)
      writer.member("lines", reached)
      if isTrial { writer.member("dry_run", true) }
      tally.write(to: &writer)
      writer.endObject()
      return Terminal.print(json: writer.bytes)
    }
    guard reachedLines > 0 else { return }
    if isTrial { Terminal.note("this was a dry run: nothing is registered") }
    for line in tally.lines(isTrial: isTrial) { Terminal.print(line) }
  }
}
