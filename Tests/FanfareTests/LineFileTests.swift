import Foundation
import Glibc
import Support
import Testing

@testable import fanfare

@Suite("A file is read line by line")
struct LineFileTests {
  private func text(_ line: [UInt8]?) -> String? { line.map { String(decoding: $0, as: UTF8.self) } }

  @Test("lines have their numbers, however long they are, and the last one needs no end")
  func lines() throws {
    let directory = try TemporaryDirectory()
    let file = directory.file("lines")
    let long = String(repeating: "é", count: 1_500_000)
    try Array("a\n\n\(long)\r\nlast".utf8).withUnsafeBytes { bytes in
      let target = open(file.path, O_WRONLY | O_CREAT, 0o600)
      defer { close(target) }
      try #require(write(target, bytes.baseAddress, bytes.count) == bytes.count)
    }
    let lines = try LineFile(file.path)
    for (number, expected) in ["a", "", long + "\r", "last"].enumerated() {
      #expect(text(try lines.next()) == expected)
      #expect(lines.number == number + 1)
    }
    #expect(try lines.next() == nil)
    #expect(try lines.next() == nil)
  }

  @Test("what cannot be read is no end of the file: not a folder, not a file that is not there, not a fault midway")
  func faults() throws {
    let directory = try TemporaryDirectory()
    let folder = try LineFile(directory.url.path)
    #expect(throws: LineFile.Fault.self) { try folder.next() }
    #expect(throws: LineFile.Fault.self) { try LineFile(directory.file("none").path) }

    // The one end of a terminal gives what was written at the other, and then an I/O error.
    var (reader, writer): (Int32, Int32) = (-1, -1)
    try #require(openpty(&reader, &writer, nil, nil, nil) == 0)
    let lines = LineFile(taking: reader)
    try #require(write(writer, "one\ntwo\nhal", 11) == 11)
    close(writer)
    #expect(text(try lines.next()) == "one\r")
    #expect(text(try lines.next()) == "two\r")
    let fault = #expect(throws: LineFile.Fault.self) { try lines.next() }
    #expect(fault?.reason == String(cString: strerror(EIO)))
    #expect(lines.number == 2)
  }
}
