import Domain
import RedisClient

/// Every key name, made of its family (`KeyFamily`). All keys of a partition share its hash tag.
struct Keys {
  let prefix: String
  private let stems: [String]
  private let registryStems = RegistryStems()
  private let messageStems: [(message: String, work: String, deliveries: String)]
  /// By partition: names that each claim or flush needs.
  private let frequent: [Frequent]
  private struct Frequent {
    let lease, ready, waiting, inlineMessages, tallies, segments: String
  }
  let partitions: Int

  init(prefix: String, partitions: Int) {
    self.prefix = prefix
    self.partitions = partitions
    stems = ClusterHashTags.tags(partitions: partitions).map { "\(prefix):{\($0)}:" }
    messageStems = stems.map { stem in
      func begin(_ family: KeyFamily) -> String { "\(stem)\(family.rawValue):" }
      return (begin(.message), begin(.work), begin(.deliveries))
    }
    frequent = stems.map { stem in
      func whole(_ family: KeyFamily) -> String { stem + family.rawValue }
      return Frequent(
        lease: whole(.lease), ready: whole(.ready), waiting: whole(.waiting), inlineMessages: whole(.inlineMessages),
        tallies: whole(.tallies), segments: whole(.segments))
    }
  }

  private func whole(_ family: KeyFamily, _ partition: Int = 0) -> String { stems[partition] + family.rawValue }
  private func key(_ family: KeyFamily, _ partition: Int, _ name: String) -> String {
    "\(stems[partition])\(family.rawValue):\(name)"
  }

  func partition(_ parts: (String, String)) -> Int { Int(ClusterHashTags.hash(parts.0, parts.1) % UInt64(partitions)) }

  // Of the whole store.
  /// The same for every number of partitions, as it says which number the store has.
  var layout: String { "\(prefix):{layout}:\(KeyFamily.layout.rawValue)" }
  /// Where a store had its layout before version 11: in partition 0, whose tag depends on the number of partitions.
  var formerLayouts: [String] {
    ClusterHashTags.firstTags.map { "\(prefix):{\($0)}:\(KeyFamily.layout.rawValue)" }
  }

  // Of the whole store, kept in partition 0.
  /// Serials of workers by their last heartbeat.
  var workers: String { whole(.workers) }
  /// By serial what each tells of itself.
  var workerReports: String { whole(.reports) }
  var conditions: String { whole(.conditions) }
  /// By credential how many verdicts told whether a token lives, and how many said dead, older ones weighing less.
  var norms: String { whole(.norms) }
  /// By credential whose prunes are held: since when, and what has been seen since.
  var brakes: String { whole(.brakes) }
  /// By hash of a secret: whose it is.
  var secrets: String { whole(.secrets) }
  /// By id the keys of an app, and without a name how often they have changed.
  func apiKeys(_ app: AppID) -> String { key(.apiKeys, 0, app.rawValue) }
  /// By id of a key: seconds since 1970 when it was used last.
  func keyUses(_ app: AppID) -> String { key(.keyUses, 0, app.rawValue) }
  /// By broadcast channel the app that made it.
  var channels: String { whole(.channels) }
  /// The pub/sub channel of wakeups.
  var wakeup: String { "\(prefix):wakeup" }

  // Of a partition.
  /// o owner, u until, e epoch, f last flush, c its last chunk, p devices it pruned, v last script of the owner
  /// (`LeaseFence`), w the worker
  func lease(_ partition: Int) -> String { frequent[partition].lease }
  func sequence(_ partition: Int) -> String { whole(.sequence, partition) }
  /// Names of streams that hold jobs.
  func ready(_ partition: Int) -> String { frequent[partition].ready }
  /// Names of streams whose owner has claimed all and waits for a wakeup.
  func waiting(_ partition: Int) -> String { frequent[partition].waiting }
  func stream(_ partition: Int, _ name: String) -> String { key(.stream, partition, name) }
  /// Raw ids of messages of that hour that were stored under an idempotency key. Lives longer than any of their keys.
  func keyed(_ partition: Int, _ hour: Int64) -> String { key(.keyed, partition, String(hour)) }
  /// Messages of one delivery that wait for it, by raw id.
  func inlineMessages(_ partition: Int) -> String { frequent[partition].inlineMessages }
  /// Members: message and index; scores: due times.
  func retry(_ partition: Int) -> String { whole(.retry, partition) }
  /// Parts that are done and have not told home: by message a flag for failures and the counters.
  func finished(_ partition: Int) -> String { whole(.finished, partition) }
  /// Messages at home here that wait for their time.
  func scheduled(_ partition: Int) -> String { whole(.scheduled, partition) }
  func spreading(_ partition: Int) -> String { whole(.spreading, partition) }
  /// How many jobs, retries and parts could not be read.
  func corrupt(_ partition: Int) -> String { whole(.corrupt, partition) }
  /// Outcomes that became final and that no worker has taken yet, by provider and outcome …
  func tallies(_ partition: Int) -> String { frequent[partition].tallies }
  /// … and those that a worker was handed.
  func takenTallies(_ partition: Int) -> String { whole(.takenTallies, partition) }
  /// Outcomes that an app's deliveries had in one hour or minute, by provider and outcome.
  func activity(_ partition: Int, _ app: AppID, _ period: Activity.Period, _ number: Int64) -> String {
    key(.activity, partition, "\(app.rawValue):\(period.rawValue):\(number)")
  }
  /// Prunes put aside by the brake, by device.
  func held(_ partition: Int, _ credential: CredentialID) -> String { key(.held, partition, credential.rawValue) }
  /// Tombstones by their time: app and device, a zero between.
  func buried(_ partition: Int) -> String { whole(.buried, partition) }
  /// Devices that hold their token from the next step of their registration on, by when that began: app and device, a
  /// zero between.
  func arrivals(_ partition: Int) -> String { whole(.arrivals, partition) }
  /// Finished records by hour of acceptance.
  func segment(_ partition: Int, _ hour: Int64) -> String { key(.segment, partition, String(hour)) }
  /// Segments and their bytes.
  func segments(_ partition: Int) -> String { frequent[partition].segments }
  /// Raw ids of finished parts of that hour whose keys stayed where they are until they expire.
  func kept(_ partition: Int, _ hour: Int64) -> String { key(.kept, partition, String(hour)) }
  /// Audience parts that are still to be started, by their time; with an index behind the id, the job of it that begins
  /// there.
  func starts(_ partition: Int) -> String { whole(.starts, partition) }
  /// Messages of this home whose control some partition may not know yet.
  func controlled(_ partition: Int) -> String { whole(.controlled, partition) }
  /// Messages of this home that an error brake looks after, by when they came.
  func watched(_ partition: Int) -> String { whole(.watched, partition) }
  /// Messages with retries that a pause put out of turn, and how often.
  func parked(_ partition: Int) -> String { whole(.parked, partition) }
  /// A rate that is shared: when its next permission is due, and when its ramp began.
  func rate(_ partition: Int, _ name: String) -> String { key(.rate, partition, name) }
  /// When a token bucket of a key or an app is full again, in microseconds of Redis' clock.
  func limitBucket(_ partition: Int, _ name: String) -> String { key(.limitBucket, partition, name) }
  /// Audience parts at work, by when what is left of them ends: no first attempt begins after it.
  func ends(_ partition: Int) -> String { whole(.ends, partition) }
  /// Of a topic in a period: four bits for each device number.
  func caps(_ partition: Int, _ count: CapCount) -> String {
    key(
      .caps, partition, "\(count.app.rawValue):\(count.period.rawValue.prefix(1))\(count.number):\(count.topic)")
  }
  func listing(_ partition: Int, _ app: AppID, _ hour: Int64) -> String {
    key(.listing, partition, "\(app.rawValue):\(hour)")
  }
  /// Hours that have a listing, by themselves …
  func hours(_ partition: Int, _ app: AppID) -> String { key(.hours, partition, app.rawValue) }
  /// … and by when their listing ends: with it they leave both sets.
  func hourEnds(_ partition: Int, _ app: AppID) -> String { key(.hourEnds, partition, app.rawValue) }

  // Of a message.
  /// Of one that is accepted: message, work and deliveries at home. The text of an id costs more than all else here.
  func appendMessage(_ id: MessageID, to command: inout RedisCommand) {
    let stems = messageStems[home(id)]
    let text = id.description
    command.append(stems.message, text)
    command.append(stems.work, text)
    command.append(stems.deliveries, text)
  }
  func message(_ id: MessageID) -> String { key(.message, home(id), id.description) }
  func spread(_ id: MessageID) -> String { key(.spread, home(id), id.description) }
  /// The body of a message that is not stored yet.
  func stagedBody(_ id: MessageID) -> String { key(.stagedBody, home(id), id.description) }
  /// Of the message that is replayed.
  func replays(_ id: MessageID) -> String { key(.replays, home(id), id.description) }
  func work(_ partition: Int, _ id: MessageID) -> String { key(.work, partition, id.description) }
  func deliveries(_ partition: Int, _ id: MessageID) -> String { key(.deliveries, partition, id.description) }
  func slices(_ partition: Int, _ id: MessageID) -> String { key(.slices, partition, id.description) }
  /// Of an audience: who is in it.
  func snapshot(_ partition: Int, _ id: MessageID) -> String { key(.snapshot, partition, id.description) }
  /// Four bits of outcome for each delivery of a part.
  func codes(_ partition: Int, _ id: MessageID) -> String { key(.codes, partition, id.description) }
  /// Of deliveries that were tried and whose credential waits: their attempts.
  func tried(_ partition: Int, _ id: MessageID) -> String { key(.tried, partition, id.description) }
  /// All that a part may have.
  func part(_ partition: Int, _ id: MessageID) -> [String] {
    [
      work(partition, id), deliveries(partition, id), slices(partition, id), snapshot(partition, id),
      codes(partition, id),
    ]
  }
  /// Where what an app has but once is kept.
  private func home(of app: AppID) -> Int { partition((app.rawValue, "")) }
  /// Ids come from outside and may name a partition that this store has not.
  func home(_ id: MessageID) -> Int { id.homePartition % partitions }

  func idempotency(_ app: AppID, _ key: String) -> String {
    self.key(.idempotency, partition((app.rawValue, key)), "\(app.rawValue):\(key)")
  }

  /// Expressions by name.
  func audiences(_ app: AppID) -> String { key(.audiences, home(of: app), app.rawValue) }

  /// Recipients of test lists by name.
  func testLists(_ app: AppID) -> String { key(.testLists, home(of: app), app.rawValue) }
  /// Ids of drafts by when they were made.
  func drafts(_ app: AppID) -> String { key(.drafts, home(of: app), app.rawValue) }
  func draft(_ app: AppID, _ id: DraftID) -> String { key(.draft, home(of: app), "\(app.rawValue):\(id)") }
  /// Messages that wait for their time, by that: of apps that may have only so many.
  func waitingMessages(_ app: AppID) -> String { key(.waitingMessages, home(of: app), app.rawValue) }
  /// The message that a draft became.
  func sentDraft(_ app: AppID, _ id: DraftID) -> String {
    key(.sentDraft, home(of: app), "\(app.rawValue):\(id)")
  }

  /// Where all of an app's audit is.
  func auditHome(_ app: AppID) -> Int { home(of: app) }
  func auditTrail(_ app: AppID, _ trail: AuditTrailName) -> String {
    key(.auditTrail, home(of: app), "\(app.rawValue):\(trail.rawValue)")
  }
  /// Acts that have begun and not ended, by their marks.
  func actsAtWork(_ app: AppID) -> String { key(.actsAtWork, home(of: app), app.rawValue) }

  /// By the hash of its token.
  func consoleSession(_ hash: String) -> String { key(.consoleSession, partition((hash, "")), hash) }
  /// By id of a key: how often all its sessions were ended.
  func consoleEditions(_ app: AppID) -> String { key(.consoleEditions, home(of: app), app.rawValue) }
  /// Sessions of a key by when they began.
  func consoleOpen(_ app: AppID, _ id: String) -> String { key(.consoleOpen, home(of: app), "\(app.rawValue):\(id)") }

  /// What somebody uploaded, by its random name.
  func consoleUpload(_ name: String) -> String { key(.consoleUpload, partition((name, "")), name) }
  /// One of its pieces, or what became of it.
  func consoleUpload(_ name: String, _ part: String) -> String {
    key(.consoleUpload, partition((name, "")), "\(name):\(part)")
  }
  /// By id of a key: the name of its upload.
  func consoleUploads(_ app: AppID, _ id: String) -> String {
    key(.consoleUploads, home(of: app), "\(app.rawValue):\(id)")
  }

  // Of the registry.
  /// Numbers by hashes of device ids.
  func index(_ partition: Int, _ app: AppID, _ bucket: Int) -> String {
    stem(partition, .index, app) + String(bucket)
  }
  func record(_ partition: Int, _ app: AppID, _ number: Int) -> String {
    stem(partition, .record, app) + String(number / Self.recordsPerBucket)
  }
  /// Everything before the last part of a key.
  private func stem(_ partition: Int, _ kind: RegistryStems.Kind, _ app: AppID) -> String {
    registryStems.stem(kind, app, partition, stems)
  }
  /// At most 16: the places in a bucket have four bits.
  static let recordsPerBucket = 16
  func lastNumber(_ partition: Int, _ app: AppID) -> String { key(.lastNumber, partition, app.rawValue) }
  func freeNumbers(_ partition: Int, _ app: AppID) -> String { key(.freeNumbers, partition, app.rawValue) }
  /// What imports are about to enter into sets, by name of the intent.
  func intents(_ partition: Int) -> String { whole(.intents, partition) }
  /// Devices by hashes of tokens that are registered under a chosen id.
  func alias(_ partition: Int, _ app: AppID, _ bucket: Int) -> String {
    stem(partition, .alias, app) + String(bucket)
  }
  /// Users: version and tags, and their devices.
  func user(_ app: AppID, _ user: String) -> (key: String, partition: Int) {
    let partition = partition((app.rawValue, user))
    let bucket = ClusterHashTags.hash("user", app.rawValue, user) % UInt64(Self.userBuckets)
    return (userBucket(partition, app, Int(bucket)), partition)
  }
  func userBucket(_ partition: Int, _ app: AppID, _ bucket: Int) -> String {
    stem(partition, .user, app) + String(bucket)
  }
  static let userBuckets = 4_096
  /// Counts the changes of users' entries.
  func userEdition(_ partition: Int, _ app: AppID) -> String { key(.userEdition, partition, app.rawValue) }
  /// Words of records and their numbers.
  func words(_ partition: Int, _ app: AppID) -> String { key(.words, partition, app.rawValue) }
  /// By name of a set what it holds of a block: few numbers, or where they are.
  func setBucket(_ partition: Int, _ app: AppID, _ name: SetName, block: Int) -> String {
    setBucket(partition, app, bucket: name.bucket.text, block: block)
  }
  func setBucket(_ partition: Int, _ app: AppID, bucket: String, block: Int) -> String {
    setBucketStem(partition, app, block: block) + bucket
  }
  func setBucketStem(_ partition: Int, _ app: AppID, block: Int) -> String {
    stem(partition, .setBucket, app) + "\(block):"
  }
  /// More numbers than a bucket takes: a list, or a bitmap.
  func set(_ partition: Int, _ app: AppID, _ name: SetName, block: Int) -> String {
    setStem(partition, app, block: block) + name.text
  }
  func setStem(_ partition: Int, _ app: AppID, block: Int) -> String { stem(partition, .set, app) + "\(block):" }
}

extension StreamID {
  /// Its name within the partition.
  var name: String { "\(urgency == .urgent ? "u" : "b"):\(credential.rawValue)" }

  init?(partition: Int, name: String) {
    guard let mark = name.first, name.dropFirst().first == ":", mark == "u" || mark == "b" else { return nil }
    self.init(
      partition: partition, credential: CredentialID(rawValue: String(name.dropFirst(2))),
      urgency: mark == "u" ? .urgent : .bulk)
  }
}

/// Beginnings of the registry's keys, each made once: thousands are asked for at a time. Loop thread only.
private final class RegistryStems {
  enum Kind: Int, CaseIterable {
    case index, record, alias, user, setBucket, set

    var family: KeyFamily {
      switch self {
      case .index: .index
      case .record: .record
      case .alias: .alias
      case .user: .user
      case .setBucket: .setBucket
      case .set: .set
      }
    }
  }
  private static let kinds = Kind.allCases.count
  private var made: [AppID: [String]] = [:]
  /// Of the app asked for last.
  private var last: (app: AppID, stems: [String]) = (AppID(rawValue: ""), [])

  func stem(_ kind: Kind, _ app: AppID, _ partition: Int, _ partitions: [String]) -> String {
    if last.stems.isEmpty || last.app != app {
      let stems =
        made[app]
        ?? partitions.flatMap { stem in Kind.allCases.map { "\(stem)\($0.family.rawValue):\(app.rawValue):" } }
      made[app] = stems
      last = (app, stems)
    }
    return last.stems[partition * Self.kinds + kind.rawValue]
  }
}
