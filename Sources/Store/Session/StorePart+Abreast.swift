import Loop

/// Much is done in parts: Redis works on one while the next is prepared, and what else is on this loop, or waits at Redis,
/// has its turn between them.
extension StorePart {
  static var itemsPerPart: Int { 1_000 }
  private static var partsAbreast: Int { 2 }

  /// `work` gets ranges that make up 0..<`count`.
  func inParts(
    of count: Int, each size: Int = itemsPerPart, _ work: @escaping (Range<Int>) async throws(StoreError) -> Void
  ) async throws(StoreError) {
    try await abreast((count + size - 1) / size) { part async throws(StoreError) in
      try await work(part * size..<min(count, (part + 1) * size))
    }
  }

  /// `work` for 0..<`count`, some of them at once. With an error none begins any more; thrown is the first.
  func abreast(_ count: Int, _ work: @escaping (Int) async throws(StoreError) -> Void) async throws(StoreError) {
    var failure: StoreError?
    await loop.abreast(count, width: Self.partsAbreast) { part in
      guard failure == nil else { return }
      do throws(StoreError) { try await work(part) } catch { failure = failure ?? error }
    }
    if let failure { throw failure }
  }
}
