import CommandFrame
import Domain
import GatewayClient
import JSON

/// The call that sends: its message is told, or waited for.
struct SendCall: Sendable {
  let path: String
  let body: [UInt8]
  let headers: [Header]
  /// Seconds of `--wait`; nil: nobody waits.
  let wait: Int?
  /// Said of an answer that an earlier call has made.
  let repeated: @Sendable (JSONValue) -> Void

  /// `--wait` of a dry run would wait for nothing.
  static func checkDryRun(_ wait: Int?) throws(UsageProblem) {
    guard wait != nil else { return }
    throw UsageProblem(text: "--dry-run and --wait exclude each other: a dry run sends nothing")
  }

  func run(_ arguments: Arguments) throws -> ExitCode {
    let json = arguments.wantsJSON
    return try ServerCall.run(arguments) { client, loop in
      let answer = try await client.call("POST", path, body, headers: headers)
      guard answer.isSuccess, let accepted = answer.document, let id = accepted["id"]?.string else {
        return ServerCall.refused(answer, json: json, words: CommandWords.timed(by: arguments))
      }
      if answer.isRepeated { repeated(accepted) }
      guard let wait else {
        json ? Terminal.print(json: answer.body) : AcceptedAnswer.show(accepted)
        return .success
      }
      // Whoever waits is to know at once what was changed of the message.
      if !json { AcceptedAnswer.warn(accepted) }
      return await MessageEnd(wait, loop, json: json).wait(for: id, accepted["warnings"], client)
    }
  }
}
