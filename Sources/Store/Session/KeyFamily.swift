/// What a key is for: the word behind the hash tag of its partition, up to the first colon. Every key of the store is
/// made from one of these; docs/storage.md tells of each who writes it, who reads it, and when it ends.
package enum KeyFamily: String, CaseIterable, Sendable {
  // Of the whole store: the layout under a tag of its own, the others in partition 0.
  case layout, workers, reports, conditions, norms, brakes
  case channels
  case secrets = "keys"
  case apiKeys = "key"
  case keyUses = "used"

  // Of a partition.
  case lease, ready, waiting, retry, finished, scheduled, spreading, starts, ends, controlled, watched, parked, corrupt,
    tallies
  case segments
  case takenTallies = "tallied"
  case activity = "act"
  case sequence = "seq"
  case inlineMessages = "one"
  case stream = "q"
  case keyed
  case held = "z"
  case buried = "t"
  case arrivals = "ar"
  case segment = "g"
  case kept = "k"
  case rate = "r"
  case limitBucket = "rl"
  case caps = "cap"
  case listing = "l"
  case hours = "h"
  case hourEnds = "he"

  // Of a message.
  case message = "m"
  case spread = "x"
  case stagedBody = "xb"
  case work = "w"
  case deliveries = "d"
  case slices = "s"
  case snapshot = "p"
  case codes = "y"
  case idempotency = "i"
  case tried = "tr"
  case replays = "rp"

  // Of an app.
  case audiences = "e"
  case testLists = "test"
  case drafts, draft
  case sentDraft = "sent"
  case waitingMessages = "wait"
  case auditTrail = "audit"
  case actsAtWork = "acting"
  case consoleSession = "console"
  case consoleEditions = "consoles"
  case consoleOpen = "opened"
  case consoleUpload = "upload"
  case consoleUploads = "uploads"

  // Of the registry.
  case index = "n"
  case record = "v"
  case lastNumber = "last"
  case freeNumbers = "f"
  case intents = "in"
  case alias = "a"
  case user = "u"
  case userEdition = "ue"
  case words = "o"
  case setBucket = "b"
  case set = "c"

  /// The family of a key of a store; nil: it is none of that store's.
  package init?(of key: String, prefix: String) {
    guard key.hasPrefix("\(prefix):{"), let end = key.firstIndex(of: "}") else { return nil }
    self.init(rawValue: String(key[end...].dropFirst(2).prefix { $0 != ":" }))
  }

  /// When a key of it ends.
  package enum End: Sendable {
    /// It has a time to live from the start.
    case expires
    /// What it is for ends, and whoever ends it takes it away, or gives it a time to live.
    case withWork
    /// It is bounded by what is configured or registered, and goes with that.
    case withRegistry
    /// One for each store or partition, of a bounded size.
    case fixed
  }

  package var end: End {
    switch self {
    case .keyed, .held, .activity, .segment, .kept, .rate, .limitBucket, .caps, .listing, .hours, .hourEnds,
      .idempotency,
      .sentDraft,
      .waitingMessages,
      .tried, .replays, .stagedBody, .auditTrail, .consoleSession, .consoleOpen, .consoleUpload, .consoleUploads:
      .expires
    case .layout, .workers, .reports, .lease, .sequence, .corrupt, .tallies, .takenTallies, .segments, .waiting:
      .fixed
    case .conditions, .norms, .brakes, .channels, .secrets, .apiKeys, .keyUses, .consoleEditions, .audiences,
      .testLists, .drafts, .draft,
      .index,
      .record, .lastNumber,
      .freeNumbers, .alias, .user, .userEdition, .words, .setBucket, .set, .buried:
      .withRegistry
    case .ready, .retry, .finished, .scheduled, .spreading, .starts, .ends, .controlled, .watched, .parked,
      .inlineMessages,
      .stream, .arrivals, .message, .spread, .work, .deliveries, .slices, .snapshot, .codes, .intents,
      .actsAtWork:
      .withWork
    }
  }
}
