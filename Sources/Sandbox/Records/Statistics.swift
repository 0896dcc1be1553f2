package import JSON

/// What came in and what went out, by provider.
package struct Statistics: Sendable {
  /// What an answer is counted by; `reason` is the vendor's word, empty for a plain success.
  package struct Answer: Hashable, Sendable {
    package var status: Int
    package var reason: String
  }
  /// Of one provider since the start or the last reset, which keeps only `connectionsOpen`.
  package struct Counts: Sendable {
    package var requests = 0
    /// Requests taken for delivery; OneSignal's count once, whatever their members.
    package var accepted = 0
    package var duplicates = 0
    package var connectionsOpened = 0
    package var connectionsOpen = 0
    /// Most requests of one connection at work at once, counted to the end of the loop's turn that answered them.
    package var streamsMaximum = 0
    package var answers: [Answer: Int] = [:]
    package var withheld = 0
    /// Faults really played.
    package var faults: [FaultKind: Int] = [:]
    fileprivate var plain200 = 0

    mutating func answered(_ status: Int, _ reason: String) {
      if status == 200, reason.isEmpty {
        plain200 += 1
      } else {
        answers[Answer(status: status, reason: reason), default: 0] += 1
      }
    }
    /// Answers by status and vendor's word.
    package var allAnswers: [Answer: Int] {
      plain200 == 0 ? answers : answers.merging([Answer(status: 200, reason: ""): plain200]) { $0 + $1 }
    }
  }
  private var counts = [Counts](repeating: Counts(), count: SandboxProvider.allCases.count)

  /// All zeros for a provider that nobody has asked.
  package subscript(provider: SandboxProvider) -> Counts {
    get { counts[provider.rawValue] }
    _modify { yield &counts[provider.rawValue] }
  }

  /// Of all providers together.
  package func faults(_ kind: FaultKind) -> Int { counts.reduce(0) { $0 + $1.faults[kind, default: 0] } }

  /// Writes one member for each provider: call it inside an object.
  package func write(to writer: inout JSONWriter) {
    for provider in SandboxProvider.allCases {
      let counts = self[provider]
      writer.key(provider.word)
      writer.beginObject()
      writer.member("requests", counts.requests)
      writer.member("accepted", counts.accepted)
      writer.member("duplicates", counts.duplicates)
      writer.member("connections_opened", counts.connectionsOpened)
      writer.member("connections_open", counts.connectionsOpen)
      writer.member("streams_max", counts.streamsMaximum)
      writer.member("withheld", counts.withheld)
      writer.key("answers")
      writer.beginArray()
      for (answer, count) in counts.allAnswers.sorted(by: {
        ($0.key.status, $0.key.reason) < ($1.key.status, $1.key.reason)
      }) {
        writer.beginObject()
        writer.member("status", answer.status)
        if !answer.reason.isEmpty { writer.member("reason", answer.reason) }
        writer.member("count", count)
        writer.endObject()
      }
      writer.endArray()
      writer.key("faults")
      writer.beginObject()
      for kind in FaultKind.allCases {
        if let count = counts.faults[kind] { writer.member(kind.rawValue, count) }
      }
      writer.endObject()
      writer.endObject()
    }
  }
}
