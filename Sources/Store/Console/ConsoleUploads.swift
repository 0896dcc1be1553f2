package import Domain
import RedisClient
import TLS

/// A file that somebody uploaded to the console, on its way to an import.
package struct ConsoleUpload: Hashable, Sendable {
  /// Random: whoever has it may name it in a link.
  package let name: String
  /// As the browser called it.
  package let file: String
  /// Bytes.
  package let size: Int
}

/// Files between two steps of a page. Each belongs to the key that uploaded it, one for each key: an upload takes the place of
/// the one before. Holds nothing but its session, on whose loop it is used.
package struct ConsoleUploads: StorePart {
  let session: RedisSession

  init(_ session: RedisSession) { self.session = session }

  /// Bytes of a file, at most.
  package static let longest = 8 << 20
  /// Bytes of what is kept beside a file, at most.
  package static let longestNote = 4 << 20
  /// From the upload, or from the last note.
  static let milliseconds: Int64 = 1_200_000
  static let pieceBytes = 256 << 10
  private static let longestFileName = 255
  private static let randomBytes = 24

  /// Keeps a file; nil: it is too long. What the key had uploaded before is gone then.
  package func keep(_ bytes: [UInt8], file: String, key: String, app: AppID) async throws(StoreError) -> ConsoleUpload?
  {
    guard bytes.count <= Self.longest else { return nil }
    try session.checkCondition()
    let name = Digits.hexText(SecureRandom.bytes(Self.randomBytes))
    let upload = ConsoleUpload(
      name: name, file: String(decoding: file.utf8.prefix(Self.longestFileName), as: UTF8.self), size: bytes.count)
    for (place, start) in stride(from: 0, to: bytes.count, by: Self.pieceBytes).enumerated() {
      try await write(
        bytes[start..<min(bytes.count, start + Self.pieceBytes)], under: keys.consoleUpload(name, String(place)))
    }
    // The head comes last: a file that is found is whole.
    try await write(Head(upload, app, key).packed[...], under: keys.consoleUpload(name))
    var command = RedisCommand("SET", keys.consoleUploads(app, key), name, "PX")
    command.append(Self.milliseconds)
    command.append("GET")
    if let former = try await ask(command).text, isName(former) { try await forget(former) }
    return upload
  }

  /// Nil: there is none of this name, it is another key's, or its time is over.
  package func find(_ name: String, key: String, app: AppID) async throws(StoreError) -> ConsoleUpload? {
    guard isName(name), let bytes = try await ask(RedisCommand("GET", keys.consoleUpload(name))).bytes,
      let head = try? Head(bytes, name), head.app == app, head.key == key
    else { return nil }
    return head.upload
  }

  /// Nil: a part of it is gone.
  package func bytes(of upload: ConsoleUpload) async throws(StoreError) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(upload.size)
    for place in 0..<pieces(of: upload.size) {
      guard let piece = try await ask(RedisCommand("GET", keys.consoleUpload(upload.name, String(place)))).bytes else {
        return nil
      }
      bytes += piece
    }
    return bytes.count == upload.size ? bytes : nil
  }

  /// Keeps what became of it: at most `longestNote` bytes. The upload lives as long from now on; its head is written
  /// again, as its time may have ended during the import.
  package func note(
    _ note: [UInt8], of upload: ConsoleUpload, key: String, app: AppID
  ) async throws(StoreError) {
    try await write(note.prefix(Self.longestNote), under: keys.consoleUpload(upload.name, Self.noteName))
    try await write(Head(upload, app, key).packed[...], under: keys.consoleUpload(upload.name))
    let names =
      [keys.consoleUploads(app, key)]
      + (0..<pieces(of: upload.size)).map { keys.consoleUpload(upload.name, String($0)) }
    _ = try await ask(names.map { RedisCommand("PEXPIRE", $0, String(Self.milliseconds)) })
  }

  /// What `note` has kept.
  package func note(of upload: ConsoleUpload) async throws(StoreError) -> [UInt8]? {
    try await ask(RedisCommand("GET", keys.consoleUpload(upload.name, Self.noteName))).bytes
  }

  // MARK: Parts

  private static let noteName = "note"

  private func pieces(of size: Int) -> Int { (size + Self.pieceBytes - 1) / Self.pieceBytes }

  private func isName(_ text: String) -> Bool {
    text.utf8.count == 2 * Self.randomBytes
      && text.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
  }

  private func write(_ bytes: ArraySlice<UInt8>, under key: String) async throws(StoreError) {
    var command = RedisCommand("SET", key)
    command.append(bytes)
    command.append("PX")
    command.append(Self.milliseconds)
    _ = try await ask(command)
  }

  private func forget(_ name: String) async throws(StoreError) {
    let names = (0..<pieces(of: Self.longest)).map { keys.consoleUpload(name, String($0)) }
    _ = try await ask(
      RedisCommand(words: ["UNLINK", keys.consoleUpload(name), keys.consoleUpload(name, Self.noteName)] + names))
  }

  private struct Head {
    var upload: ConsoleUpload
    var app: AppID
    var key: String

    init(_ upload: ConsoleUpload, _ app: AppID, _ key: String) {
      (self.upload, self.app, self.key) = (upload, app, key)
    }

    var packed: [UInt8] {
      var packer = Packer()
      packer.text(app.rawValue)
      packer.text(key)
      packer.text(upload.file)
      packer.number(upload.size)
      return packer.bytes
    }

    init(_ packed: [UInt8], _ name: String) throws(Corrupt) {
      var reader = Unpacker(packed)
      app = AppID(rawValue: try reader.text())
      key = try reader.text()
      upload = ConsoleUpload(name: name, file: try reader.text(), size: try reader.int())
      guard reader.isAtEnd, upload.size <= ConsoleUploads.longest else { throw Corrupt() }
    }
  }
}
