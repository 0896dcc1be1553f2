/// A text compared byte by byte: Swift's own comparison takes two spellings of `é` for one. Users and tags are told apart so, as
/// Redis tells them apart.
package struct ExactText: Hashable, Sendable {
  package let text: String
  package init(_ text: String) { self.text = text }

  package static func == (left: Self, right: Self) -> Bool {
    let (left, right) = (left.text.utf8, right.text.utf8)
    guard left.count == right.count else { return false }
    let same = unsafe left.withContiguousStorageIfAvailable { left in
      unsafe right.withContiguousStorageIfAvailable {
        unsafe isSame(UnsafeRawBufferPointer(left), UnsafeRawBufferPointer($0))
      }
    }
    return (same ?? nil) ?? left.elementsEqual(right)
  }
  /// Of one length; by words, as tables of texts compare each that they find.
  private static func isSame(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
    var place = 0
    while place + 8 <= left.count {
      let word = unsafe left.loadUnaligned(fromByteOffset: place, as: UInt64.self)
      guard unsafe word == right.loadUnaligned(fromByteOffset: place, as: UInt64.self) else { return false }
      place += 8
    }
    while place < left.count {
      guard unsafe left[place] == right[place] else { return false }
      place += 1
    }
    return true
  }
  package func hash(into hasher: inout Hasher) {
    let hashed: Void? = unsafe text.utf8.withContiguousStorageIfAvailable {
      unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0))
    }
    if hashed == nil { for byte in text.utf8 { hasher.combine(byte) } }
  }
}

extension [String] {
  /// In their order, each once, byte by byte.
  package var eachOnce: [String] {
    var seen = Set<ExactText>(minimumCapacity: count)
    return filter { seen.insert(ExactText($0)).inserted }
  }
}
