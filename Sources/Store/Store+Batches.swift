import RedisClient

extension Store {
  /// Items of one script that does the same for each of them.
  private static let itemsPerScript = 100

  /// Runs a script over many items, several at a time and each with its partition's, all in one pipeline; `run` gives keys
  /// and arguments of the items at these places, the script answers an array with one reply for each. In the items' order.
  func askBatched(
    _ script: RedisScript, _ partitions: [Int], _ run: ([Int]) -> ScriptRun
  ) async throws(StoreError) -> [RedisReply] {
    var chunks: [[Int]] = []
    for (_, items) in Dictionary(grouping: partitions.indices, by: { partitions[$0] }) {
      for start in stride(from: 0, to: items.count, by: Self.itemsPerScript) {
        chunks.append(Array(items[start..<min(items.count, start + Self.itemsPerScript)]))
      }
    }
    var replies = [RedisReply](repeating: .null, count: partitions.count)
    for (chunk, reply) in zip(chunks, try await ask(script, chunks.map(run))) {
      for (item, reply) in zip(chunk, reply.array ?? []) { replies[item] = reply }
    }
    return replies
  }
}
