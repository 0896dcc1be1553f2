import Domain
import JSON

/// The rendering of a message in one language whose texts differ from device to device: rendered once with a mark in the
/// place of each placeholder, split at the marks, put together per device. Providers know nothing of it.
///
/// A mark is a noncharacter of Unicode. Whether the split is true is proven when it is made: with some probe in every
/// place it must give the very bytes that the provider gives for a message with that probe.
struct PersonalRendering {
  private enum Part {
    case bytes(ArraySlice<UInt8>)
    case slot(Int)
  }
  private let frame: Rendering
  private let head: [Part]
  private let tail: [Part]

  /// U+FDD0…U+FDEF, three bytes each.
  private static let marks = 0xFDD0...0xFDEF
  private static let markHead: [UInt8] = [0xEF, 0xB7]
  private static let markTails: ClosedRange<UInt8> = 0x90...0xAF
  /// What a text may hold that is not itself in JSON, and what looks like a placeholder.
  private static let probe = "\"\\\n{{é"

  /// Nil if it cannot be done in this way, be it as the marks or the probe make it too large: each device is rendered
  /// whole then.
  init?(
    _ texts: MessageTexts, _ choice: MessageTexts.Choice, slots: [Placeholder], account: any ProviderAccount,
    _ startedAt: WallTime
  ) {
    guard slots.count <= Self.marks.count else { return nil }
    let marks = Dictionary(
      uniqueKeysWithValues: zip(slots, Self.marks).map { ($0, String(Unicode.Scalar($1).map(Character.init) ?? " ")) })
    let marked = texts.message(choice) { marks[$0] ?? "" }
    let probed = texts.message(choice) { _ in Self.probe }
    guard let frame = try? account.render(marked, startedAt: startedAt),
      let whole = try? account.render(probed, startedAt: startedAt)
    else { return nil }
    self.frame = frame
    head = Self.split(frame.head)
    tail = Self.split(frame.tail)
    let values = Array(repeating: Self.escaped(Self.probe), count: slots.count)
    guard Self.put(head, values) == whole.head, Self.put(tail, values) == whole.tail, frame.path == whole.path,
      frame.headers == whole.headers
    else { return nil }
  }

  /// `values`: in the order of the slots. Nil: over the provider's limit.
  func filled(_ values: [String]) -> Rendering? {
    let values = values.map(Self.escaped)
    var rendering = frame
    rendering.head = Self.put(head, values)
    rendering.tail = Self.put(tail, values)
    if let limit = frame.limit, rendering.head.count + rendering.tail.count > limit { return nil }
    return rendering
  }

  private static func escaped(_ text: String) -> [UInt8] {
    var bytes: [UInt8] = []
    JSONWriter.appendEscaped(text, to: &bytes)
    return bytes
  }

  private static func split(_ bytes: [UInt8]) -> [Part] {
    var parts: [Part] = []
    var start = 0
    var place = 0
    while place + 2 < bytes.count {
      guard bytes[place] == markHead[0], bytes[place + 1] == markHead[1], markTails.contains(bytes[place + 2]) else {
        place += 1
        continue
      }
      if start < place { parts.append(.bytes(bytes[start..<place])) }
      parts.append(.slot(Int(bytes[place + 2] - markTails.lowerBound)))
      place += 3
      start = place
    }
    if start < bytes.count { parts.append(.bytes(bytes[start...])) }
    return parts
  }

  private static func put(_ parts: [Part], _ values: [[UInt8]]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(
      parts.reduce(0) { sum, part in
        switch part {
        case .bytes(let slice): sum + slice.count
        case .slot(let index): sum + (index < values.count ? values[index].count : 0)
        }
      })
    for part in parts {
      switch part {
      case .bytes(let slice): bytes += slice
      // An index beyond the slots is in the message itself: the probe finds it out.
      case .slot(let index): if index < values.count { bytes += values[index] }
      }
    }
    return bytes
  }
}
