import RedisClient

extension StorePart {
  /// Items of one script that does the same for each of them.
  private static var itemsPerScript: Int { 50 }

  private static var scriptsPerPart: Int { itemsPerPart / itemsPerScript }

  /// Runs a script over many items, several at a time and each with its partition's; `run` gives keys and arguments of the items
  /// at these places, the script answers an array with one reply for each, and what `rest` is to get. In the items' order.
  func askBatched(
    _ script: RedisScript, _ partitions: [Int], rest: @escaping (_ partition: Int, [RedisReply]) -> Void = { _, _ in },
    _ run: @escaping ([Int]) -> ScriptRun
  ) async throws(StoreError) -> [RedisReply] {
    var chunks: [[Int]] = []
    for (_, items) in Dictionary(grouping: partitions.indices, by: { partitions[$0] }) {
      for start in stride(from: 0, to: items.count, by: Self.itemsPerScript) {
        chunks.append(Array(items[start..<min(items.count, start + Self.itemsPerScript)]))
      }
    }
    var replies = [RedisReply](repeating: .null, count: partitions.count)
    let all = chunks
    try await inParts(of: all.count, each: Self.scriptsPerPart) { part async throws(StoreError) in
      var open = all[part]
      for (chunk, reply) in zip(all[part], try await self.ask(script) { open.popFirst().map(run) }) {
        let answers = reply.array ?? []
        for (item, answer) in zip(chunk, answers) { replies[item] = answer }
        rest(partitions[chunk[0]], Array(answers.dropFirst(chunk.count)))
      }
    }
    return replies
  }
}
