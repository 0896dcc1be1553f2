import CommandFrame
import Domain
import GatewayClient
import JSON

/// What is to be known before a message goes to many, as it cannot be taken back.
enum SendQuestion {
  /// `mark`: the action that it is for, as its help begins.
  static func option(_ mark: String = "") -> Command.Option {
    Question.option(mark, ", and send it even if every local time has passed")
  }

  /// How it is asked, and what is said if it is not done.
  struct Words: Sendable {
    var method: String
    var question: String
    var nothingDone: String
    /// What a refusal says; nil: in the words of the command.
    var refusal: (@Sendable (String) -> String)?
    static let send = Words(method: "POST", question: "Send it?", nothingDone: "nothing was sent")
    static let reschedule = Words(
      method: "PATCH", question: "Change it to this time?", nothingDone: "nothing was changed",
      refusal: { CommandWords.ofMove($0) })
  }

  /// On a terminal shows what would be sent and asks. Elsewhere it refuses only a local time that every device's clock has
  /// passed, as that message would go to all of them at once. `path`: of the dry run. Success: do it.
  static func ask(
    _ path: String, _ arguments: Arguments, body: [UInt8] = [], headers: [Header] = [], words: Words = .send
  ) throws -> ExitCode {
    guard !arguments.has("--yes") else { return .success }
    let json = arguments.wantsJSON
    return try ServerCall.run(arguments) { client, _ in
      let answer = try await client.call(words.method, path, body, headers: headers)
      guard answer.isSuccess, let document = answer.document else {
        // A repeated send of a draft is answered as the first one was.
        guard answer.document?["code"]?.string != "draft_sent" else { return .success }
        return ServerCall.refused(answer, json: json, words: words.refusal ?? CommandWords.timed(by: arguments))
      }
      let forecast = document["forecast"]
      let passed = forecast?["clock_passed"]?.integer ?? 0
      if Question.canBeAsked, !json {
        ForecastView.tell(document)
        guard !Question.yes(words.question, isUsual: false) else { return .success }
        Terminal.note(words.nothingDone)
        return .failure
      }
      guard passed > 0, passed == forecast?["would_be_sent"]?.integer else { return .success }
      Terminal.complain(
        passed == 1
          ? "the clock of the only device has passed this local time: it would get it at once"
          : "the clocks of all \(counted(Int(passed), "device")) have passed this local time: they would get it at once",
        "\(words.nothingDone); give a later time, or --yes", code: "local_time_passed")
      return .refused
    }
  }
}
