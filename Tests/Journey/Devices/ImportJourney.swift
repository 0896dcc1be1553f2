import Domain
import Foundation
import JSON
import Support
import Testing

extension Journeys {
  @Test(
    "devices import tells each broken line by its number, over all batches, keeps them for another try, and ends well only if all was read and taken"
  )
  func brokenImport() async throws {
    let world = try await World()
    let tool = Tool(gateway: try await world.gateway(), world: world)
    var lines = (1...450).map { #"{"id":"d\#($0)","provider":"fcm","token":"\#(Tokens.fcm($0))","tags":["t"]}"# }
    lines[6] += "\r"
    lines[102] = " "
    let broken = [
      1: "no JSON", 100: #"{"id":"d100","provider":"fcm""#, 101: #"{"id":"d101","provider":"fmc","token":"x"}"#,
      250: #"{"id":"d250","provider":"fcm","token":"x","tags":"t"}"#,
      330: #"{"id":"d330","provider":"fcm","token":"x","registered_at":"2999-01-01T00:00:00Z"}"#,
      450: #"{"id":"d450","provider":"fcm"}"#,
    ]
    for (number, line) in broken { lines[number - 1] = line }
    let numbers = broken.keys.sorted()
    let taken = 450 - broken.count - 1
    let file = try world.write(lines, to: "devices.ndjson")
    let rejects = world.directory.file("rejects.ndjson")
    func kept() throws -> [String] {
      try String(contentsOf: rejects, encoding: .utf8).split(separator: "\n").map(String.init)
    }

    let first = try await tool.run("devices", "import", file, "--batch", "100", "--rejects", rejects.path, exit: 1)
    #expect(first.matches(of: /(?m)^line (\d+): ./).map { Int($0.1) } == numbers, "\(first)")
    for told in ["line 101: `provider`", "line 330: `registered_at`", "line 450: `token`"] {
      #expect(first.contains(told), "\(first)")
    }
    #expect(first.contains("\(taken) devices registered (\(taken) created)"), "\(first)")
    #expect(first.contains("\(broken.count) lines refused"), "\(first)")
    #expect(try kept() == numbers.map { broken[$0] })
    #expect(try await tool.count("t") == taken)

    // Repeated as a whole, and from standard input.
    let again = try await tool.shell(#""$0" devices import - --batch 64 --json < "$FILE""#, exit: 1, ["FILE": file])
    let report = Tool.documents(again).first
    for (member, number) in [("lines", 450), ("registered", taken), ("updated", taken), ("refused", broken.count)] {
      #expect(report?[member]?.integer == Int64(number), "\(member): \(again)")
    }
    #expect(report?["complete"] == .bool(true), "\(again)")

    // What was kept, once it is mended.
    try numbers.map { #"{"id":"d\#($0)","provider":"fcm","token":"\#(Tokens.fcm($0))","tags":["t"]}"# }
      .joined(separator: "\n").write(to: rejects, atomically: true, encoding: .utf8)
    #expect(try await tool.run("devices", "import", rejects.path).contains("(\(broken.count) created)"))
    #expect(try await tool.count("t") == taken + broken.count)

    // What stops it midway loses nothing of what was refused before.
    try FileManager.default.removeItem(at: rejects)
    let long = #"{"id":"\#(String(repeating: "x", count: 21 << 20))"}"#
    let stopping = try world.write([lines[1], broken[100] ?? "", long, lines[2]], to: "stopping.ndjson")
    let stopped = try await tool.run(
      "devices", "import", stopping, "--batch", "2", "--rejects", rejects.path, "--json", exit: 5)
    #expect(try kept() == [broken[100]])
    #expect(stopped.contains("lines 1–2 are imported, except the refused ones"), "\(stopped)")
    #expect(stopped.contains("line 3 and later lines are not imported"), "\(stopped)")
    let stop = Tool.documents(stopped).last
    #expect(stop?["complete"] == .bool(false) && stop?["lines"] == .integer(2), "\(stopped)")

    // What cannot be read, asked or written is no success.
    let folder = try await tool.run("devices", "import", world.directory.url.path, exit: 1)
    #expect(folder.contains("cannot be read: Is a directory") && folder.contains("nothing is imported"), "\(folder)")
    #expect(try await tool.run("devices", "import", file + ".gone", exit: 2).contains("there is no file"))
    let locked = try await tool.run("devices", "import", file, exit: 5, key: "fk_wrong")
    #expect(locked.contains("nothing is imported"), "\(locked)")
    let nowhere = world.directory.file("none/rejects").path
    let unkept = try await tool.run("devices", "import", file, "--rejects", nowhere, exit: 2)
    #expect(unkept.contains("\(nowhere) cannot be written") && unkept.contains("nothing is imported"), "\(unkept)")
    let unheard = try await tool.run("devices", "import", file, "--url", "http://127.0.0.1:1", exit: 4)
    #expect(unheard.contains("nothing is imported") && !unheard.contains("may be imported"), "\(unheard)")
    let full = try await tool.shell(#""$0" devices export > /dev/full"#, exit: 1)
    #expect(full.contains("cannot write all devices"), "\(full)")
  }

  /// A crowd of devices, half of them without an id of their own, known by their number.
  private struct Upload {
    static let size = 12_000
    static let batch = 500
    static let broken = #"{"provider":"fcm"}"#

    static func tags(_ number: Int) -> [String] {
      ["all", "seventh:\(number % 7)"] + (number % 3 == 0 ? ["third"] : [])
    }
    static func line(_ number: Int) -> String {
      let id = number % 2 == 0 ? #""id":"d\#(number)","# : ""
      let tags = tags(number).map { "\"\($0)\"" }.joined(separator: ",")
      return
        #"{\#(id)"provider":"fcm","token":"\#(Tokens.fcm(number))","user":"u\#(number / 4)","tags":[\#(tags)]}"#
    }
    /// A line that is wrong, and all devices.
    static var lines: [String] { [broken] + (0..<size).map(line) }
    static var counts: [String: Int] {
      (0..<size).flatMap(tags).reduce(into: [:]) { $0[$1, default: 0] += 1 }
    }
  }

  enum Victim: CaseIterable { case gateway, command }

  @Test(
    "an import that is killed and repeated leaves each device once, exact counts, and a clean registry",
    arguments: Victim.allCases)
  func killedImport(_ victim: Victim) async throws {
    let world = try await World()
    let first = Tool(gateway: try await world.gateway(), world: world)
    let file = try world.write(Upload.lines, to: "devices.ndjson")
    let rejects = world.directory.file("rejects.ndjson")
    let words = ["devices", "import", file, "--batch", String(Upload.batch), "--rejects", rejects.path]
    let upload = try first.start(words)
    // More than the first batch has: that one was answered.
    try await first.gateway.until("the second batch") { _ in try await first.count() > Upload.batch }
    let second: Tool
    switch victim {
    case .gateway:
      await first.gateway.process.destroy()
      let told = try await upload.end(4)
      // A batch was at work, or the next one had not begun.
      #expect(
        told.contains("may be imported; later lines are not") || told.contains("and later lines are not imported"),
        "\(told)")
      #expect(told.contains("cannot reach"), "\(told)")
      // What was refused until then is kept.
      #expect(try String(contentsOf: rejects, encoding: .utf8) == Upload.broken + "\n")
      second = Tool(gateway: try await world.gateway(), world: world)
    case .command:
      await upload.process.destroy()
      second = first
    }
    let before = try await second.count()
    #expect(before < Upload.size, "the kill came too late to prove anything")

    let again = try await second.run("devices", "import", file, "--json", exit: 1)
    let report = Tool.documents(again).last
    #expect(report?["registered"]?.integer == Int64(Upload.size) && report?["refused"] == .integer(1), "\(again)")
    #expect(report?["complete"] == .bool(true), "\(again)")

    #expect(try await second.count() == Upload.size)
    let export = try await second.gateway.client.get("/v1/devices/export")
    let devices = Tool.documents(export.text)
    #expect(devices.count == Upload.size)
    #expect(difference(devices.compactMap { $0["token"]?.string }, from: (0..<Upload.size).map(Tokens.fcm)) == nil)
    #expect(Set(devices.compactMap { $0["id"]?.string }).count == Upload.size)
    let tags = try await second.gateway.client.get("/v1/tags?limit=1000").json["items"]?.array ?? []
    let told = Dictionary(
      tags.map { ($0["tag"]?.string ?? "", Int($0["device_count"]?.integer ?? 0)) }, uniquingKeysWith: +)
    #expect(told == Upload.counts)
    for (tag, count) in Upload.counts { #expect(try await second.count(tag) == count) }
    for user in [0, Upload.size / 8, Upload.size / 4 - 1] {
      let answer = try await second.gateway.client.get("/v1/users/u\(user)")
      #expect(answer.json["devices"]?.array?.count == 4, "\(answer.text)")
    }
    try await second.run("devices", "reindex")
  }
}
