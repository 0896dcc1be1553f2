import Domain
import HTTPServer
import Intake
import Loop
import Store

/// Sends one message. Belongs to the loop.
final class SendCalls {
  /// Bytes.
  private static let largeBody = 65_536

  private let loop: EventLoop
  private let preparation: MessagePreparation
  private let keys: IdempotencyKeys
  private let acceptor: MessageAcceptor
  private let dryRuns: DryRuns

  init(
    loop: EventLoop, preparation: MessagePreparation, keys: IdempotencyKeys, acceptor: MessageAcceptor, dryRuns: DryRuns
  ) {
    self.loop = loop
    self.preparation = preparation
    self.keys = keys
    self.acceptor = acceptor
    self.dryRuns = dryRuns
  }

  /// `POST /v1/messages`: from the body to a durable message, or to a refusal without any effect. `?dry_run=true`: to
  /// what would be sent, without any effect either.
  func sendMessage(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let isDryRun = call.flag("dry_run")
    let idempotency = try IdempotencyKeys.given(in: call.request)
    if !isDryRun, let idempotency, let earlier = try await keys.lookUp(idempotency, call.app) {
      let repeated = await preparation.prepare(again: earlier, try? call.document(), call)
      return Answer.accepted(try await acceptor.became(earlier, of: repeated, call.app))
    }
    let isLarge = call.request.body.count > Self.largeBody
    let (document, reading) = try await reading(of: call)
    let body = call.request.body
    // Requests with an idempotency key look first: the key of one that is not stored would stay reserved.
    var prepared = try await preparation.prepare(
      reading, document, body: body, call, owners: isDryRun || idempotency != nil ? .lookedUp : .askedByStore,
      for: isDryRun ? .answer : .warning)
    if isDryRun { return try await dryRuns.answer(prepared, call) }
    if prepared.submission.asksOwner {
      if let accepted = try await acceptor.acceptUnregistered(prepared, call) { return Answer.accepted(accepted) }
      prepared = try await preparation.prepare(reading, document, body: body, call, owners: .lookedUp)
    }
    prepared.submission.idempotency = idempotency
    if isLarge { await loop.giveWay() }
    return Answer.accepted(try await acceptor.accept(prepared, call))
  }

  /// Each step of a message to thousands takes the loop some milliseconds.
  func reading(of call: Call) async throws(Problem) -> (JSONValue, MessageReading) {
    let isLarge = call.request.body.count > Self.largeBody
    let document = try call.document()
    if isLarge { await loop.giveWay() }
    let reading = try await preparation.readWhole(document, call)
    if isLarge { await loop.giveWay() }
    return (document, reading)
  }
}
