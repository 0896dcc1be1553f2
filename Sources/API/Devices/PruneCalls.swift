import Domain
import HTTPServer
import JSON
import Store
import Telemetry

/// What prune brakes have put aside, and prunes to be taken back: an operator's decisions.
struct PruneCalls {
  let store: Store
  let configuration: AdoptedConfiguration
  let log: Log

  /// Held devices that a review shows.
  private static let sample = 10

  /// `GET /v1/prunes`: every credential of the app, or the one that is named.
  func reviewPrunes(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let credentials =
      try await call.request.query("credential") == nil ? ownCredentials(call) : [credential(of: call)]
    var reviews: [PruneReview] = []
    let owners: Owners
    do throws(StoreError) {
      owners = try await store.workers.owners()
      for credential in credentials {
        reviews.append(try await store.pruneBrakes.review(of: credential, app: call.app, sample: Self.sample))
      }
    } catch {
      throw Problem(error)
    }
    return Answer.json { writer in
      writer.key("items")
      writer.beginArray()
      for review in reviews { review.write(to: &writer, waiting: owners.waitingPrunes(of: review.credential)) }
      writer.endArray()
    }
  }

  /// `POST /v1/prunes/apply`: they were right. What was put aside is pruned where the token is still the same.
  func applyPrunes(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let credential = try await credential(of: call)
    do throws(StoreError) {
      let result = try await store.pruneBrakes.applyHeld(of: credential, app: call.app)
      log(.warning, "prunes_applied", ["credential": credential.rawValue, "pruned": String(result.pruned)])
      return Answer.json { writer in
        writer.member("credential", credential.rawValue)
        writer.member("pruned", result.pruned)
        writer.member("kept", result.kept)
        writer.member("brake_released", result.wasOn)
      }
    } catch {
      throw Problem(error)
    }
  }

  /// `POST /v1/prunes/discard`: they were wrong. Nobody is pruned.
  func discardPrunes(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let credential = try await credential(of: call)
    do throws(StoreError) {
      let result = try await store.pruneBrakes.discardHeld(of: credential)
      log(.warning, "prunes_discarded", ["credential": credential.rawValue, "discarded": String(result.discarded)])
      return Answer.json { writer in
        writer.member("credential", credential.rawValue)
        writer.member("discarded", result.discarded)
        writer.member("brake_released", result.wasOn)
      }
    } catch {
      throw Problem(error)
    }
  }

  /// `POST /v1/prunes/undo`: those carried out were wrong.
  func undoPrunes(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    var filter = RevivalFilter()
    filter.message = call.request.query("message").flatMap { MessageID($0) }
    if call.request.query("credential") != nil { filter.credential = try await credential(of: call) }
    filter.from = call.time("from")
    filter.to = call.time("to")
    guard filter != RevivalFilter() else {
      throw Problem(
        .invalidParameter, "Say which prunes to undo: `message`, `credential`, `from` or `to`, alone or together")
    }
    do throws(StoreError) {
      let result = try await store.prunes.undo(filter, app: call.app)
      log(.warning, "prunes_undone", ["app": call.app.rawValue, "revived": String(result.revived)])
      return Answer.json { writer in
        writer.member("revived", result.revived)
        writer.member("kept", result.kept)
      }
    } catch {
      throw Problem(error)
    }
  }

  /// Of the app, by their whole names.
  private func ownCredentials(_ call: Call) -> [CredentialID] {
    configuration.accounts.keys.filter { $0.rawValue.hasPrefix("\(call.app.rawValue)/") }.sorted {
      $0.rawValue < $1.rawValue
    }
  }

  /// Named with or without its app. One that has left the configuration may still have prunes put aside.
  private func credential(of call: Call) async throws(Problem) -> CredentialID {
    guard let name = call.request.query("credential"), !name.isEmpty else {
      let known = ownCredentials(call).map(\.rawValue).joined(separator: ", ")
      throw Problem(.invalidParameter, "Name the credential: `?credential=…`, one of \(known)")
    }
    let own = "\(call.app.rawValue)/"
    let id = CredentialID(rawValue: name.hasPrefix(own) ? name : own + name)
    if configuration.accounts[id] != nil { return id }
    do throws(StoreError) {
      if try await store.pruneBrakes.held(of: [id])[id] ?? 0 > 0 { return id }
    } catch {
      throw Problem(error)
    }
    let known = ownCredentials(call).map(\.rawValue).joined(separator: ", ")
    throw Problem(.invalidParameter, "The app has no credential `\(name)`; it has \(known)")
  }
}

extension PruneReview {
  /// `waiting`: by reason, those that wait in the workers' memory.
  func write(to writer: inout JSONWriter, waiting: [String: Int]) {
    writer.beginObject()
    writer.member("credential", credential.rawValue)
    writer.member("held", held)
    // What is carried out bears these times: an undo asks for them.
    writer.member("earliest_dead_at", earliest?.rfc3339)
    writer.member("waiting_count", waiting.values.reduce(0, +))
    if unreadable > 0 { writer.member("unreadable", unreadable) }
    writer.member("normal_share", JSONValue.double(norm.seen > 0 ? norm.dead / norm.seen : 0))
    // What the share stands on: older answers count less and less.
    writer.member("seen", Int(min(norm.seen, 1e15).rounded()))
    writer.member("dead", Int(min(norm.dead, 1e15).rounded()))
    if let brake {
      writer.key("brake")
      writer.beginObject()
      writer.member("began_at", brake.since.rfc3339)
      writer.member("seen", brake.seen)
      writer.member("dead", brake.dead)
      writer.member("share", JSONValue.double(brake.share))
      writer.member("normal_share", JSONValue.double(brake.norm))
      writer.member("normal_share_limit", JSONValue.double(brake.normal))
      writer.endObject()
    }
    for (name, counts) in [("reasons", reasons), ("waiting_reasons", waiting)] {
      writer.objects(name, counts.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) })) { writer, item in
        let (reason, count) = item
        writer.member("reason", reason)
        writer.member("count", count)
      }
    }
    writer.objects("samples", sample) { writer, prune in
      writer.member("device", prune.device.rawValue)
      writer.member("reason", prune.reason)
      writer.member("dead_at", prune.at.rfc3339)
      writer.member("unregistered_at", prune.since?.rfc3339)
      writer.member("message", prune.message?.description)
    }
    writer.endObject()
  }
}
