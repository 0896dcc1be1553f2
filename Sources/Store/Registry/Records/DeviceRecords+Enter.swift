import Domain
import RedisClient

/// Records of new devices of an import.
extension DeviceRecords {
  /// The script for new devices of one partition and one intent, by number.
  func entry(of writes: [DeviceWrite], _ app: AppID) -> ScriptRun {
    let partition = writes[0].place.partition
    let words = StringTables(session).words(partition, app)
    var (indexKeys, aliasKeys) = (RedisCommand(), RedisCommand())
    var (indexed, tokens, asked) = (RedisCommand(), RedisCommand(), [UInt8]())
    var buckets: [(first: Int, numbers: [UInt8], entries: [UInt8])] = []
    var bucket = -1
    var sets: [SetChanges] = []
    for (place, write) in writes.enumerated() {
      let number = write.place.number
      if write.place.bucket != bucket {
        bucket = write.place.bucket
        buckets.append((number, [], []))
      }
      buckets[buckets.count - 1].numbers.append32(number)
      if let packed = write.packed(words) { write.append(packed, to: &buckets[buckets.count - 1].entries) }
      let index = IndexPlace(write.id, app, keys)
      indexKeys.append(keys.index(partition, app, index.bucket))
      indexed.append(length: 8 + 4 * write.expected.count) { entry in
        entry.append32(Int(index.hash))
        entry.append32(number)
        for other in write.expected { entry.append32(other) }
      }
      if write.tellsAliases {
        let token = TokenOwners(session).alias(write.id, app)
        // A byte is enough: a script has some dozens.
        asked.append(UInt8(place + 1))
        aliasKeys.append(token.key)
        tokens.append(token.hash)
      }
      if sets.last?.block != write.place.block { sets.append(SetChanges(block: write.place.block)) }
      write.note(in: &sets[sets.count - 1])
    }
    var script = ScriptRun()
    script.keys.append(keys.words(partition, app))
    script.keys.append(keys.intents(partition))
    script.keys.append(keys.freeNumbers(partition, app))
    for bucket in buckets { script.keys.append(keys.record(partition, app, bucket.first)) }
    script.keys.append(indexKeys)
    script.keys.append(aliasKeys)
    let intent = writes[0].intent
    script.arguments.append(words.count)
    script.arguments.append(intent?.name.progress ?? "")
    script.arguments.append(intent?.progress ?? 0)
    script.arguments.append(buckets.count)
    script.arguments.append(writes.count)
    script.arguments.append(asked)
    var devices = RedisCommand()
    for bucket in buckets {
      devices.append(bucket.numbers)
      devices.append(bucket.entries)
    }
    devices.append(indexed)
    devices.append(tokens)
    append(sets, of: partition, to: &script, between: devices, app)
    return script
  }
}
