import Domain
import RedisClient

/// Changes of sets of a partition on their way into a script, as `applySets` takes them.
struct SetRuns {
  /// Sets that nobody is believed to be in, as their name is no word yet; sets that only grow; others.
  private var (fresh, growing, others) = (ScriptRun(), ScriptRun(), ScriptRun())
  /// Of the last block.
  private var stems: (block: Int, bucket: String, own: String)?
  /// About how many steps of Redis they are.
  private(set) var weight = 0

  var isEmpty: Bool { weight == 0 }

  mutating func append(
    _ change: SetChanges.Change, block: Int, _ partition: Int, _ app: AppID, _ keys: Keys, _ words: WordBook
  ) {
    if stems?.block != block {
      stems = (
        block, keys.setBucketStem(partition, app, block: block), keys.setStem(partition, app, block: block)
      )
    }
    guard let stems else { return }
    let text = change.name.text
    func append(to run: inout ScriptRun) {
      run.keys.append(stems.bucket, change.name.bucket)
      run.keys.append(stems.own, text)
      run.arguments.append(text)
      run.arguments.append(change.add)
    }
    weight += 3
    if !change.remove.isEmpty {
      append(to: &others)
      others.arguments.append(change.remove)
      weight += (change.add.count + change.remove.count) / 2
    } else if change.add.count == 2, change.name.kind == .tag, words.number(change.name.value.text) == nil {
      append(to: &fresh)
    } else {
      append(to: &growing)
      let bits = change.words
      growing.arguments.append(bits)
      // A list that becomes a bitmap is gone through number by number.
      weight += bits.isEmpty ? change.add.count / 2 : max(bits.count / 4, change.add.count / 8)
    }
  }

  /// `between` goes behind the counts.
  func write(to script: inout ScriptRun, between: RedisCommand = RedisCommand()) {
    script.arguments.append(fresh.keys.count / 2)
    script.arguments.append(growing.keys.count / 2)
    script.arguments.append(between)
    for run in [fresh, growing, others] {
      script.keys.append(run.keys)
      script.arguments.append(run.arguments)
    }
  }
}
