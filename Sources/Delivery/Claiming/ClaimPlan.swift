import Domain
import Store

/// Which streams to claim from next, and how much (design D7): urgent before bulk, in turns over the partitions, never
/// more than a credential has room for. A stream sends a wakeup when it gets its first job; while
/// jobs of it are at work it is asked again. An audience's job is claimed in pieces: what lies behind it comes in turns
/// with it.
struct ClaimPlan {
  struct Claim: Hashable {
    var stream: StreamID
    var after: ClaimPlace?
    var jobs: Int
    /// Members of an audience.
    var targets: Int
    /// Go on with the audience's job of `after`, and with no other.
    var isContinuation: Bool { after?.member != nil }
  }

  /// What a claim brought.
  struct Catch {
    var jobs = 0
    /// Targets of direct sends, and how many jobs they came in.
    var direct = (targets: 0, jobs: 0)
    var last: ClaimPlace?
  }

  private struct Aside {
    /// Where it is claimed next.
    var place: ClaimPlace
    var most: Int?
    /// As soon as no claim is at work.
    var isBack = false
  }

  private struct Cursor {
    /// Claimed up to here, but for audiences in `pieces`.
    var after: JobID?
    /// There may be more behind `after`.
    var hasMore = false
    /// Audiences' jobs of which more members follow, in turns.
    var pieces: [ClaimPlace] = []
    /// Jobs of messages that are paused or paced: passed over until they are given back.
    var aside: [JobID: Aside] = [:]
    /// Members that the next claim of a job may bring.
    var most: [JobID: Int] = [:]
    /// The last claim went on with one of them.
    var continued = false
    /// Stands in a queue of those that may hold more.
    var hungry = false
    /// Targets expected from the claim at work; nil: none is.
    var expected: Int?
    /// A wakeup came while a claim was at work.
    var woken = false
    /// Jobs claimed and not finished.
    var outstanding = 0
    /// Expected of the next claim: as many as in the last one, or half of what was expected then if that is more, so
    /// that a stream of small jobs does not open the door to large ones.
    var targetsPerJob: Int

    /// More of an audience's job follows.
    mutating func goOn(_ place: ClaimPlace) {
      if place.member != nil, aside[place.job] == nil { pieces.append(place) }
    }
    /// What was set aside and may go on is outstanding again.
    mutating func takeResumed() {
      for (job, own) in aside where own.isBack {
        aside[job] = nil
        outstanding += 1
        most[job] = own.most
        pieces.append(own.place)
      }
    }
  }

  private var cursors: [StreamID: Cursor] = [:]
  private var urgent: [StreamID] = []
  private var bulk: [StreamID] = []
  /// Per credential: targets expected from the claims at work, and how many claims that are.
  private var expected: [CredentialID: (targets: Int, claims: Int)] = [:]
  private let jobsAtOnce: Int
  private let targetsPerJob: Int
  private let membersAtOnce: Int
  /// The part of a credential's room that bulk leaves to urgent.
  static let urgentShare = 10
  /// Claims of one credential at work at a time: what they bring is known only when they are back.
  static let claimsAtOnce = 4

  /// `targetsPerJob`: the most that a job of direct sends can hold; `membersAtOnce`: of an audience, the most to claim.
  init(jobsAtOnce: Int, targetsPerJob: Int, membersAtOnce: Int) {
    self.jobsAtOnce = jobsAtOnce
    self.targetsPerJob = targetsPerJob
    self.membersAtOnce = membersAtOnce
  }

  /// The stream holds jobs, or may.
  mutating func woken(_ stream: StreamID) {
    var cursor = cursors[stream] ?? Cursor(targetsPerJob: targetsPerJob)
    if cursor.expected != nil { cursor.woken = true } else { cursor.hasMore = true }
    cursors[stream] = cursor
    enqueue(stream)
  }

  private mutating func enqueue(_ stream: StreamID) {
    guard let cursor = cursors[stream], cursor.expected == nil, !cursor.hungry,
      cursor.hasMore || !cursor.pieces.isEmpty
    else { return }
    cursors[stream]!.hungry = true
    if stream.urgency == .urgent { urgent.append(stream) } else { bulk.append(stream) }
  }

  /// The claims to make now; `room`: deliveries that a credential still takes, without those of claims at work, and how
  /// many it takes in all.
  mutating func next(room: (CredentialID) -> (free: Int, whole: Int)) -> [Claim] {
    var claims: [Claim] = []
    urgent = take(urgent, into: &claims) { credential in room(credential).free }
    bulk = take(bulk, into: &claims) { credential in
      let (free, whole) = room(credential)
      return free - whole / Self.urgentShare
    }
    return claims
  }

  private mutating func take(
    _ streams: [StreamID], into claims: inout [Claim], room: (CredentialID) -> Int
  ) -> [StreamID] {
    var left: [StreamID] = []
    // Takes no more claims for now. Streams that wait are of one credential, almost always.
    var full: CredentialID?
    for stream in streams {
      guard stream.credential != full else {
        left.append(stream)
        continue
      }
      let coming = expected[stream.credential] ?? (0, 0)
      let free = coming.claims < Self.claimsAtOnce ? room(stream.credential) - coming.targets : 0
      guard free > 0 else {
        full = stream.credential
        left.append(stream)
        continue
      }
      guard var cursor = cursors[stream] else { continue }
      let claim = Self.claim(
        stream, &cursor, jobs: min(jobsAtOnce, max(1, free / cursor.targetsPerJob)), members: min(membersAtOnce, free))
      // Audiences are never urgent; of a stream both may come.
      let members = stream.urgency == .urgent ? 0 : claim.targets
      let most = claim.isContinuation ? members : max(members, claim.jobs * cursor.targetsPerJob)
      cursor.hungry = false
      cursor.expected = most
      expected[stream.credential] = (coming.targets + most, coming.claims + 1)
      cursors[stream] = cursor
      claims.append(claim)
    }
    return left
  }

  /// In turns: what is new, and what was begun.
  private static func claim(_ stream: StreamID, _ cursor: inout Cursor, jobs: Int, members: Int) -> Claim {
    if let piece = cursor.pieces.first, !cursor.hasMore || !cursor.continued {
      cursor.continued = true
      let most = min(members, cursor.most.removeValue(forKey: piece.job) ?? members)
      return Claim(stream: stream, after: piece, jobs: 1, targets: max(1, most))
    }
    cursor.continued = false
    cursor.hasMore = false
    return Claim(stream: stream, after: cursor.after.map { ClaimPlace(job: $0) }, jobs: jobs, targets: members)
  }

  /// A claim came back; the stream is asked again if it may hold more.
  mutating func claimed(_ claim: Claim, _ found: Catch) {
    guard var cursor = settle(claim.stream) else { return }
    if claim.isContinuation {
      cursor.pieces.removeAll { $0.job == claim.after?.job }
      if let last = found.last { cursor.goOn(last) }
      // Nothing of it was left to do.
      if found.jobs == 0, claim.after.map({ cursor.aside[$0.job] == nil }) ?? true { cursor.outstanding -= 1 }
    } else {
      cursor.outstanding += found.jobs
      if let last = found.last {
        cursor.after = last.job
        cursor.goOn(last)
      }
      let (targets, jobs) = found.direct
      if jobs > 0 { cursor.targetsPerJob = max(1, targets / jobs, cursor.targetsPerJob / 2) }
      // Nothing was looked at behind an audience's job that is not whole.
      cursor.hasMore = cursor.hasMore || found.jobs >= claim.jobs || found.last?.member != nil
    }
    cursor.hasMore = cursor.hasMore || cursor.woken
    cursor.woken = false
    cursor.takeResumed()
    cursors[claim.stream] = cursor
    enqueue(claim.stream)
    tidy(claim.stream)
  }

  /// The claim got no reply: nothing is known, it is made again.
  mutating func failed(_ claim: Claim) {
    guard var cursor = settle(claim.stream) else { return }
    cursor.hasMore = cursor.hasMore || cursor.woken || !claim.isContinuation
    cursor.woken = false
    cursor.takeResumed()
    cursors[claim.stream] = cursor
    enqueue(claim.stream)
  }

  private mutating func settle(_ stream: StreamID) -> Cursor? {
    guard var cursor = cursors[stream], let count = cursor.expected else { return nil }
    cursor.expected = nil
    arrived(count, stream.credential)
    return cursor
  }

  private mutating func arrived(_ count: Int, _ credential: CredentialID) {
    guard let coming = expected[credential] else { return }
    expected[credential] = coming.claims > 1 ? (coming.targets - count, coming.claims - 1) : nil
  }

  /// A flush removed this job. Jobs accepted meanwhile sent no wakeup, as the stream was not empty: it is asked again.
  mutating func finished(_ job: JobID) {
    guard cursors[job.stream] != nil else { return }
    cursors[job.stream]!.outstanding -= 1
    woken(job.stream)
  }

  // MARK: Paused messages

  /// A claimed job will not be worked on until `resume`: it stays in its stream, and holds up nothing behind it.
  mutating func pause(_ job: JobID) {
    pause(job, at: ClaimPlace(job: job, member: ClaimPlace.start))
  }

  /// The same, to go on behind what was claimed of it.
  mutating func postpone(_ job: JobID, at place: ClaimPlace) { pause(job, at: place) }

  private mutating func pause(_ job: JobID, at place: ClaimPlace) {
    guard cursors[job.stream] != nil else { return }
    if cursors[job.stream]!.aside.updateValue(Aside(place: place), forKey: job) == nil {
      cursors[job.stream]!.outstanding -= 1
    }
    cursors[job.stream]!.pieces.removeAll { $0.job == job }
  }
  /// What a claim brings of it is not to be worked on.
  func isAside(_ job: JobID) -> Bool { cursors[job.stream]?.aside[job] != nil }

  /// It is claimed again, at most so many members at first. Nothing behind its place may be at work or unwritten.
  mutating func resume(_ job: JobID, most: Int? = nil) {
    guard cursors[job.stream]?.aside[job] != nil else { return }
    cursors[job.stream]!.aside[job]!.most = most
    cursors[job.stream]!.aside[job]!.isBack = true
    guard cursors[job.stream]!.expected == nil else { return }
    cursors[job.stream]!.takeResumed()
    enqueue(job.stream)
  }

  /// Streams with jobs at work may have got more of them without a wakeup.
  mutating func poll() {
    for (stream, cursor) in cursors where cursor.outstanding > 0 { woken(stream) }
  }
  var hasOutstanding: Bool { cursors.values.contains { $0.outstanding > 0 } }

  private mutating func tidy(_ stream: StreamID) {
    guard let cursor = cursors[stream], cursor.outstanding <= 0, cursor.aside.isEmpty, !cursor.hungry,
      cursor.expected == nil
    else { return }
    cursors[stream] = nil
  }

  /// The partition is another's now: forget its streams, and claims of them at work.
  mutating func drop(partition: Int) {
    for (stream, cursor) in cursors where stream.partition == partition {
      if let count = cursor.expected { arrived(count, stream.credential) }
      cursors[stream] = nil
    }
    urgent.removeAll { $0.partition == partition }
    bulk.removeAll { $0.partition == partition }
  }
}
