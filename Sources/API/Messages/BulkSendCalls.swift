import Domain
import HTTPServer
import Intake
import JSON
import Loop
import Store
import TLS

/// Sends many messages. Belongs to the loop.
final class BulkSendCalls {
  /// Lines whose tokens are looked up together.
  private static let linesAtOnce = 128
  private static let storedAtOnce = 1_024
  /// Of those that ask the store for something of their own.
  private static let linesAbreast = 64
  private static let storedAbreast = 256

  private let loop: EventLoop
  private let store: Store
  private let preparation: MessagePreparation
  private let check: MessageCheck
  private let keys: IdempotencyKeys
  private let acceptor: MessageAcceptor
  private let counts: ServiceCounts
  private let bodies: LargeBodies
  private let bound: Lines.Bound

  init(
    loop: EventLoop, store: Store, settings: ServiceSettings, preparation: MessagePreparation, check: MessageCheck,
    keys: IdempotencyKeys, acceptor: MessageAcceptor, counts: ServiceCounts, bodies: LargeBodies
  ) {
    self.loop = loop
    self.store = store
    self.preparation = preparation
    self.check = check
    self.keys = keys
    self.acceptor = acceptor
    self.counts = counts
    self.bodies = bodies
    bound = settings.lineOfMessages
  }

  /// `POST /v1/messages/bulk`: each line is a message as `POST /v1/messages` takes it, with its `idempotency_key` if it
  /// is to have one. Lines are read and stored together; those that aim at one device are stored in their order.
  func sendMessages(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let lines = try await Lines(of: call, bound, loop).all
    let work = BulkWork(count: lines.count, call.suggestions)
    for start in stride(from: 0, to: lines.count, by: Self.linesAtOnce) {
      await read(lines, start..<min(lines.count, start + Self.linesAtOnce), call, into: work)
    }
    await loop.giveWay()
    let waves = work.waves()
    await loop.giveWay()
    for wave in waves {
      for start in stride(from: 0, to: wave.count, by: Self.storedAtOnce) {
        await store(wave[start..<min(wave.count, start + Self.storedAtOnce)], call, work)
      }
    }
    return await Lines.answer(
      zip(lines, work.results).map { line, result in
        (
          line.number,
          (result ?? .failure(Problem(.internalError, "The line was not processed"))).map { message in
            { writer in
              message.write(to: &writer)
              if message.isRepeated { writer.member("replayed", true) }
            }
          }
        )
      }, loop)
  }

  // MARK: Reading

  private struct ReadLine {
    var index: Int
    var document: JSONValue
    var body: [UInt8]
    var idempotency: (key: String, digest: [UInt8])?
    /// Of its key.
    var keyFault: Violation?
  }
  private struct ReadMessage {
    var line: ReadLine
    var reading: MessageReading
    /// Of a message to tokens: where theirs begin among all that were looked up.
    var firstOwner: Int?
  }

  /// The tokens of all these lines are looked up together.
  private func read(_ lines: [Lines.Line], _ range: Range<Int>, _ call: Call, into work: BulkWork) async {
    var parsed: [ReadLine] = []
    for index in range {
      await loop.giveWay()
      do throws(Problem) { parsed.append(try await parse(lines[index], index)) } catch { work.fail(index, error) }
    }
    if parsed.contains(where: { $0.idempotency != nil }) { await settleRepeated(&parsed, call, work) }
    var messages: [ReadMessage] = []
    messages.reserveCapacity(parsed.count)
    var refused: [(line: ReadLine, refusal: Refusal)] = []
    var addresses: [Address] = []
    for line in parsed {
      await loop.giveWay()
      do throws(Refusal) {
        var message = ReadMessage(line: line, reading: try await read(line, call, work.faults))
        if case .tokens(let own) = message.reading.message.to {
          message.firstOwner = addresses.count
          addresses += own
        }
        messages.append(message)
      } catch {
        refused.append((line, error))
      }
    }
    let faulty = refused
    await loop.abreast(faulty.count, width: Self.linesAbreast) { place in
      let (line, refusal) = faulty[place]
      let whole = await self.check.withLaterFaults(refusal, line.document, call, work.faults)
      work.fail(line.index, Problem(whole, .invalidMessage))
    }
    var owners: [TokenOwner] = []
    do throws(StoreError) {
      if !addresses.isEmpty { owners = try await store.tokens.ownersAndIDs(of: addresses, app: call.app) }
    } catch {
      for message in messages { work.fail(message.line.index, Problem(error)) }
      return
    }
    let (all, found) = (messages, owners)
    await loop.abreast(all.count, width: Self.linesAbreast) { place in
      await self.loop.giveWay()
      let (line, reading) = (all[place].line, all[place].reading)
      var own = OwnerLookup.lookedUp
      if let first = all[place].firstOwner, case .tokens(let addresses) = reading.message.to {
        own = .known(Array(found[first..<first + addresses.count]))
      }
      do throws(Problem) {
        let prepared = try await self.preparation.prepare(reading, line.document, body: line.body, call, owners: own)
        prepared.submission.idempotency = line.idempotency
        work.drafts[line.index] = prepared
      } catch {
        work.fail(line.index, error.code == .invalidMessage ? error.told(within: work.faults) : error)
      }
    }
  }

  /// A fault of the key is one of the message.
  private func read(
    _ line: ReadLine, _ call: Call, _ faults: FaultBudget
  ) async throws(Refusal) -> MessageReading {
    let found = line.keyFault.map { faults.add([$0]) } ?? []
    let reading: MessageReading
    do throws(Refusal) {
      reading = try await preparation.reading(of: line.document, bytes: line.body.count, call, faults)
    } catch {
      var refusal = error
      refusal.violations = found + error.violations
      throw refusal
    }
    guard !found.isEmpty else { return reading }
    var refusal = Refusal(violations: found)
    refusal.partialMessage = reading.message
    throw refusal
  }

  private static let keyMember = "idempotency_key"

  private func parse(_ line: Lines.Line, _ index: Int) async throws(Problem) -> ReadLine {
    guard bodies.areLarge(line.bytes.count) else { return try Self.parsed(line, index) }
    return try await bodies.read(line.bytes.count) { Result { () throws(Problem) in try Self.parsed(line, index) } }
      .get()
  }

  private static func parsed(_ line: Lines.Line, _ index: Int) throws(Problem) -> ReadLine {
    var document = try line.document()
    var body = line.bytes
    var idempotency: (key: String, digest: [UInt8])?
    var fault: Violation?
    if case .object(var members) = document, let given = document[keyMember] {
      members.removeAll { $0.key == keyMember }
      document = .object(members)
      body = document.encoded
      if let key = given.string, IdempotencyKeys.isWellFormed(key) {
        idempotency = (key, Digest.sha256(body))
      } else {
        fault = Violation("/\(keyMember)", .invalidFormat, "must be a string of 1–255 printable ASCII characters")
      }
    }
    return ReadLine(index: index, document: document, body: body, idempotency: idempotency, keyFault: fault)
  }

  /// Lines that were accepted before are answered with the same message, whatever has changed since.
  private func settleRepeated(_ parsed: inout [ReadLine], _ call: Call, _ work: BulkWork) async {
    let all = parsed
    await loop.abreast(all.count, width: Self.linesAbreast) { place in
      guard let idempotency = all[place].idempotency else { return }
      do throws(Problem) {
        guard let earlier = try await self.keys.lookUp(idempotency, call.app) else { return }
        work.settle(all[place].index, .success(try await self.acceptor.became(earlier, of: nil, call.app)))
      } catch {
        work.fail(all[place].index, error)
      }
    }
    parsed.removeAll { work.results[$0.index] != nil }
  }

  // MARK: Storing

  /// Most are alike and share what they cost; each of the others goes as a request of its own would.
  private func store(_ wave: ArraySlice<Int>, _ call: Call, _ work: BulkWork) async {
    var drafts: [(index: Int, prepared: PreparedMessage)] = []
    drafts.reserveCapacity(wave.count)
    for index in wave {
      guard let prepared = work.drafts[index] else { continue }
      work.drafts[index] = nil
      do throws(Problem) {
        try await acceptor.charge(prepared, call)
      } catch {
        work.fail(index, error)
        continue
      }
      acceptor.chooseReplicas(prepared, call.app)
      drafts.append((index, prepared))
    }
    let stored = await store.acceptance.acceptInline(drafts.lazy.map(\.prepared.submission))
    var others: [(index: Int, prepared: PreparedMessage)] = []
    for ((index, prepared), result) in zip(drafts, stored) {
      switch result {
      case .success(let id):
        counts.accepted(prepared)
        work.settle(index, .success(AcceptedMessage(id, prepared)))
      case .failure(let error): work.fail(index, Problem(error))
      case nil: others.append((index, prepared))
      }
    }
    let rest = others
    await loop.abreast(rest.count, width: Self.storedAbreast) { place in
      do throws(Problem) {
        work.settle(rest[place].index, .success(try await self.acceptor.accept(rest[place].prepared, call)))
      } catch {
        work.fail(rest[place].index, error)
      }
    }
  }
}

/// The lines of one upload on their way. Belongs to the loop.
private final class BulkWork {
  let faults: FaultBudget
  var drafts: [PreparedMessage?]
  /// Nil until the line is answered for.
  private(set) var results: [Result<AcceptedMessage, Problem>?]

  init(count: Int, _ suggestions: SuggestionBudget) {
    faults = FaultBudget(eachDocument: RequestBounds.violationsOfLine, suggestions: suggestions)
    drafts = Array(repeating: nil, count: count)
    results = Array(repeating: nil, count: count)
  }

  func settle(_ index: Int, _ result: Result<AcceptedMessage, Problem>) { results[index] = result }
  func fail(_ index: Int, _ problem: Problem) { results[index] = .failure(problem) }

  /// Lines that may be stored at the same time. A line comes after every earlier one that shares a device or an
  /// idempotency key with it.
  func waves() -> [[Int]] {
    var waves: [[Int]] = []
    var last: [Shared: Int] = [:]
    for (index, prepared) in drafts.enumerated() {
      guard let prepared else { continue }
      let (targets, key) = (prepared.submission.targets, prepared.submission.idempotency?.key)
      var wave = 0
      for target in targets { if let before = last[.device(target.device)] { wave = max(wave, before + 1) } }
      if let key, let before = last[.key(key)] { wave = max(wave, before + 1) }
      for target in targets { last[.device(target.device)] = wave }
      if let key { last[.key(key)] = wave }
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
