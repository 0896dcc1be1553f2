import Domain
import Foundation
import JSON
import Support
import Testing

extension Journeys {
  @Test(
    "a table is imported past a quote that does not end; what has no column is kept or said to go; a file of another kind is named"
  )
  func tableImport() async throws {
    let world = try await World()
    let tool = Tool(gateway: try await world.gateway(), world: world)
    let rejects = world.directory.file("rejects.csv")
    let table = try world.write(
      ["id,provider,token,user,tags"]
        + (1...60).map { "d\($0),fcm,\($0 == 20 ? "\"" : "")\(Tokens.fcm($0)),u\($0),pro" } + ["d61,fcm"],
      to: "contacts.csv")
    let told = try await tool.run("devices", "import", table, "--rejects", rejects.path, exit: 1)
    #expect(told.contains("59 devices registered (59 created)") && told.contains("2 lines refused"), "\(told)")
    #expect(told.contains("line 21: The row has an opening quote without a closing one"), "\(told)")
    #expect(told.contains("line 62: "), "\(told)")
    #expect(told.contains("no column for `attributes`"), "\(told)")
    let kept = try String(contentsOf: rejects, encoding: .utf8).split(separator: "\n")
    #expect(kept.count == 3 && kept[1].hasPrefix("d20,fcm,\"") && kept[2] == "d61,fcm", "\(kept)")

    // The user and the tags have no column any more.
    let newer = try world.write(
      ["id,provider,token,language"] + (1...10).map { "d\($0),fcm,\(Tokens.fcm($0)),de" }, to: "newer.csv")
    let keeping = try await tool.run("devices", "import", newer, "--keep-missing")
    #expect(keeping.contains("10 updated") && !keeping.contains("no column"), "\(keeping)")
    #expect(try await tool.count("pro && lang:de") == 10)
    let trial = try await tool.run("devices", "import", newer, "--dry-run")
    #expect(trial.contains("10 devices would be registered (10 updated)"), "\(trial)")
    #expect(trial.contains("nothing is registered"), "\(trial)")
    #expect(try await tool.count("pro && lang:de") == 10)
    let clearing = try await tool.run("devices", "import", newer)
    #expect(clearing.contains("no column for `tags`, `attributes`, `user`, `tz`, `platform`, "), "\(clearing)")
    #expect(try await tool.count("pro && lang:de") == 0)

    let same = try await tool.run("devices", "import", table, "--rejects", table, exit: 2)
    #expect(same.contains("--rejects would overwrite"), "\(same)")

    let named = try world.write(["id,provider,token", "x,fcm,y"], to: "contacts.txt")
    #expect(try await tool.run("devices", "import", named, exit: 2).contains("looks like CSV: add --csv"))
    let lines = try world.write([#"{"id":"x","provider":"fcm","token":"y"}"#], to: "contacts.ndjson")
    let mapped = try await tool.run("devices", "import", lines, "--map", "a=user", exit: 2)
    #expect(mapped.contains("--map and --set are for CSV"), "\(mapped)")
    let misspelt = try await tool.run("devices", "import", table, "--map", "uesr=user", exit: 5)
    #expect(misspelt.contains("did you mean `user`?"), "\(misspelt)")

    // What the server refuses as a whole loses nothing.
    #expect(misspelt.hasPrefix("fanfare: the server refused it") && !misspelt.contains("no column for"), "\(misspelt)")
    #expect(!misspelt.contains("registered") && !misspelt.contains("repeat"), "\(misspelt)")

    // Columns are known as the server knows them.
    let spelt = try world.write(
      ["ID,Provider,Token,User ID,App Version,Attributes.name", "y,fcm,\(Tokens.fcm(98)),u,2.1,Ana"], to: "spelt.csv")
    let known = try await tool.run("devices", "import", spelt)
    #expect(known.contains("no column for `tags`, `language`, `tz`, `platform`, `last_seen_at`:"), "\(known)")

    let off = try world.write(["id,provider,token,enabled", "off,fcm,\(Tokens.fcm(99)),no"], to: "off.csv")
    _ = try await tool.run("devices", "import", off)
    let unreached = try await tool.run("send", "--device", "off", "--title", "x", "--wait", "60", exit: 1)
    #expect(unreached.contains("1 skipped (device_disabled)"), "\(unreached)")
    let rows = ["id,provider,token"] + ["off", "p", "q", "p"].map { "\($0),fcm,\(Tokens.fcm($0 == "off" ? 99 : 97))" }
    let twice = try await tool.run("devices", "import", try world.write(rows, to: "twice.csv"))
    #expect(twice.contains("1 device stays disabled"), "\(twice)")
    #expect(twice.contains("2 devices registered (1 created, 1 updated)"), "\(twice)")
    #expect(
      twice.contains("2 lines with the id or token of an earlier line; the later one counts: lines 4 (as line 3), 5"),
      "\(twice)")

    // Empty lines before the head are none of its lines, however many requests it takes.
    let late = try world.write(
      ["\r", " ", "id;provider;token\r"] + (301...303).map { "l\($0);fcm;\(Tokens.fcm($0))\r" }, to: "late.csv")
    let passed = try await tool.run("devices", "import", late, "--batch", "1", "--json")
    let figures = try #require(Tool.documents(passed).last)
    #expect(figures["complete"]?.bool == true && figures["created"]?.integer == 3, "\(passed)")
    #expect(figures["lines"]?.integer == 6, "\(passed)")

    // What holds nothing, and a file for rejects that cannot be one.
    for (name, lines) in [("empty.csv", [String]()), ("head.csv", ["id,provider,token"]), ("empty.ndjson", [""])] {
      let empty = try await tool.run("devices", "import", try world.write(lines, to: name), exit: 1)
      #expect(empty.contains("holds no \(name.hasSuffix("csv") ? "row" : "line"): nothing is imported"), "\(empty)")
    }
    let unwritable = try await tool.run(
      "devices", "import", table, "--rejects", world.directory.file("none/rejects.csv").path, exit: 2)
    #expect(unwritable.contains("cannot be written: No such file"), "\(unwritable)")

    // All devices, dead ones too, as a table: what comes out goes in.
    let all = world.directory.file("all.csv")
    try await tool.run("devices", "list", "--csv").write(to: all, atomically: true, encoding: .utf8)
    let back = try await tool.run("devices", "import", all.path)
    #expect(back.contains("1 line skipped: its device is dead"), "\(back)")
    #expect(try await tool.run("devices", "list", "--csv", "--limit", "3").split(separator: "\r\n").count == 4)
    let several = try await tool.run("devices", "list", "--user", "u1,u7")
    #expect(several.contains("--user takes one user"), "\(several)")
    let mistaken = try await tool.run("send", "--user", "u1,u7", "--title", "x")
    #expect(mistaken.contains("list each separately"), "\(mistaken)")
    let keyed = try await tool.run("audience", "count", "tags:beta")
    #expect(keyed.contains("a tag is written without `tags:`: did you mean `beta`?"), "\(keyed)")
  }
}
