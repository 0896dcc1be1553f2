import Glibc

/// Reads a file, or standard input, line by line, without holding more than a piece of it and its longest line.
final class LineFile {
  private let descriptor: Int32
  /// Read and not given away, from `place` on.
  private var held: [UInt8] = []
  private var place = 0
  /// Of the line read last, from 1.
  private(set) var number = 0

  private static let piece = 1 << 20

  /// `-` is standard input; nil if it cannot be opened.
  init?(_ path: String) {
    descriptor = path == "-" ? dup(0) : open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
  }
  deinit { close(descriptor) }

  /// Without its end; nil at the end of the file, or where it cannot be read further.
  func next() -> [UInt8]? {
    var searched = place
    while true {
      if let end = held[searched...].firstIndex(of: UInt8(ascii: "\n")) {
        defer { place = end + 1 }
        return give(held[place..<end])
      }
      let left = held.count - place
      guard fill() else { break }
      searched = left
    }
    guard place < held.count else { return nil }
    defer { place = held.count }
    return give(held[place...])
  }

  private func give(_ line: ArraySlice<UInt8>) -> [UInt8] {
    number += 1
    return Array(line)
  }

  /// Moves what is left to the front and reads more behind it; false at the end.
  private func fill() -> Bool {
    held.removeFirst(place)
    place = 0
    let left = held.count
    held.append(contentsOf: repeatElement(0, count: Self.piece))
    let count = held.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress! + left, Self.piece) }
    held.removeLast(Self.piece - max(0, count))
    return count > 0
  }
}
