import Domain
import HTTPServer
import Intake
import Store

/// Sends one message. Belongs to the loop.
final class SendCalls {
  private let preparation: MessagePreparation
  private let keys: IdempotencyKeys
  private let acceptor: MessageAcceptor
  private let dryRuns: DryRuns

  init(preparation: MessagePreparation, keys: IdempotencyKeys, acceptor: MessageAcceptor, dryRuns: DryRuns) {
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
      return call.accepted(try await acceptor.became(earlier, of: nil, call.app))
    }
    let (document, reading) = try await reading(of: call)
    let body = call.request.body
    // Requests with an idempotency key look first: the key of one that is not stored would stay reserved.
    var prepared = try await preparation.prepare(
      reading, document, body: body, call, owners: isDryRun || idempotency != nil ? .lookedUp : .askedByStore,
      for: isDryRun ? .answer : .warning)
    if isDryRun { return try await dryRuns.answer(prepared, call) }
    if prepared.submission.asksOwner {
      if let accepted = try await acceptor.acceptUnregistered(prepared, call) { return call.accepted(accepted) }
      prepared = try await preparation.prepare(reading, document, body: body, call, owners: .lookedUp)
    }
    prepared.submission.idempotency = idempotency
    return call.accepted(try await acceptor.accept(prepared, call))
  }

  func reading(of call: Call) async throws(Problem) -> (JSONValue, MessageReading) {
    let document = try call.document()
    return (document, try await preparation.readWhole(document, of: call.request.body.count, call))
  }
}
