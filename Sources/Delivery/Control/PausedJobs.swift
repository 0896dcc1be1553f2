import Domain
import Store

/// One partition's jobs of paused messages. They stay in their streams and are claimed again when their message goes
/// on, but not before all that was at work of them has ended and is written down: nobody gets it twice.
struct PausedJobs {
  private var messages: [JobID: MessageID] = [:]
  /// True: nothing of it is at work or unwritten.
  private var jobs: [MessageID: [JobID: Bool]] = [:]

  var isEmpty: Bool { jobs.isEmpty }
  /// Those whose jobs are here.
  var paused: [MessageID] { Array(jobs.keys) }

  /// `settled`: nothing of it has come into memory.
  mutating func put(_ job: JobID, of message: MessageID, settled: Bool) {
    guard messages[job] == nil else { return }
    messages[job] = message
    jobs[message, default: [:]][job] = settled
  }

  /// Some of it is at work or unwritten.
  func isUnsettled(_ job: JobID) -> Bool { messages[job].map { jobs[$0]?[job] == false } ?? false }

  /// The last of its deliveries is written down; nil: it is none of these.
  mutating func settle(_ job: JobID) -> MessageID? {
    guard let message = messages[job] else { return nil }
    jobs[message]?[job] = true
    return message
  }

  /// The message goes on: its jobs that can be claimed again. The others follow when they are settled.
  mutating func take(of message: MessageID) -> [JobID] {
    guard let all = jobs[message] else { return [] }
    let settled = all.filter(\.value).map(\.key)
    for job in settled {
      messages[job] = nil
      jobs[message]![job] = nil
    }
    if jobs[message]!.isEmpty { jobs[message] = nil }
    return settled
  }
}
