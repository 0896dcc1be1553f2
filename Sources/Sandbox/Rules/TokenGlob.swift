/// A pattern with `*` and `?` over the bytes of a token. Linear for the patterns people write; never exponential.
struct TokenGlob: Hashable, Sendable {
  private let pattern: [UInt8]
  private let matchesAll: Bool

  init(_ pattern: String) {
    self.pattern = Array(pattern.utf8)
    matchesAll = pattern == "*"
  }

  func matches(_ token: String) -> Bool {
    if matchesAll { return true }
    var token = token
    return token.withUTF8 { bytes in
      var place = 0
      var next = 0
      var star: (pattern: Int, place: Int)?
      while place < bytes.count {
        if next < pattern.count, pattern[next] == UInt8(ascii: "*") {
          star = (next, place)
          next += 1
        } else if next < pattern.count, pattern[next] == UInt8(ascii: "?") || pattern[next] == bytes[place] {
          place += 1
          next += 1
        } else if let last = star {
          star = (last.pattern, last.place + 1)
          next = last.pattern + 1
          place = last.place + 1
        } else {
          return false
        }
      }
      return pattern[next...].allSatisfy { $0 == UInt8(ascii: "*") }
    }
  }
}
