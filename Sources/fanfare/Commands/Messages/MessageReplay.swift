import CommandFrame
import Domain
import GatewayClient
import Intake
import JSON
import Loop

/// `fanfare messages replay`: sends deliveries again that did not arrive.
enum MessageReplay {
  /// `path`: of the message.
  static func run(_ path: String, _ arguments: Arguments) throws -> ExitCode {
    var members: [JSONMember] = []
    members.set("outcomes", strings: arguments.texts("--outcome"))
    members.set("reasons", strings: arguments.texts("--reason"))
    let key = arguments.text("--idempotency-key")
    let seconds = try MessageEnd.seconds(arguments)
    let json = arguments.wantsJSON
    let selection = members
    return try ServerCall.run(arguments) { client, loop in
      let answer = try await ask(path, arguments, client)
      guard answer == .success else { return answer }
      var after: String?
      var accepted: [(id: String, warnings: JSONValue?)] = []
      for part in 1... {
        var members = selection
        members.set("after", after)
        // Each part is a message, and so a request, of its own.
        let own = key.map { [Header("idempotency-key", part == 1 ? $0 : "\($0):\(part)")] } ?? []
        let answer = try await client.call("POST", path + "/replay", JSONValue.object(members).encoded, headers: own)
        guard answer.isSuccess, let replay = answer.document, let id = replay["id"]?.string else {
          return ServerCall.refused(answer, json: json)
        }
        if seconds == nil { json ? Terminal.print(json: answer.body) : Terminal.print(id) }
        if answer.isRepeated { AcceptedAnswer.tellRepeat(replay) }
        if !json {
          if !answer.isRepeated { Terminal.note("\(counted(replay["targets"]?.integer ?? 0, "delivery")) to go again") }
          AcceptedAnswer.warn(replay)
        }
        accepted.append((id, replay["warnings"]))
        after = replay["next_after"]?.string
        if after == nil { break }
      }
      guard let seconds else { return .success }
      let end = MessageEnd(seconds, loop, json: json)
      var worst = ExitCode.success
      for (id, warnings) in accepted {
        let code = await end.wait(for: id, warnings, client)
        if code != .success { worst = code }
      }
      return worst
    }
  }

  /// On a terminal shows what goes again, and asks: it goes at once, also of a message that was planned for later.
  private static func ask(_ path: String, _ arguments: Arguments, _ client: Client) async throws -> ExitCode {
    guard Question.isAsked(arguments) else { return .success }
    let answer = try await client.call("GET", path)
    if answer.isSuccess, let report = answer.document {
      Terminal.note(MessagesCommand.named(report))
      Terminal.note(forecast(of: report, outcomes: arguments.texts("--outcome"), reasons: arguments.texts("--reason")))
    } else if answer.status != 403 {
      // A key that may send need not be allowed to read.
      return ServerCall.refused(answer, json: false)
    }
    guard !Question.yes("Send again, at once?", isUsual: false) else { return .success }
    Terminal.note("nothing was sent")
    return .failure
  }

  /// How many deliveries the selection names, by outcome. None named: the usual outcomes, all reasons.
  static func forecast(of report: JSONValue, outcomes: [String], reasons: [String]) -> String {
    let named = outcomes.isEmpty ? ReplaySelection.defaultOutcomes.map(\.rawValue) : outcomes
    var counts: [String: Int] = [:]
    for line in MessageCounts(report).lines where named.contains(line.outcome) {
      if reasons.isEmpty || reasons.contains(line.reason ?? "") { counts[line.outcome, default: 0] += line.count }
    }
    let parts = counts.sorted { $0.key < $1.key }.map { "\(grouped($0.value)) \($0.key)" }
    let isReplayed = !(report["replayed_by"]?.array ?? []).isEmpty
    return "\(counted(counts.values.reduce(0, +), "delivery")) to go again at once"
      + (parts.isEmpty ? "" : ": \(parts.joined(separator: ", "))")
      + (isReplayed ? "; without the devices that an earlier replay has reached, or still sends to" : "")
  }
}
