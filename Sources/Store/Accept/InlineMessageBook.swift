import Domain

/// The inline messages of one partition that its owner has claimed: which entry of a stream each stands in, and which
/// of an entry still have something to do. Each is a job of its own to the worker.
final class InlineMessageBook {
  private final class Entry {
    let name: String
    let stream: StreamID
    /// Claimed and not finished.
    var left = 0
    init(_ name: String, _ stream: StreamID) {
      self.name = name
      self.stream = stream
    }
  }
  private var jobs: [JobID: (message: MessageID, entry: Entry)] = [:]
  private var inline: Set<MessageID> = []

  var isEmpty: Bool { jobs.isEmpty }

  /// Jobs of one entry. Those that are known stay with theirs.
  func enter(_ claimed: [(job: JobID, message: MessageID, isInline: Bool)], entry name: String) {
    guard let stream = claimed.first?.job.stream else { return }
    let entry = Entry(name, stream)
    for (job, message, isInline) in claimed {
      if jobs[job] == nil {
        entry.left += 1
        jobs[job] = (message, entry)
      }
      if isInline { inline.insert(message) } else { inline.remove(message) }
    }
  }

  func message(of job: JobID) -> MessageID? { jobs[job]?.message }
  /// It was an inline message when it was claimed, and has not been found unfolded since.
  func isInline(_ message: MessageID) -> Bool { inline.contains(message) }
  func unfolded(_ message: MessageID) { inline.remove(message) }

  /// Entries that have nothing left to do once these jobs are done.
  func emptied(by done: Set<JobID>) -> [StreamID: [String]] {
    var ended: [ObjectIdentifier: (entry: Entry, count: Int)] = [:]
    for job in done {
      guard let entry = jobs[job]?.entry else { continue }
      ended[ObjectIdentifier(entry), default: (entry, 0)].count += 1
    }
    var names: [StreamID: [String]] = [:]
    for (entry, count) in ended.values where count == entry.left { names[entry.stream, default: []].append(entry.name) }
    return names
  }

  func forget(_ done: Set<JobID>) {
    for job in done {
      guard let (message, entry) = jobs.removeValue(forKey: job) else { continue }
      inline.remove(message)
      entry.left -= 1
    }
  }
}
