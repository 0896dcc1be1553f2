import Domain
import Foundation
import JSON
import Support
import Testing

extension Journeys {
  @Test(
    "devices and messages are listed with filters and pages, exported as tables by ?format=csv, and a table that another program wrote is imported by its own columns"
  )
  func lists() async throws {
    let world = try await World()
    let tool = Tool(gateway: try await world.gateway(), world: world)
    let client = tool.gateway.client

    // A table from elsewhere: semicolons, a mark in front, quotes, a line break in a cell, columns of other names.
    let table =
      "\u{FEFF}Kunde;Push Token;Labels;Stadt;Notiz\r\n"
      + (0..<450).map {
        #"k\#($0 % 150);\#(Tokens.fcm($0));plan:\#($0 % 3 == 0 ? "pro" : "free") beta;"Bad ""\#($0)""";"two\#nlines"\#r\#n"#
      }
      .joined()
    let file = world.directory.file("kunden.csv")
    try table.write(to: file, atomically: true, encoding: .utf8)
    let unmapped = try await tool.run("devices", "import", file.path, "--set", "provider=fcm", exit: 5)
    for name in ["Kunde", "Labels", "Stadt", "Notiz"] {
      #expect(unmapped.contains("unknown column `\(name)`"), "\(unmapped)")
    }
    let options = ["--map", "Kunde=user", "--map", "Labels=tags", "--map", "Stadt=attributes.city", "--map", "Notiz=-"]
    let words = ["devices", "import", file.path, "--set", "provider=fcm", "--batch", "100"] + options
    #expect(try await tool.start(words).end(0).contains("450 devices registered (450 created)"))
    #expect(try await tool.count("plan:pro") == 150)

    // Each device once, over pages of any size, with and without filters.
    for (query, expected) in [
      ("", 450), ("&tag=plan:pro", 150), ("&user=k7", 3), ("&status=dead", 0), ("&provider=fcm,apns", 450),
    ] {
      var ids: [String] = []
      var cursor: String?
      repeat {
        let page = try await client.get("/v1/devices?limit=70\(query)" + (cursor.map { "&cursor=\($0)" } ?? ""))
        #expect(page.status == 200, "\(page.text)")
        let items = page.json["items"]?.array ?? []
        #expect(items.count <= 70)
        ids += items.compactMap { $0["id"]?.string }
        cursor = page.json["next_cursor"]?.string
      } while cursor != nil
      #expect(ids.count == expected && Set(ids).count == expected, "\(query): \(ids.count)")
    }
    let listed = try await tool.run("devices", "list", "--user", "k7")
    #expect(listed.split(separator: "\n").count == 4 && listed.contains("\tplan:"), "\(listed)")
    let id = try #require(listed.split(separator: "\n").last?.split(separator: "\t").first.map(String.init))
    #expect(try await tool.run("devices", "show", id).contains(#"{"city":"Bad \""#))
    #expect(try await tool.run("users", "show", "k7").contains(id))
    #expect(try await tool.run("tags", "--csv").contains("plan:pro,150"))

    // What is exported as a table is imported again as it was.
    let first = try await client.get("/v1/devices/export?format=csv").text
    #expect(first.split(separator: "\r\n").count == 451, "\(first.prefix(400))")
    let copy = world.directory.file("copy.csv")
    try first.write(to: copy, atomically: true, encoding: .utf8)
    #expect(try await tool.run("devices", "import", copy.path).contains("(450 updated)"))
    #expect(
      try await client.get("/v1/devices/export?format=csv").text.split(separator: "\r\n").sorted()
        == first.split(separator: "\r\n").sorted())
    let broken = try await client.call(
      "POST", "/v1/devices/bulk?set=provider:fcm", "token,enabled\nx1,perhaps\n\"x2\n",
      headers: [.init("content-type", "text/csv")])
    #expect(broken.status == 200 && broken.text.contains(#""code":"malformed_csv""#), "\(broken.text)")

    // Messages by name, label, audience, state and time.
    let spring = try await tool.gateway.send(
      #"{"to":{"audience":"plan:pro && beta"},"notification":{"title":"T"},"name":"Spring Sale","topic":"offers","cap":{"max":15,"per":"day"},"labels":{"campaign":"spring"}}"#
    )
    // The list is by milliseconds: each message is accepted in one of its own.
    _ = try await tool.gateway.completed(spring)
    let direct = try await tool.gateway.send(
      #"{"to":{"devices":["\#(id)"]},"notification":{"title":"T"},"name":"Hello"}"#)
    _ = try await tool.gateway.completed(direct)
    let unnamed = try await tool.gateway.send(#"{"to":{"devices":["\#(id)"]},"notification":{"title":"T"}}"#)
    _ = try await tool.gateway.completed(unnamed)
    let at = try #require(MessageID(direct)).acceptedAt.rfc3339
    for (query, ids) in [
      ("name=sale", [spring]), ("name=HELLO", [direct]), ("audience=plan:pro", [spring]), ("topic=offers", [spring]),
      ("topic=offer", []),
      ("audience=beta%20%26%26%20plan:free", []),
      ("audience=plan:pro%20%26%26%20beta", [spring]), ("state=completed&label=campaign:spring", [spring]),
      ("state=scheduled,paused", []), ("from=\(at)", [unnamed, direct]), ("to=\(at)", [spring]),
    ] as [(String, [String])] {
      let page = try await client.get("/v1/messages?\(query)")
      #expect(page.json["items"]?.array?.compactMap { $0["id"]?.string } == ids, "\(query): \(page.text.prefix(400))")
    }
    #expect(try await tool.run("messages", "list", "--name", "sale", "--topic", "offers").contains("Spring Sale"))
    #expect(
      try await client.get("/v1/messages?format=csv").text.contains(
        "\(spring),Spring Sale,(plan:pro && beta),completed,alert,"))
    let deliveries = try await tool.run("messages", "deliveries", spring, "--state", "accepted", "--csv")
    let rows = deliveries.split(separator: "\r\n").map { $0.split(separator: ",", omittingEmptySubsequences: false) }
    #expect(rows.count == 151 && rows.dropFirst().allSatisfy { $0[1].hasPrefix("k") }, "\(deliveries.prefix(400))")
    #expect(try await tool.run("messages", "deliveries", direct).contains("\(id)\tk7\tfcm\t"))
    let timeline = try await tool.run("devices", "timeline", id)
    #expect(timeline.contains("\(direct)\tHello\talert\t") && timeline.contains("\(unnamed)\t\talert\t"), "\(timeline)")
    let later = WallTime(seconds: Int64(Date().timeIntervalSince1970) + 86_400).rfc3339
    let waiting = try await tool.gateway.send(
      #"{"to":{"everyone":true},"notification":{"title":"T"},"name":"Spring Sale","send_at":"\#(later)"}"#)
    let copied = try await client.post("/v1/messages/\(waiting)/duplicate", "")
    #expect(
      copied.json["name"]?.string == "Copy of Spring Sale" && copied.json["message"]?["name"] == nil, "\(copied.text)")

    // All that is wrong with a query, at once.
    let wrong = try await client.get("/v1/messages?limit=0&stat=sent&state=sent&from=today&format=xml")
    #expect(
      wrong.status == 400
        && wrong.json["violations"]?.array?.compactMap { $0["parameter"]?.string } == [
          "limit", "stat", "state", "from", "format",
        ], "\(wrong.text)")

    #expect(try await tool.run("devices", "delete", id).contains("is deleted"))
    _ = try await tool.run("devices", "show", id, exit: 5)
  }

  @Test(
    "messages tail tells each message and each change as it comes, also over a restart of the server, and ends with ctrl-C"
  )
  func tail() async throws {
    let world = try await World()
    let gateway = try await world.gateway()
    let environment = ["FANFARE_URL": gateway.client.base, "FANFARE_KEY": gateway.client.key ?? ""]
    let before = try await gateway.send(
      #"{"to":{"tokens":[{"provider":"fcm","token":"t1"}]},"notification":{"title":"T"},"name":"One"}"#)
    _ = try await gateway.completed(before)
    let tail = try ChildProcess(World.program, ["messages", "tail"], environment: environment)
    _ = try await tail.line { $0.contains(before) && $0.contains("completed") && $0.contains("\"One\"") }
    let later = WallTime(seconds: Int64(Date().timeIntervalSince1970) + 86_400).rfc3339
    let next = try await gateway.send(
      #"{"to":{"tokens":[{"provider":"fcm","token":"t2"}]},"notification":{"title":"T"},"send_at":"\#(later)"}"#)
    _ = try await tail.line { $0.contains(next) && $0.contains("scheduled") }
    #expect(try await gateway.client.post("/v1/messages/\(next)/cancel", "").status == 200)
    _ = try await tail.line { $0.contains(next) && $0.contains("cancelled") }
    let waiting = try await gateway.send(
      #"{"to":{"tokens":[{"provider":"fcm","token":"t3"}]},"notification":{"title":"T"},"send_at":"\#(later)"}"#)
    _ = try await tail.line { $0.contains(waiting) && $0.contains("scheduled") }

    // The server goes away. Meanwhile another one, of the same Redis, takes more messages than a page shows.
    gateway.process.signal(SIGTERM)
    #expect(await gateway.process.waitForExit() == 0)
    _ = try await tail.line { $0.contains("cannot reach the server; waiting for it") }
    let other = try await world.gateway()
    #expect(try await other.client.post("/v1/messages/\(waiting)/cancel", "").status == 200)
    var sent: [String] = []
    for number in 0..<70 {
      sent.append(
        try await other.send(
          #"{"to":{"tokens":[{"provider":"fcm","token":"m\#(number)"}]},"notification":{"title":"T"}}"#))
    }
    for id in sent { _ = try await other.completed(id) }
    other.process.signal(SIGTERM)
    #expect(await other.process.waitForExit() == 0)
    let port = try #require(gateway.client.base.split(separator: ":").last)
    try world.edit { $0.replacingOccurrences(of: "port: 0", with: "port: \(port)") }
    let again = try await world.gateway()
    #expect(again.client.base == gateway.client.base)
    _ = try await tail.line { $0.contains("the server is back") }
    let last = try await again.send(
      #"{"to":{"tokens":[{"provider":"fcm","token":"last"}]},"notification":{"title":"T"}}"#)
    _ = try await tail.line { $0.contains(last) && $0.contains("completed") }
    _ = try await tail.line { $0.contains(waiting) && $0.contains("cancelled") }
    tail.signal(SIGINT)
    #expect(await tail.waitForExit() == 0, "\(tail.text)")
    let lines = tail.text.split(separator: "\n")
    func told(_ id: String, _ state: String) -> Int { lines.count { $0.contains(id) && $0.contains(state) } }
    for id in sent {
      #expect(told(id, "completed") == 1 && lines.count { $0.contains(id) } == 1, "\(id): \(tail.text)")
    }
    for id in [next, waiting] { #expect(told(id, "scheduled") == 1, "\(tail.text)") }
    #expect(told(before, "completed") == 1 && lines.count { $0.contains(before) } == 1, "\(tail.text)")
  }

  @Test("fanfare login keeps a server and its key where only the user can read them; no key goes to another server")
  func login() async throws {
    let world = try await World()
    let gateway = try await world.gateway()
    let folder = world.directory.file("config")
    func fanfare(_ script: String, exit: Int32 = 0, _ more: [String: String] = [:]) async throws -> String {
      var environment = more
      environment["XDG_CONFIG_HOME"] = folder.path
      for name in ["FANFARE_URL", "FANFARE_KEY", "FANFARE_PROFILE"] where more[name] == nil { environment[name] = "" }
      let run = try ChildProcess(
        URL(filePath: "/bin/sh"), ["-c", script, World.program.path, gateway.client.base, gateway.client.key ?? ""],
        environment: environment)
      #expect(await run.waitForExit() == exit, "\(script): \(run.text)")
      return run.text
    }
    #expect(try await fanfare(#"echo fk_wrong | "$0" login --url "$1""#, exit: 5).contains("nothing was saved"))
    #expect(try await fanfare(#""$0" messages list"#, exit: 2).contains("fanfare login"))
    _ = try await fanfare(#"echo "$2" | "$0" login --url "$1""#)
    let file = folder.appending(path: "fanfare/profiles.json")
    let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    #expect(try await fanfare(#""$0" messages list"#).contains("no message matches"))
    // Another server is asked with no key of this one, but refused before.
    #expect(
      try await fanfare(#""$0" messages list --url http://127.0.0.1:1"#, exit: 2).contains("needs an API key"))
    #expect(
      try await fanfare(#""$0" messages list"#, exit: 2, ["FANFARE_URL": "http://127.0.0.1:1"]).contains("an API key"))
    let spare = folder.appending(path: "spare.key").path
    try (gateway.client.key ?? "").write(toFile: spare, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: spare)
    _ = try await fanfare(#""$0" login --profile spare --url "$1" --key-file "$XDG_CONFIG_HOME/spare.key""#)
    #expect(try await fanfare(#""$0" profiles"#).contains("spare\t\(gateway.client.base)"))
    #expect(
      try await fanfare(#""$0" messages list --profile spare"#, ["FANFARE_URL": "http://127.0.0.1:1"]).contains(
        "no message matches"))
    #expect(try await fanfare(#""$0" messages list --profile spar"#, exit: 2).contains("did you mean spare?"))
    _ = try await fanfare(#""$0" logout"#)
    #expect(try await fanfare(#""$0" messages list"#, exit: 2).contains("needs an API key"))
  }
}
