import CNGHTTP2
import Domain

/// Gathers the header fields of one nghttp2 call, which copies them: memory that is kept between calls.
struct HeaderScratch {
  private struct Span {
    var name: Int
    var value: Int
    var indexed: Bool
  }
  private var bytes: [UInt8] = []
  private var spans: [Span] = []
  private var fields: [nghttp2_nv] = []

  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    spans.removeAll(keepingCapacity: true)
  }

  mutating func append(_ name: StaticString, _ value: String, indexed: Bool = true) {
    bytes.append(contentsOf: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
    appendValue(value, nameCount: name.utf8CodeUnitCount, indexed: indexed)
  }

  mutating func append(_ header: Header) {
    let before = bytes.count
    bytes.append(contentsOf: header.name.utf8)
    appendValue(header.value, nameCount: bytes.count - before, indexed: header.indexed)
  }

  private mutating func appendValue(_ value: String, nameCount: Int, indexed: Bool) {
    let before = bytes.count
    bytes.append(contentsOf: value.utf8)
    spans.append(Span(name: nameCount, value: bytes.count - before, indexed: indexed))
  }

  /// Calls `body` with the fields; the pointers hold during the call only.
  mutating func withFields<Result>(_ body: (UnsafePointer<nghttp2_nv>?, Int) -> Result) -> Result {
    bytes.withUnsafeMutableBufferPointer { bytes in
      fields.removeAll(keepingCapacity: true)
      var place = bytes.baseAddress
      for span in spans {
        let flags = span.indexed ? NGHTTP2_NV_FLAG_NONE : NGHTTP2_NV_FLAG_NO_INDEX
        fields.append(
          nghttp2_nv(
            name: place, value: place.map { $0 + span.name }, namelen: span.name, valuelen: span.value,
            flags: UInt8(flags.rawValue)))
        place = place.map { $0 + span.name + span.value }
      }
      return fields.withUnsafeBufferPointer { body($0.baseAddress, $0.count) }
    }
  }
}

/// Text from the peer; what is no UTF-8 is repaired.
func text(_ start: UnsafePointer<UInt8>?, _ count: Int) -> String {
  String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
}
