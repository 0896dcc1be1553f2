import Configuration
import Domain
import HTTPClient
import JSON
import Loop

/// One import on its way: batches one after the other, so that later lines win over earlier ones.
struct DeviceImport {
  private let path: String
  private let batch: Int
  private let rejects: String?
  private var counts: [String: Int] = [:]
  private var refused = 0
  private var told = 0
  private var rejected: [UInt8] = []
  /// All lines up to this one are registered or refused.
  private var reached = 0
  private var isComplete = false

  private typealias Line = (number: Int, bytes: [UInt8])

  /// Refused lines that are explained one by one; the rest is counted.
  private static let explained = 20
  /// Bytes of one request: the server takes 20 MiB.
  private static let bytesAtOnce = 8 << 20
  /// Tries of one batch while the server has too much to do.
  private static let tries = 30

  init(_ path: String, batch: Int, rejects: String?) {
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
    if let rejects, !rejected.isEmpty, !FileContent.write(rejected, to: rejects) {
      Terminal.complain("\(rejects) cannot be written")
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
        lines = try batch(of: open)
        file = open
      } catch {
        Terminal.complain("\(path) cannot be read\(file == nil ? "" : " to its end"): \(error.reason)")
        tellStop(at: nil)
        return .failure
      }
      guard !lines.isEmpty else {
        isComplete = true
        return refused == 0 ? .success : .failure
      }
      if let failed = try await send(lines, client, loop) { return failed }
    }
  }

  /// Empty at the end.
  private func batch(of file: LineFile) throws(LineFile.Fault) -> [Line] {
    var lines: [Line] = []
    var size = 0
    while lines.count < batch, size < Self.bytesAtOnce, let line = try file.next() {
      guard !Self.isBlank(line, number: file.number) else { continue }
      lines.append((file.number, line))
      size += line.count + 1
    }
    return lines
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
    var body: [UInt8] = []
    for line in lines {
      body += line.bytes
      body.append(UInt8(ascii: "\n"))
    }
    for attempt in 1... {
      let answer: Client.Answer
      do throws(HTTPClientFailure) {
        answer = try await client.call("POST", "/v1/devices/bulk", body, type: "application/x-ndjson")
      } catch {
        tellStop(at: lines)
        throw error
      }
      if answer.isSuccess {
        guard read(answer.body, lines) == lines.count else {
          Terminal.complain("the answer does not tell of every line", "is it Fanfare that answers there?")
          tellStop(at: lines)
          return .failure
        }
        reached = lines[lines.count - 1].number
        return nil
      }
      guard answer.status == 503, attempt < Self.tries else {
        tellStop(at: lines, inPart: answer.status >= 500)
        return ServerCall.refused(answer, json: false)
      }
      await loop.sleep(milliseconds: 1_000)
    }
    return nil
  }

  /// `lines`: sent, and not answered line by line; `inPart`: some of them may have been taken all the same.
  private func tellStop(at lines: [Line]?, inPart: Bool = true) {
    if reached > 0 { Terminal.note("lines 1–\(reached) are imported\(refused > 0 ? ", but for those refused" : "")") }
    if let first = lines?.first?.number, let last = lines?.last?.number {
      let range = "lines \(first)–\(last)"
      Terminal.note(
        inPart ? "of \(range) some may be imported, what follows is not" : "\(range) and what follows are not imported")
    } else {
      Terminal.note(reached > 0 ? "what follows is not" : "nothing is imported")
    }
    Terminal.note("repeating the whole import is safe")
  }

  /// How many lines the answer tells of.
  private mutating func read(_ answer: [UInt8], _ lines: [Line]) -> Int {
    var answered = 0
    for text in answer.split(separator: UInt8(ascii: "\n")) {
      guard let result = try? JSON.parse(Array(text)), case .integer(let place)? = result["line"],
        lines.indices.contains(Int(place) - 1)
      else { continue }
      answered += 1
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
    return answered
  }

  private func show(json: Bool) {
    let done = counts.values.reduce(0, +)
    if json {
      var writer = JSONWriter()
      writer.beginObject()
      writer.member("complete", isComplete)
      writer.member("lines", reached)
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
