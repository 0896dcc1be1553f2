/// Which members of a part are in stored slices. A bit for each of them answers what is asked of every member; a dictionary by
/// member took a twentieth of a worker's time where slices have two thousand.
struct MemberSlices {
  private var slices: [StoredSlice] = []
  private var bits: [UInt64]
  private let count: Int

  /// `count`: of the part's members. A slice may not name others; if it does they are left out.
  init(_ slices: [StoredSlice] = [], of count: Int) {
    self.count = count
    bits = Array(repeating: 0, count: (count + 63) / 64)
    for slice in slices { add(slice) }
  }

  mutating func add(_ slice: StoredSlice) {
    slices.append(slice)
    for member in slice.members where member < count { bits[member / 64] |= 1 << UInt64(member % 64) }
  }

  func contains(_ member: Int) -> Bool { member < count && bits[member / 64] >> UInt64(member % 64) & 1 == 1 }

  /// The youngest with this member: a revision comes after what it replaces.
  subscript(member: Int) -> StoredSlice? {
    contains(member) ? slices.last { $0.members.contains(member) } : nil
  }
}
