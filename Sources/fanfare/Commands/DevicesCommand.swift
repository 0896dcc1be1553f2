import Configuration
import Domain
import Glibc
import JSON
import Loop

/// The registry from outside: many devices in and out.
enum DevicesCommand {
  static let command = Command(
    name: "devices", summary: "import, export and check devices, decide on prunes",
    about: """
      To import reads devices from FILE (NDJSON: one device a line, as POST /v1/devices takes it; - is standard input) and
      registers them. A line that is wrong is told with its number and stops no other; --rejects keeps those lines for
      another try. An import that was interrupted may be repeated as a whole.
      To export prints every device, one a line, as import takes them.
      To reindex compares sets, index, aliases and users with the records of devices, and with --repair mends them. It works
      on the store of the configuration directly, beside a running server. Exit code 1: something is wrong and not mended.
      To decide on prunes (with a key of scope admin): when far more tokens than usual are called dead, Fanfare puts the prunes aside and
      asks. prunes review shows them, prunes apply carries them out, prunes discard forgets them, prunes undo takes back what
      was carried out.
      """,
    positionals: ["import|export|reindex|prunes", "[FILE|review|apply|discard|undo]"],
    options: ServerCall.options(scopes: "devices") + DeviceReindex.options + DevicePrunes.options + [
      Command.Option("--rejects", "FILE", "import: write the lines that were refused into this file"),
      Command.Option("--batch", "LINES", "import: lines of one request, 1–10000 (\(defaultBatch))"),
      Command.Option("--csv", "export: a table for spreadsheets instead of NDJSON"),
      Command.json,
    ],
    examples: [
      "fanfare devices import devices.ndjson --rejects broken.ndjson", "fanfare devices export > devices.ndjson",
      "fanfare devices reindex --repair", "fanfare devices prunes review",
      "fanfare devices prunes apply --credential ios",
    ]
  ) { arguments in
    switch (arguments.positionals.first, arguments.positionals.dropFirst().first) {
    case ("import", let file?): return try importDevices(file, arguments)
    case ("import", nil): throw UsageProblem(text: "name the file: fanfare devices import FILE (- is standard input)")
    case ("export", nil): return try exportDevices(arguments)
    case ("reindex", nil): return try DeviceReindex.run(arguments)
    case ("prunes", let action): return try DevicePrunes.run(action, arguments)
    case ("export", _): throw UsageProblem(text: "export writes to standard output: fanfare devices export > FILE")
    default: throw UsageProblem(text: "say what to do: fanfare devices import, export, reindex or prunes")
    }
  }

  static let defaultBatch = 10_000

  // MARK: Export

  private static func exportDevices(_ arguments: Arguments) throws -> ExitCode {
    let type = arguments.has("--csv") ? "text/csv" : "application/x-ndjson"
    return try ServerCall.run(arguments) { client, _ in
      let answer = try await client.export("/v1/devices/export", as: type) { Terminal.pour($0) }
      return answer.isSuccess ? .success : ServerCall.refused(answer, json: arguments.wantsJSON)
    }
  }

  // MARK: Import

  private static func importDevices(_ path: String, _ arguments: Arguments) throws -> ExitCode {
    let batch = try arguments.integer("--batch", in: 1...10_000) ?? defaultBatch
    guard path == "-" || FileContent.exists(path) else { throw UsageProblem(text: "there is no file \(path)") }
    return try ServerCall.run(arguments) { client, loop in
      guard let file = LineFile(path) else {
        Terminal.complain("\(path) cannot be read")
        return .failure
      }
      var work = DeviceImport(file, batch: batch, rejects: arguments.text("--rejects"))
      let code = try await work.run(client, loop)
      work.show(json: arguments.wantsJSON)
      return code
    }
  }
}

/// One import on its way: batches one after the other, so that later lines win over earlier ones.
private struct DeviceImport {
  private let file: LineFile
  private let batch: Int
  private let rejects: String?
  private var counts: [String: Int] = [:]
  private var refused = 0
  private var told = 0
  private var rejected: [UInt8] = []

  /// Refused lines that are explained one by one; the rest is counted.
  private static let explained = 20
  /// Bytes of one request: the server takes 20 MiB.
  private static let bytesAtOnce = 8 << 20
  /// Tries of one batch while the server has too much to do.
  private static let tries = 30

  init(_ file: LineFile, batch: Int, rejects: String?) {
    self.file = file
    self.batch = batch
    self.rejects = rejects
  }

  mutating func run(_ client: Client, _ loop: EventLoop) async throws -> ExitCode {
    var lines: [(number: Int, bytes: [UInt8])] = []
    var size = 0
    while let line = file.next() {
      lines.append((file.number, line))
      size += line.count + 1
      guard lines.count >= batch || size >= Self.bytesAtOnce else { continue }
      if let failed = try await send(lines, client, loop) { return failed }
      lines.removeAll(keepingCapacity: true)
      size = 0
    }
    if !lines.isEmpty, let failed = try await send(lines, client, loop) { return failed }
    if let rejects, !rejected.isEmpty, !FileContent.write(rejected, to: rejects) {
      Terminal.complain("\(rejects) cannot be written")
      return .failure
    }
    return refused == 0 ? .success : .failure
  }

  /// Nil when it was answered line by line.
  private mutating func send(
    _ lines: [(number: Int, bytes: [UInt8])], _ client: Client, _ loop: EventLoop
  ) async throws -> ExitCode? {
    var body: [UInt8] = []
    for line in lines {
      body += line.bytes
      body.append(UInt8(ascii: "\n"))
    }
    guard body.contains(where: { $0 > UInt8(ascii: " ") }) else { return nil }
    for attempt in 1... {
      let answer = try await client.call("POST", "/v1/devices/bulk", body, type: "application/x-ndjson")
      if answer.isSuccess {
        read(answer.body, lines)
        return nil
      }
      guard answer.status == 503, attempt < Self.tries else {
        Terminal.note("lines \(lines[0].number)–\(lines[lines.count - 1].number) and what follows were not imported;")
        Terminal.note("the lines before are; repeating the import is safe")
        return ServerCall.refused(answer, json: false)
      }
      await loop.sleep(milliseconds: 1_000)
    }
    return nil
  }

  private mutating func read(_ answer: [UInt8], _ lines: [(number: Int, bytes: [UInt8])]) {
    for text in answer.split(separator: UInt8(ascii: "\n")) {
      guard let result = try? JSON.parse(Array(text)), case .integer(let place)? = result["line"],
        lines.indices.contains(Int(place) - 1)
      else { continue }
      let line = lines[Int(place) - 1]
      guard let problem = result["problem"] else {
        counts[result["registration"]?.string ?? "registered", default: 0] += 1
        continue
      }
      refused += 1
      if rejects != nil { rejected += line.bytes + [UInt8(ascii: "\n")] }
      guard told < Self.explained else { continue }
      told += 1
      let faults = (problem["violations"]?.array ?? []).map {
        "\($0["pointer"]?.string ?? ""): \($0["detail"]?.string ?? "")"
      }
      let detail = faults.isEmpty ? problem["detail"]?.string ?? "" : faults.joined(separator: "; ")
      Terminal.note("line \(line.number): \(detail)")
    }
  }

  func show(json: Bool) {
    let done = counts.values.reduce(0, +)
    if json {
      var writer = JSONWriter()
      writer.beginObject()
      writer.member("registered", done)
      for (word, count) in counts.sorted(by: { $0.key < $1.key }) { writer.member(word, count) }
      writer.member("refused", refused)
      writer.endObject()
      return Terminal.print(writer.bytes)
    }
    if refused > told { Terminal.note("… and \(refused - told) more") }
    let parts = counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
    Terminal.print("\(done) devices registered" + (parts.isEmpty ? "" : " (\(parts.joined(separator: ", ")))"))
    if refused > 0 { Terminal.print("\(refused) lines refused") }
  }
}
