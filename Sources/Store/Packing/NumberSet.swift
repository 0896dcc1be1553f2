/// Ascending numbers in the shortest of three forms: a bitmap, the gaps between them, or runs of consecutive ones.
enum NumberSet {
  private enum Form: UInt8 { case bitmap, gaps, runs }

  /// More numbers than any partition holds: a stored count beyond it is damage.
  static let limit = 1 << 26

  static func write(_ numbers: [UInt32], to packer: inout Packer) {
    let first = numbers.first ?? 0
    let span = numbers.isEmpty ? 0 : Int(numbers[numbers.count - 1] - first) + 1
    var gaps = Packer()
    var runs = Packer()
    var next = first
    var start = first
    var previous = first
    for number in numbers {
      gaps.number(Int(number - previous))
      previous = number
      if number != next {
        runs.number(Int(next - start))
        runs.number(Int(number - next))
        start = number
      }
      next = number + 1
    }
    if !numbers.isEmpty { runs.number(Int(next - start)) }
    let form: Form =
      runs.bytes.count <= min(gaps.bytes.count, (span + 7) / 8)
      ? .runs : gaps.bytes.count <= (span + 7) / 8 ? .gaps : .bitmap
    packer.byte(form.rawValue)
    packer.number(numbers.count)
    packer.number(Int(first))
    switch form {
    case .runs: packer.blob(runs.bytes)
    case .gaps: packer.blob(gaps.bytes)
    case .bitmap:
      var bits = [UInt8](repeating: 0, count: (span + 7) / 8)
      for number in numbers {
        let offset = Int(number - first)
        bits[offset / 8] |= 1 << UInt8(offset % 8)
      }
      packer.blob(bits)
    }
  }

  /// `most`: of numbers that it may hold. A run of any length takes a few bytes.
  static func read(_ reader: inout Unpacker, most: Int = limit) throws(Corrupt) -> [UInt32] {
    guard let form = Form(rawValue: try reader.byte()) else { throw Corrupt() }
    let count = try reader.int()
    guard count <= most, let first = UInt32(exactly: try reader.int()) else { throw Corrupt() }
    let data = try reader.blob()
    var numbers: [UInt32] = []
    switch form {
    case .bitmap:
      guard count <= data.count * 8 else { throw Corrupt() }
      numbers.reserveCapacity(count)
      for (place, byte) in data.enumerated() {
        var rest = byte
        while rest != 0 {
          let (number, over) = first.addingReportingOverflow(UInt32(place * 8 + rest.trailingZeroBitCount))
          guard !over else { throw Corrupt() }
          numbers.append(number)
          rest &= rest - 1
        }
      }
    case .gaps:
      guard count <= data.count else { throw Corrupt() }
      numbers.reserveCapacity(count)
      var gaps = Unpacker(data)
      var last = Int(first)
      while !gaps.isAtEnd {
        let gap = try gaps.int()
        guard gap > 0 || numbers.isEmpty, gap <= Int(UInt32.max), let number = UInt32(exactly: last + gap) else {
          throw Corrupt()
        }
        numbers.append(number)
        last = Int(number)
      }
    case .runs:
      var runs = Unpacker(data)
      var next = Int(first)
      while !runs.isAtEnd {
        let length = try runs.int()
        guard length > 0, length <= count - numbers.count, UInt32(exactly: next + length - 1) != nil else {
          throw Corrupt()
        }
        for number in next..<next + length { numbers.append(UInt32(number)) }
        next += length
        guard !runs.isAtEnd else { break }
        let gap = try runs.int()
        guard gap > 0, gap <= Int(UInt32.max) else { throw Corrupt() }
        next += gap
      }
    }
    guard numbers.count == count else { throw Corrupt() }
    return numbers
  }
}
