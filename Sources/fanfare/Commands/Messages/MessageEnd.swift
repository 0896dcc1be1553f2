import CommandFrame
import Domain
import GatewayClient
import HTTPClient
import JSON
import Loop
import Processes

/// `--wait`: how the deliveries of a message that was just accepted ended.
struct MessageEnd {
  /// `words`: the words of a command that take it, such as `send: `.
  static func option(of words: String = "") -> Command.Option {
    Command.Option("--wait", "SECONDS", words + "wait until every delivery has ended, then print how")
  }

  /// Nil: nobody waits. From here on ctrl-C is heard by `wait`, which says how to go on, and by questions.
  static func seconds(_ arguments: Arguments) throws(UsageProblem) -> Int? {
    let seconds = try arguments.integer("--wait", in: 1...86_400)
    if seconds != nil { StopSignals.block() }
    return seconds
  }

  private let loop: EventLoop
  private let began: Instant
  private let deadline: Instant
  private let json: Bool

  /// The seconds run from now on, for all messages that are waited for.
  init(_ seconds: Int, _ loop: EventLoop, json: Bool) {
    self.loop = loop
    began = loop.now
    deadline = began + Int64(seconds) * 1_000
    self.json = json
  }

  /// Prints how the deliveries ended. Success only if there were any that could be reached, and all were accepted, or skipped as
  /// the message or its app asks for. `warnings`: of the answer that accepted the message. While the server is away it is
  /// asked again, until the time is over.
  func wait(for id: String, _ warnings: JSONValue?, _ client: Client) async -> ExitCode {
    let stopping = loop.spawn { [loop] in await MessageWatch.stopWhenAsked(id, loop) }
    defer { stopping.cancel() }
    var bar = ProgressBar(String(id.prefix(12)))
    var speed = MessageWatch.Speed()
    while true {
      let report: JSONValue
      switch await look(at: id, client) {
      case .report(let found): report = found
      case .away where loop.now <= deadline:
        await loop.sleep(milliseconds: 500)
        continue
      case .away(let reason), .refused(let reason):
        bar.clear()
        return unknown(id, warnings, reason)
      }
      let state = report["state"]?.string ?? ""
      let counts = MessageCounts(report)
      if state == "completed" || state == "cancelled" || loop.now > deadline {
        bar.clear()
        if json {
          var members = report.object ?? []
          members.set("warnings", warnings)
          Terminal.print(.object(members))
        } else {
          Terminal.print(
            "\(id) \(Style.of(state: state)?.on(state) ?? state)\(counts.total == 0 ? ": it had no recipients" : counts.text)"
          )
          if loop.now > deadline, state != "completed", state != "cancelled" {
            for wait in MessagesCommand.waits(report) { Terminal.note(wait) }
            Terminal.note("it has not ended yet: fanfare messages watch \(id)")
          }
        }
        return state == "completed" && counts.total > 0 && counts.isAsMeant && !counts.isNobodyReachable
          ? .success : .failure
      }
      if !json, loop.now - began >= 1_000 {
        let final = Int(report["progress"]?["final"]?.integer ?? 0)
        speed.saw(final, now: loop.now)
        bar.draw(final, of: counts.total, MessageWatch.text(report, counts, final: final, speed))
      }
      await loop.sleep(milliseconds: 100)
    }
  }

  private enum Look {
    case report(JSONValue)
    /// The server or its Redis cannot be reached now.
    case away(String)
    case refused(String)
  }

  private func look(at id: String, _ client: Client) async -> Look {
    do throws(HTTPClientFailure) {
      let answer = try await client.call("GET", "/v1/messages/\(id)")
      if answer.isSuccess, let report = answer.document { return .report(report) }
      return answer.status == 503 ? .away(answer.problem) : .refused(CommandWords.of(answer.problem))
    } catch {
      return .away(error.reason)
    }
  }

  /// The message is accepted, whatever the server says of its report: whoever sends it again sends it twice.
  private func unknown(_ id: String, _ warnings: JSONValue?, _ reason: String) -> ExitCode {
    guard json else {
      Terminal.print(id)
      Terminal.complain(
        "the message was accepted, and its report cannot be read: \(reason)",
        "do not send it again; follow it with fanfare messages watch \(id) and a key with scope read")
      return .failure
    }
    var members: [JSONMember] = [JSONMember("id", .string(id)), JSONMember("report_error", .string(reason))]
    members.set("warnings", warnings)
    Terminal.print(.object(members))
    return .failure
  }
}
