import Domain

/// A form with files, as browsers send it (RFC 7578), read strictly: what no browser would send is no form. Texts of fields
/// are UTF-8; a file is bytes, and nothing that its sender says of it is believed.
struct Multipart: Sendable {
  struct File: Sendable {
    /// Of the field.
    let field: String
    /// As the browser calls it, without folders.
    let name: String
    let bytes: ArraySlice<UInt8>
  }

  private(set) var fields: [(name: String, value: String)] = []
  private(set) var files: [File] = []

  static let type = "multipart/form-data"
  private static let mostParts = 700
  private static let longestBoundary = 70
  /// Bytes of the headers of one part, and lines of them.
  private static let longestHead = 4_096
  private static let mostHeaders = 8
  /// Bytes of a field that is no file.
  private static let longestField = 65_536
  private static let longestName = 1_024
  private static let crlf: [UInt8] = [13, 10]

  /// Nil: `type` names no such form, or the body is broken, without an end, or beyond a bound.
  init?(_ body: [UInt8], _ type: String) {
    guard let boundary = Self.boundary(of: type) else { return nil }
    let mark = Self.crlf + Array("--".utf8) + boundary
    // The first mark has no line before it.
    guard body.starts(with: mark.dropFirst(2)) else { return nil }
    var place = mark.count - 2
    for _ in 0...Self.mostParts {
      let rest = body[place...]
      if rest.starts(with: Array("--".utf8)) {
        let end = rest.dropFirst(2)
        guard end.isEmpty || end.elementsEqual(Self.crlf) else { return nil }
        return
      }
      guard rest.starts(with: Self.crlf) else { return nil }
      place += 2
      guard let head = Head(body[place...].prefix(Self.longestHead)) else { return nil }
      let start = place + head.length
      guard let end = Self.find(mark, in: body[start...]), take(head, body[start..<end]) else { return nil }
      place = end + mark.count
    }
    return nil
  }

  private mutating func take(_ head: Head, _ content: ArraySlice<UInt8>) -> Bool {
    guard let file = head.file else {
      guard content.count <= Self.longestField, let value = String(validating: content, as: UTF8.self) else {
        return false
      }
      fields.append((head.field, value))
      return true
    }
    files.append(File(field: head.field, name: file, bytes: content))
    return true
  }

  /// Of 1…70 letters, digits and the marks that need no quotes, and in quotes the others of RFC 2046 but for a space.
  private static func boundary(of type: String) -> [UInt8]? {
    let parts = type.split(separator: ";", maxSplits: 1).map { $0.trimmed }
    guard parts.count == 2, parts[0].lowercased() == Self.type, parts[1].lowercased().hasPrefix("boundary=") else {
      return nil
    }
    var text = parts[1].dropFirst("boundary=".count)
    if text.hasPrefix("\""), text.hasSuffix("\""), text.count >= 2 { text = text.dropFirst().dropLast() }
    let bytes = Array(text.utf8)
    let marks = Set("'()+_,-./:=?".utf8)
    guard (1...longestBoundary).contains(bytes.count),
      bytes.allSatisfy({ $0.isASCIIDigit || $0.isASCIILetter || marks.contains($0) })
    else { return nil }
    return bytes
  }

  /// Where the mark begins, which begins with CR and has no other but behind a line end: each byte is looked at twice at most,
  /// whatever the body holds.
  private static func find(_ mark: [UInt8], in body: ArraySlice<UInt8>) -> Int? {
    body.withUnsafeBufferPointer { bytes in
      var place = 0
      while bytes.count - place >= mark.count, let start = bytes[place...].firstIndex(of: mark[0]) {
        guard bytes.count - start >= mark.count else { return nil }
        var length = 1
        while length < mark.count, bytes[start + length] == mark[length] { length += 1 }
        if length == mark.count { return body.startIndex + start }
        place = start + 1
      }
      return nil
    }
  }

  /// What stands before the content of a part.
  private struct Head {
    var field: String
    /// Nil: it is no file.
    var file: String?
    /// Bytes, with the empty line behind it.
    var length: Int

    init?(_ bytes: ArraySlice<UInt8>) {
      let end = Multipart.crlf + Multipart.crlf
      guard let close = Multipart.find(end, in: bytes) else { return nil }
      length = close - bytes.startIndex + end.count
      guard let text = String(validating: bytes[..<close], as: UTF8.self) else { return nil }
      let lines = text.components(at: "\r\n")
      guard lines.count <= Multipart.mostHeaders else { return nil }
      var found: [(name: String, value: String)]?
      for line in lines {
        guard let colon = line.firstIndex(of: ":"), !line.utf8.contains(where: { $0 < 32 || $0 == 127 }) else {
          return nil
        }
        guard line[..<colon].lowercased() == "content-disposition" else { continue }
        guard found == nil, let values = Self.values(of: line[line.index(after: colon)...]) else { return nil }
        found = values
      }
      guard let found, Set(found.map(\.name)).count == found.count,
        let name = found.first(where: { $0.name == "name" })?.value, !name.isEmpty
      else { return nil }
      field = name
      file = found.first { $0.name == "filename" }.map { Self.withoutFolders($0.value) }
    }

    /// Of `form-data; name="…"; filename="…"`.
    private static func values(of text: Substring) -> [(name: String, value: String)]? {
      var rest = text.drop { $0 == " " }
      guard rest.prefix(while: { $0 != ";" }).trimmed.lowercased() == "form-data" else { return nil }
      rest = rest.drop { $0 != ";" }
      var values: [(name: String, value: String)] = []
      while rest.first == ";" {
        rest = rest.dropFirst().drop { $0 == " " }
        let name = rest.prefix { $0.isASCII && $0.isLetter }
        rest = rest.dropFirst(name.count)
        // Browsers put each value in quotes, and write a quote, CR and LF within as %22, %0D and %0A.
        guard !name.isEmpty, rest.hasPrefix("=\"") else { return nil }
        rest = rest.dropFirst(2)
        guard let end = rest.firstIndex(of: "\"") else { return nil }
        let value = rest[..<end]
        guard value.utf8.count <= Multipart.longestName else { return nil }
        let plain = value.replacing("%22", with: "\"").replacing("%0D", with: "").replacing("%0A", with: "")
        values.append((name.lowercased(), String(plain)))
        rest = rest[rest.index(after: end)...].drop { $0 == " " }
      }
      return rest.isEmpty ? values : nil
    }

    private static func withoutFolders(_ name: String) -> String {
      String(name.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last ?? "")
    }
  }
}

extension Substring {
  fileprivate var trimmed: Substring {
    var text = drop { $0 == " " }
    while text.last == " " { text.removeLast() }
    return text
  }
}

extension String {
  /// Parts between CRLF, which Swift takes for one character.
  fileprivate func components(at line: Character) -> [Substring] {
    split(separator: line, omittingEmptySubsequences: false)
  }
}
