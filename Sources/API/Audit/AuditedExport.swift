import HTTPServer
import Loop

/// The pieces of an export, and what is told of its end. Belongs to the loop.
final class AuditedExport {
  private let loop: EventLoop
  private let pieces: BodyPieces
  private var end: ((_ isWhole: Bool) async -> Void)?

  /// `end` is called once: with true before the client is told that it has all, with false where a piece could not be
  /// made, or the client has gone before the last.
  init(_ loop: EventLoop, _ pieces: BodyPieces, _ end: @escaping (_ isWhole: Bool) async -> Void) {
    (self.loop, self.pieces, self.end) = (loop, pieces, end)
  }

  /// The server lets the pieces go when it needs no more of them.
  deinit {
    guard let end else { return }
    loop.spawn { await end(false) }
  }

  func next() async throws(BodyPieces.Broken) -> [UInt8]? {
    do throws(BodyPieces.Broken) {
      if let piece = try await pieces.next() { return piece }
    } catch {
      await tell(isWhole: false)
      throw error
    }
    await tell(isWhole: true)
    return nil
  }

  private func tell(isWhole: Bool) async {
    let told = end
    end = nil
    await told?(isWhole)
  }
}
