import Domain
import HTTPServer
import JSON
import Store

/// Messages and what became of them, as they are read.
struct MessageCalls {
  let store: Store

  func readMessage(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let report = try await store.reports.found(try call.messageID(), call)
    return Answer.bytes("application/json", report.encoded)
  }
}

extension MessageReports {
  /// Of a message that the app has.
  func found(_ id: MessageID, _ call: Call) async throws(Problem) -> MessageReport {
    let found: MessageReport?
    do throws(StoreError) {
      found = try await report(id, app: call.app)
    } catch {
      throw Problem(error)
    }
    guard let report = found else { throw Problem.noMessage }
    return report
  }
}

extension MessageReport {
  var encoded: [UInt8] {
    var writer = JSONWriter()
    write(to: &writer)
    return writer.bytes
  }

  /// Nil: it was not scheduled.
  var zoneOfStart: String? {
    startsAt == nil ? nil : startsAtZone ?? ZoneName.ofStart(isLocal: startsAtLocal != nil)
  }

  /// Taken by a provider.
  private var sent: Int { counts.filter { $0.key.outcome == .accepted }.values.reduce(0, +) }

  /// Counters by outcome, and in detail; whatever is not final is still to come. `more`: writes further members behind.
  func write(to writer: inout JSONWriter, with more: (inout JSONWriter) -> Void = { _ in }) {
    writer.beginObject()
    writer.member("id", id.description)
    writer.member("name", labels.name)
    writer.member("topic", labels.topic)
    writer.member("audience", labels.audience)
    writer.member("audience_expression", labels.expression)
    writer.member("kind", kind.rawValue)
    writer.member("state", state.rawValue)
    writer.member("accepted_at", acceptedAt.rfc3339)
    writer.member("starts_at", startsAt?.rfc3339)
    writer.member("starts_at_local", startsAtLocal?.text)
    writer.member("starts_at_zone", zoneOfStart)
    writer.member("version", version)
    writer.member("completed_at", completedAt?.rfc3339)
    writer.member("duration_ms", completedAt.map { max(0, $0 - acceptedAt) })
    if !labels.members.isEmpty { writer.member("labels", JSONValue.object(labels.members)) }
    writer.member("replay_of", replayOf?.description)
    if !replayedBy.isEmpty {
      writer.member("replayed_by", JSONValue.array(replayedBy.map { .string($0.description) }))
    }
    writer.member("draft_of", draftOf?.description)
    writer.member("test_of", testOf?.description)
    writer.member("targets", total)
    if total == 0, state != .scheduled { writer.member("no_recipients", true) }
    let final = counts.values.reduce(0, +)
    writer.key("progress")
    writer.beginObject()
    writer.member("final", final)
    writer.member("retrying", retrying)
    let held = blocked.values.reduce(0, +)
    writer.member("pending", max(0, total - final - retrying - held))
    writer.member("blocked", held)
    writer.endObject()
    if held > 0 {
      writer.objects("blocked_by", blocked.sorted(by: { $0.key < $1.key })) { writer, item in
        let (reason, count) = item
        writer.member("reason", reason)
        writer.member("count", count)
      }
    }
    if !waits.isEmpty {
      writer.objects("waiting_for", waits) { writer, wait in
        writer.member("credential", wait.credential.rawValue)
        wait.condition.write(to: &writer)
        writer.member("count", wait.count + wait.retrying)
      }
    }
    delay?.tell(as: "waiting_for_time", to: &writer)
    if state == .cancelled {
      writer.member("sent", sent)
      writer.member("not_sent", total - sent)
    }
    writer.member("paused_at", pausedAt?.rfc3339)
    writer.member("paused_reason", pausedReason)
    writer.member("first_attempt_at", firstAttemptAt?.rfc3339)
    writer.member("last_outcome_at", lastOutcomeAt?.rfc3339)
    writer.member("pace_per_second", ratePerSecond)
    if let pace = Pace(self) {
      writer.member("outcomes_per_second", JSONValue.double(pace.perSecond))
      writer.member("predicted_end_at", pace.end?.rfc3339)
    }
    writer.key("outcomes")
    writer.beginObject()
    for outcome in Outcome.allCases {
      writer.member(outcome.rawValue, counts.filter { $0.key.outcome == outcome }.values.reduce(0, +))
    }
    writer.endObject()
    writer.objects("counts", counts.sorted(by: { $0.key.order.lexicographicallyPrecedes($1.key.order) })) {
      writer, item in
      let (key, count) = item
      writer.member("provider", key.provider.rawValue)
      writer.member("platform", key.platform)
      writer.member("variant", key.variant)
      writer.member("outcome", key.outcome.rawValue)
      writer.member("reason", key.reason)
      writer.member("count", count)
    }
    if let split { writeShares(split.shares, to: &writer) }
    more(&writer)
    writer.endObject()
  }

  /// How its devices were shared out, and what became of each share.
  private func writeShares(_ shares: VariantShares, to writer: inout JSONWriter) {
    writer.objects("variants", zip(shares.names, shares.weights)) { writer, item in
      let (name, weight) = item
      writer.member("name", name)
      writer.member("weight", .percent(weight))
      let own = counts.filter { $0.key.variant == name }
      writer.member("final", own.values.reduce(0, +))
      writer.key("outcomes")
      writer.beginObject()
      for outcome in Outcome.allCases {
        writer.member(outcome.rawValue, own.filter { $0.key.outcome == outcome }.values.reduce(0, +))
      }
      writer.endObject()
    }
    writer.member("holdout", .percent(shares.holdout))
  }
}

extension JSONValue {
  /// Of hundredths of a percent; whole where it is.
  static func percent(_ hundredths: Int) -> JSONValue {
    hundredths.isMultiple(of: 100) ? .integer(Int64(hundredths / 100)) : .double(Double(hundredths) / 100)
  }
}

extension Delay {
  func tell(as name: String, to writer: inout JSONWriter) {
    writer.key(name)
    writer.beginObject()
    writer.member("reason", reason)
    writer.member("count", count)
    writer.member("first_at", first?.rfc3339)
    writer.member("last_at", last?.rfc3339)
    writer.endObject()
  }
}

extension MessageReport.Key {
  fileprivate var order: [String] {
    [provider.rawValue, platform ?? "", variant ?? "", outcome.rawValue, reason ?? ""]
  }
}

extension CredentialCondition {
  /// Its members, without braces.
  func write(to writer: inout JSONWriter) {
    writer.member("state", state.rawValue)
    writer.member("reason", reason)
    writer.member("began_at", since.rfc3339)
    writer.member("next_try_at", nextTry?.rfc3339)
    writer.member("not_before_at", until?.rfc3339)
  }
}
