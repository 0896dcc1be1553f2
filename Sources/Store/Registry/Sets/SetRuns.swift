import Domain
import RedisClient

/// Changes of sets of a partition on their way into a script, as `applySets` takes them. Those of one bucket one behind
/// the other cost it less.
struct SetRuns {
  private var run = ScriptRun()
  /// By set how it changes, and whether it begins a bucket.
  private var plan: [UInt8] = []
  private var bucket: SetBucket?
  /// Of the last block.
  private var stems: (block: Int, bucket: String, own: String)?
  /// About how many steps of Redis they are.
  private(set) var weight = 0

  var isEmpty: Bool { plan.isEmpty }

  mutating func append(
    _ change: SetChanges.Change, in bucket: SetBucket, block: Int, _ partition: Int, _ app: AppID, _ keys: Keys,
    _ book: StringTable
  ) {
    if stems?.block != block {
      stems = (
        block, keys.setBucketStem(partition, app, block: block), keys.setStem(partition, app, block: block)
      )
      self.bucket = nil
    }
    guard let stems else { return }
    let isFirst = self.bucket != bucket
    if isFirst { run.keys.append(stems.bucket, bucket.text) }
    self.bucket = bucket
    let text = change.name.text
    run.keys.append(stems.own, text)
    run.arguments.append(text)
    run.arguments.append(change.add)
    weight += isFirst ? 3 : 2
    let letter: UInt8
    let words = change.words
    if !change.remove.isEmpty {
      letter = UInt8(ascii: "c")
      run.arguments.append(change.remove)
      weight += (change.add.count + change.remove.count) / 2
    } else if !words.isEmpty {
      letter = UInt8(ascii: "w")
      run.arguments.append(words)
      // A list that becomes a bitmap is gone through number by number.
      weight += max(words.count / 4, change.add.count / 8)
    } else if change.add.count == 2, change.name.kind == .tag, book.number(change.name.value.text) == nil {
      // Nobody is believed to be in it, as its name is no word yet.
      letter = UInt8(ascii: "f")
    } else {
      letter = UInt8(ascii: "g")
      weight += change.add.count / 2
    }
    plan.append(isFirst ? letter - 32 : letter)
  }

  /// `between` goes behind the plan.
  func write(to script: inout ScriptRun, between: RedisCommand = RedisCommand()) {
    script.arguments.append(plan)
    script.arguments.append(between)
    script.keys.append(run.keys)
    script.arguments.append(run.arguments)
  }
}
