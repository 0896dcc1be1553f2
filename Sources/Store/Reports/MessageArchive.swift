import Domain
import RedisClient

/// A message's hashes, wherever they are: live, or packed in the segment of its hour.
struct StoredMessageHashes {
  typealias Fields = [[UInt8]: [UInt8]]
  var message: Fields
  /// By partition, as far as they came with the message.
  var work: [Int: Fields] = [:]
  var deliveries: [Int: Fields] = [:]
  /// Parts that have told home how they ended, and the sum of their counters.
  var told: Set<Int> { Set((text("told") ?? "").split(separator: ",").compactMap { StoredNumber.partition($0) }) }
  var toldCounters: Fields { message[Array("tc".utf8)].map { Self.fields($0) } ?? [:] }

  func text(_ name: String) -> String? { message[Array(name.utf8)].map { String(decoding: $0, as: UTF8.self) } }
  func number(_ name: String) -> Int64? { text(name).flatMap { StoredNumber.read($0) } }
  var split: VariantSplit? {
    message[Array(VariantSplit.field.utf8)].flatMap { try? VariantSplit(packed: $0) }
  }
  var partitions: [Int] { (text("parts") ?? "").split(separator: ",").compactMap { StoredNumber.partition($0) } }

  /// Members of an audience: known of parts that were started, as counted at accept of others. Nil for a direct send.
  var audienceTotal: Int? {
    guard let counted = text("an")?.split(separator: ",").map({ Int(StoredNumber.read(String($0)) ?? 0) }) else {
      return nil
    }
    var total = 0
    for (name, value) in toldCounters where CounterName(field: name) != nil {
      total += StoredNumber.read(value) ?? 0
    }
    for (partition, count) in zip(partitions, counted) where !told.contains(partition) {
      total += work[partition]?[Array("n".utf8)].flatMap(StoredNumber.read) ?? count
    }
    return total
  }

  static func fields(_ packed: [UInt8]) -> Fields {
    guard let items = try? ScriptList.read(packed) else { return [:] }
    var fields: Fields = [:]
    for place in stride(from: 0, to: items.count - 1, by: 2) { fields[items[place]] = items[place + 1] }
    return fields
  }
  static func fields(_ reply: RedisReply) -> Fields {
    var fields: Fields = [:]
    for (name, value) in pairs(reply.array ?? []) { fields[name] = value }
    return fields
  }
}

/// Reads messages with all their shards, unfinished or finished. Holds nothing but its session, on whose loop it is used.
/// What it reads of several partitions is not of one moment.
package struct MessageArchive: StorePart {
  let session: RedisSession

  init(_ session: RedisSession) { self.session = session }

  private static let reportFields = [
    "app", "k", "tot", "parts", "can", "don", "rep", "st", "told", "tc", "an", "ctl", "pat", "pr", "rps",
    VariantSplit.field, "dr", "te", "at", "pl", "v", "sl", "fs", "fz", Labels.field,
  ]

  /// Nil where there is none, in the order asked for.
  func find(_ ids: [MessageID]) async throws(StoreError) -> [StoredMessageHashes?] {
    var commands: [RedisCommand] = []
    for id in ids {
      // In the order in which a message moves, so that none slips through.
      commands.append(InlineMessages(session).inline(id))
      commands.append(RedisCommand(words: ["HMGET", keys.message(id)] + Self.reportFields))
      var archived = RedisCommand("HMGET", keys.segment(keys.home(id), id.hour))
      for mark in ["a", "s", "m"] { archived.append(Array(mark.utf8) + id.raw) }
      commands.append(archived)
    }
    let replies = try await ask(commands)
    return ids.enumerated().map { place, id in
      let archived = replies[place * 3 + 2].array ?? []
      let ended = archived.count == 3 ? archived[1].bytes : nil
      if let packed = ended ?? replies[place * 3].bytes,
        let inline = try? InlineMessage(packed: packed, hasEnded: ended != nil)
      {
        return StoredMessageHashes(inline, home: keys.home(id))
      }
      if let packed = archived.first?.bytes, let parts = try? ScriptList.read(packed), parts.count == 3 {
        let home = keys.home(id)
        return StoredMessageHashes(
          message: StoredMessageHashes.fields(parts[0]), work: [home: StoredMessageHashes.fields(parts[1])],
          deliveries: [home: StoredMessageHashes.fields(parts[2])])
      }
      if let packed = archived.last?.bytes { return StoredMessageHashes(message: StoredMessageHashes.fields(packed)) }
      let live = replies[place * 3 + 1].array ?? []
      var fields: StoredMessageHashes.Fields = [:]
      for (name, value) in zip(Self.reportFields, live) { fields[Array(name.utf8)] = value.bytes }
      return fields.isEmpty ? nil : StoredMessageHashes(message: fields)
    }
  }

  /// Reads what the partitions in question hold of these messages.
  func readWork(
    _ found: inout [(id: MessageID, parts: StoredMessageHashes)], where needed: (StoredMessageHashes, Int) -> Bool
  )
    async throws(StoreError)
  {
    var asked: [(place: Int, partition: Int)] = []
    var commands: [RedisCommand] = []
    for (place, entry) in found.enumerated() {
      for partition in entry.parts.partitions
      where entry.parts.work[partition] == nil && (0..<settings.partitions).contains(partition)
        && needed(entry.parts, partition)
      {
        asked.append((place, partition))
        // In the order in which a part moves, so that none slips through.
        commands.append(RedisCommand("HGETALL", keys.work(partition, entry.id)))
        var ended = RedisCommand("HGET", keys.finished(partition))
        ended.append(entry.id.raw)
        commands.append(ended)
        var archived = RedisCommand("HGET", keys.segment(partition, entry.id.hour))
        archived.append(Array("w".utf8) + entry.id.raw)
        commands.append(archived)
      }
    }
    let replies = try await ask(commands)
    for (number, entry) in asked.enumerated() {
      var fields = StoredMessageHashes.fields(replies[number * 3])
      if fields.isEmpty {
        let ending = replies[number * 3 + 1].bytes.map { Array($0.dropFirst()) }
        fields = (replies[number * 3 + 2].bytes ?? ending).map { StoredMessageHashes.fields($0) } ?? [:]
      }
      found[entry.place].parts.work[entry.partition] = fields
    }
  }
}
