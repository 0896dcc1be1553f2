import Glibc

/// Reads a file, or standard input, line by line, without holding more than a piece of it and its longest line.
final class LineFile {
  private let descriptor: Int32
  /// Read and not given away, from `place` on.
  private var held: [UInt8] = []
  private var place = 0
  /// Of the line read last, from 1.
  private(set) var number = 0
  /// Bytes of all lines so far, with their ends.
  private(set) var taken = 0
  /// Of the whole file; nil for what has no end yet, as a pipe.
  let size: Int?

  private static let piece = 1 << 20

  /// The system's word for why a file cannot be opened or read further.
  struct Fault: Error { let reason: String }

  /// `-` is standard input.
  convenience init(_ path: String) throws(Fault) {
    let descriptor = path == "-" ? dup(0) : open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Self.fault() }
    self.init(taking: descriptor)
  }
  init(taking descriptor: Int32) {
    self.descriptor = descriptor
    var status = stat()
    size = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG ? Int(status.st_size) : nil
  }
  deinit { close(descriptor) }

  private static func fault() -> Fault { Fault(reason: String(cString: strerror(errno))) }

  /// Without its end; nil at the end of the file. What stands before a fault and has no end yet is not told as a line.
  func next() throws(Fault) -> [UInt8]? {
    var searched = place
    while true {
      if let end = held[searched...].firstIndex(of: UInt8(ascii: "\n")) {
        defer { place = end + 1 }
        return give(held[place..<end])
      }
      let left = held.count - place
      guard try fill() else { break }
      searched = left
    }
    guard place < held.count else { return nil }
    defer { place = held.count }
    return give(held[place...])
  }

  private func give(_ line: ArraySlice<UInt8>) -> [UInt8] {
    number += 1
    taken += line.count + 1
    return Array(line)
  }

  /// Moves what is left to the front and reads more behind it; false at the end.
  private func fill() throws(Fault) -> Bool {
    held.removeFirst(place)
    place = 0
    let left = held.count
    held.append(contentsOf: repeatElement(0, count: Self.piece))
    var count: Int
    repeat {
      count = held.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress! + left, Self.piece) }
    } while count < 0 && errno == EINTR
    let fault = count < 0 ? Self.fault() : nil
    held.removeLast(Self.piece - max(0, count))
    if let fault { throw fault }
    return count > 0
  }
}
