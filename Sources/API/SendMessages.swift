import Domain
import HTTPServer
import Intake
import JSON
import Loop
import Store
import TLS

extension Service {
  /// Lines at work at a time: enough to keep the connection to Redis full.
  private static let linesAbreast = 256

  /// `POST /v1/messages/bulk`: each line is a message as `POST /v1/messages` takes it, with its `idempotency_key` if it is
  /// to have one. Lines are read and stored abreast; those that aim at one device are stored in their order.
  func sendMessages(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let lines = try Lines(of: call).all
    let work = BulkWork(count: lines.count)
    await loop.abreast(lines.count, width: Self.linesAbreast) { index in
      do throws(Problem) {
        work.set(try await self.read(lines[index], call), at: index)
      } catch {
        work.results[index] = .failure(error)
      }
    }
    for wave in work.waves() {
      await loop.abreast(wave.count, width: Self.linesAbreast) { place in
        let index = wave[place]
        guard let draft = work.drafts[index] else { return }
        work.drafts[index] = nil
        do throws(Problem) {
          work.results[index] = .success(try await self.accept(draft, call.app))
        } catch {
          work.results[index] = .failure(error)
        }
      }
    }
    return Lines.answer(
      zip(lines, work.results).map { line, result in
        (
          line.number,
          result.map { message in
            { writer in
              message.write(to: &writer)
              if message.isRepeated { writer.member("replayed", true) }
            }
          }
        )
      })
  }

  private static let keyMember = "idempotency_key"

  private func read(_ line: Lines.Line, _ call: Call) async throws(Problem) -> BulkWork.Reading {
    var document = try line.document()
    var body = line.bytes
    var idempotency: (key: String, digest: [UInt8])?
    if case .object(var members) = document, let given = members[Self.keyMember] {
      guard let key = given.string, Self.isIdempotencyKey(key) else {
        throw Problem(
          .invalidMessage, "`\(Self.keyMember)` must be a string of 1–255 printable ASCII characters",
          violations: [Violation("/\(Self.keyMember)", .invalidFormat, "must be 1–255 printable ASCII characters")])
      }
      members.removeAll { $0.key == Self.keyMember }
      document = .object(members)
      body = document.encoded
      let asked = (key, Digest.sha256(body))
      if let earlier = try await lookUp(asked, call.app) {
        return .settled(try await became(earlier, of: nil, call.app))
      }
      idempotency = asked
    }
    var draft = try await draft(document, body: body, call)
    draft.submission.idempotency = idempotency
    return .draft(draft)
  }
}

/// The lines of one upload on their way. Belongs to the loop.
private final class BulkWork {
  enum Reading {
    case draft(Draft)
    case settled(AcceptedMessage)
  }
  var drafts: [Draft?]
  var results: [Result<AcceptedMessage, Problem>]

  init(count: Int) {
    drafts = Array(repeating: nil, count: count)
    // Replaced for each line before it is answered.
    results = Array(repeating: .failure(Problem(.internalError, "The line was not carried out")), count: count)
  }

  func set(_ reading: Reading, at index: Int) {
    switch reading {
    case .draft(let draft): drafts[index] = draft
    case .settled(let message): results[index] = .success(message)
    }
  }

  /// Lines that may be stored at the same time. A line comes after every earlier one that shares a device or an
  /// idempotency key with it.
  func waves() -> [[Int]] {
    var waves: [[Int]] = []
    var last: [Shared: Int] = [:]
    for (index, draft) in drafts.enumerated() {
      guard let submission = draft?.submission else { continue }
      var shared = submission.targets.map { Shared.device($0.device) }
      if let key = submission.idempotency?.key { shared.append(.key(key)) }
      let wave = (shared.compactMap { last[$0] }.max() ?? -1) + 1
      for one in shared { last[one] = wave }
      if wave == waves.count { waves.append([]) }
      waves[wave].append(index)
    }
    return waves
  }

  private enum Shared: Hashable {
    case device(DeviceID)
    case key(String)
  }
}
