import JSON
import Loop

/// Reads what is large beside the loop, so that it holds nobody up. Belongs to the loop.
final class LargeBodies {
  /// Bytes. What has no more is read on the loop.
  private static let leastBytes = 65_536

  private let thread = SideThread(name: "large bodies")

  /// True of what `read` takes to the other thread.
  func areLarge(_ bytes: Int) -> Bool { bytes > Self.leastBytes }

  /// What `work` makes of so many bytes. Until it returns nobody else may use what `work` holds.
  func read<Value>(_ bytes: Int, _ work: @escaping () -> Value) async -> Value {
    areLarge(bytes) ? await thread.run(work) : work()
  }
}
