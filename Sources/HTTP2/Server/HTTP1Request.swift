import Domain

/// Reads one HTTP/1.1 request out of bytes as they come: its head, then its body by length or in chunks. Pure.
struct HTTP1Request {
  /// Why a request is not taken; the connection ends behind the answer.
  struct Refusal: Error {
    var status: Int
  }

  private enum Phase {
    case head
    case body(left: Int)
    case chunkSize
    case chunk(left: Int)
    case chunkEnd
    case trailer
    case whole
  }

  private(set) var method = ""
  private(set) var target = ""
  private(set) var authority = ""
  private(set) var headers: [Header] = []
  private(set) var body: [UInt8] = []
  /// The connection serves no request behind this one.
  private(set) var isLast = false
  /// The client waits for `100 Continue` before it sends the body.
  private(set) var awaitsContinue = false
  var isWhole: Bool { if case .whole = phase { true } else { false } }

  private var phase = Phase.head
  private let maximumHead: Int
  private let maximumBody: Int
  /// Up to here no end of the head was found.
  private var searched = 0

  private static let maximumLine = 4096
  private static let lineFeed: UInt8 = 0x0A

  init(maximumHead: Int, maximumBody: Int) {
    self.maximumHead = maximumHead
    self.maximumBody = maximumBody
  }

  /// Takes what belongs to this request out of the front of `input`.
  mutating func read(_ input: inout [UInt8]) throws(Refusal) {
    var position = 0
    defer { if position > 0 { input.removeFirst(position) } }
    while true {
      switch phase {
      case .head:
        guard let end = try headEnd(input) else { return }
        try readHead(input[..<end])
        position = end
      case .body(let left):
        let count = take(left, from: input, at: &position)
        phase = count == left ? .whole : .body(left: left - count)
        if count < left { return }
      case .chunkSize:
        guard let line = try line(input, &position) else { return }
        let digits = line.prefix { $0 != ";" && $0 != " " }
        guard !digits.hasPrefix("+"), let size = Whole.read(digits, in: 0...Int.max, radix: 16) else {
          throw Refusal(status: 400)
        }
        guard size <= maximumBody - body.count else { throw Refusal(status: 413) }
        phase = size == 0 ? .trailer : .chunk(left: size)
      case .chunk(let left):
        let count = take(left, from: input, at: &position)
        phase = count == left ? .chunkEnd : .chunk(left: left - count)
        if count < left { return }
      case .chunkEnd:
        guard let line = try line(input, &position) else { return }
        guard line.isEmpty else { throw Refusal(status: 400) }
        phase = .chunkSize
      case .trailer:
        guard let line = try line(input, &position) else { return }
        if line.isEmpty { phase = .whole }
      case .whole: return
      }
    }
  }

  private mutating func take(_ wanted: Int, from input: [UInt8], at position: inout Int) -> Int {
    let count = min(wanted, input.count - position)
    body += input[position..<position + count]
    position += count
    return count
  }

  /// One short line without its end; nil if it has not come whole.
  private func line(_ input: [UInt8], _ position: inout Int) throws(Refusal) -> String? {
    guard let end = input[position...].prefix(Self.maximumLine).firstIndex(of: Self.lineFeed) else {
      if input.count - position >= Self.maximumLine { throw Refusal(status: 400) }
      return nil
    }
    let line = String(decoding: input[position..<end], as: UTF8.self)
    position = end + 1
    return line.hasSuffix("\r") ? String(line.dropLast()) : line
  }

  // MARK: Head

  /// The place behind the head's empty line.
  private mutating func headEnd(_ input: [UInt8]) throws(Refusal) -> Int? {
    let end: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A]
    var index = max(0, searched - end.count)
    while index + end.count <= input.count {
      if input[index] == end[0], input[index..<index + end.count].elementsEqual(end) {
        guard index <= maximumHead else { throw Refusal(status: 431) }
        return index + end.count
      }
      index += 1
    }
    searched = input.count
    guard input.count <= maximumHead else { throw Refusal(status: 431) }
    return nil
  }

  private mutating func readHead(_ head: ArraySlice<UInt8>) throws(Refusal) {
    // Lines, not characters: a line's end is one character of two bytes.
    let lines = head.split(separator: Self.lineFeed).map { line in
      String(decoding: line.last == 0x0D ? line.dropLast() : line, as: UTF8.self)
    }
    let start = (lines.first ?? "").split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    guard start.count == 3, !start[0].isEmpty, start[2] == "HTTP/1.1" || start[2] == "HTTP/1.0" else {
      throw Refusal(status: 400)
    }
    method = start[0]
    for line in lines.dropFirst() where !line.isEmpty {
      guard let colon = line.firstIndex(of: ":"), colon > line.startIndex, !line.hasPrefix(" "), !line.hasPrefix("\t")
      else { throw Refusal(status: 400) }
      headers.append(Header(line[..<colon].lowercased(), Self.trimmed(line[line.index(after: colon)...])))
    }
    target = try Self.originForm(start[1])
    authority = value("host") ?? ""
    let connection = (value("connection") ?? "").lowercased()
    isLast = connection.contains("close") || start[2] == "HTTP/1.0" && !connection.contains("keep-alive")
    try readLength()
  }

  private mutating func readLength() throws(Refusal) {
    let lengths = Set(headers.filter { $0.name == "content-length" }.map(\.value))
    if let coding = value("transfer-encoding") {
      guard coding.lowercased() == "chunked" else { throw Refusal(status: 501) }
      guard lengths.isEmpty else { throw Refusal(status: 400) }
      phase = .chunkSize
    } else if let length = lengths.first {
      guard lengths.count == 1, !length.hasPrefix("+"), let count = Whole.read(length, in: 0...Int.max) else {
        throw Refusal(status: 400)
      }
      guard count <= maximumBody else { throw Refusal(status: 413) }
      body.reserveCapacity(count)
      phase = count == 0 ? .whole : .body(left: count)
    } else {
      phase = .whole
    }
    awaitsContinue = !isWhole && value("expect")?.lowercased() == "100-continue"
  }

  private func value(_ name: String) -> String? { headers.first { $0.name == name }?.value }

  /// `https://host/path` names the same as `/path`.
  private static func originForm(_ target: String) throws(Refusal) -> String {
    if target.hasPrefix("/") || target == "*" { return target }
    for scheme in ["https://", "http://"] where target.hasPrefix(scheme) {
      let rest = target.dropFirst(scheme.count)
      return rest.firstIndex(of: "/").map { String(rest[$0...]) } ?? "/"
    }
    throw Refusal(status: 400)
  }

  private static func trimmed(_ text: Substring) -> String {
    func isBlank(_ character: Character) -> Bool { character == " " || character == "\t" }
    return String(text.drop(while: isBlank).reversed().drop(while: isBlank).reversed())
  }
}
