import Domain
import Foundation
import JSON
import Support
import Testing

/// An editor that writes what a test has laid down for it.
private let editor = """
  #!/bin/sh
  # Each call takes the next text of the folder, so that a test says what somebody writes.
  for text in "$TEXTS"/*; do cp "$1" "$SEEN"; cp "$text" "$1"; rm "$text"; break; done
  """

extension Journeys {
  @Test(
    "what somebody wrote in the editor outlives broken JSON, a refusal, a change of somebody else and a failing editor: it is kept, the other's change is shown, and it can be gone on with"
  )
  func draftEdit() async throws {
    let world = try await World()
    let gateway = try await world.gateway()
    let texts = world.directory.file("texts")
    let state = world.directory.file("state")
    try FileManager.default.createDirectory(at: texts, withIntermediateDirectories: true)
    let script = world.directory.file("editor.sh")
    try editor.write(to: script, atomically: true, encoding: .utf8)
    let seen = world.directory.file("seen.json")
    let environment = [
      "FANFARE_URL": gateway.client.base, "FANFARE_KEY": gateway.client.key ?? "", "VISUAL": "",
      "EDITOR": "sh \(script.path)", "TEXTS": texts.path, "SEEN": seen.path, "XDG_STATE_HOME": state.path,
    ]
    func fanfare(_ words: String..., more: [String: String] = [:], exit: Int32 = 0) async throws -> String {
      let run = try ChildProcess(World.program, words, environment: environment.merging(more) { $1 })
      let code = await run.waitForExit()
      #expect(code == exit, "fanfare \(words): \(run.text)")
      return run.text
    }
    func write(_ text: String, _ name: String = "1") throws {
      try text.write(to: texts.appending(path: name), atomically: true, encoding: .utf8)
    }
    func kept() -> [String] {
      let files = try? FileManager.default.contentsOfDirectory(atPath: state.appending(path: "fanfare").path)
      return (files ?? []).sorted()
    }
    /// The command that goes on, as it was printed.
    func goOn(_ text: String) throws -> String {
      try #require(text.firstMatch(of: /continue with: fanfare (drafts edit .*)/), "\(text)").1.description
    }

    let made = try await gateway.client.post(
      "/v1/drafts", #"{"message":{"to":{"everyone":true},"notification":{"title":"Sale","body":"Today"}}}"#)
    let id = try #require(made.json["id"]?.string)

    // Broken JSON: kept, with the place of the fault, and the way on.
    let broken = #"{"to":{"everyone":true},"notification":{"title":"A long text" "body":"lost?"}}"#
    try write(broken)
    let first = try await fanfare("drafts", "edit", id, exit: 1)
    #expect(first.contains("is not JSON") && kept() == ["\(id).json"], "\(first) \(kept())")
    #expect(try String(contentsOf: seen, encoding: .utf8).contains("\n    \"title\": \"Sale\","), "one field a line")
    let file = state.appending(path: "fanfare/\(id).json")
    #expect(try String(contentsOf: file, encoding: .utf8) == broken)
    #expect(try goOn(first) == "drafts edit \(id) --file \(file.path) --version 1")

    // An editor that does not end well, and one that is not there: nothing of the work goes.
    try write("{}")
    let failed = try await fanfare("drafts", "edit", id, more: ["EDITOR": "sh -c 'echo x >> $0; exit 3'"], exit: 1)
    #expect(failed.contains("an earlier edit of this draft is kept in \(file.path)") && kept().count == 2, "\(failed)")
    let absent = try await fanfare("drafts", "edit", id, more: ["EDITOR": "/nowhere/editor"], exit: 1)
    #expect(absent.contains("no editor could be started") && kept().count == 2, "\(absent)")

    // Refused by the server, while somebody else changes the draft; then the conflict shows what that was.
    try write(#"{"to":{"everyone":true},"notification":{"titel":"Mine"}}"#)
    #expect(try await fanfare("drafts", "edit", id, exit: 5).contains("did you mean `title`?"))
    let mine = #"{"to":{"everyone":true},"notification":{"title":"Mine","body":"Today"}}"#
    try write(mine)
    let other =
      #"{"name":"Renamed","message":{"to":{"everyone":true},"notification":{"title":"Sale","body":"Tomorrow"}}}"#
    let change =
      "curl -fsS -X PUT -H 'content-type: application/json' -H 'if-match: *' -H \"authorization: Bearer "
      + "$FANFARE_KEY\" -d '\(other)' $FANFARE_URL/v1/drafts/\(id) > /dev/null"
    let meddler = world.directory.file("meddler.sh")
    try (editor + "\n" + change + "\n").write(to: meddler, atomically: true, encoding: .utf8)
    let conflict = try await fanfare("drafts", "edit", id, more: ["EDITOR": "sh \(meddler.path)"], exit: 5)
    #expect(
      conflict.contains(#"-     "body": "Today""#) && conflict.contains(#"+     "body": "Tomorrow""#), "\(conflict)")
    #expect(conflict.contains("somebody else renamed the draft to \"Renamed\""), "\(conflict)")
    let words = try goOn(conflict).split(separator: " ").map(String.init)
    #expect(words.suffix(2) == ["--version", "2"], "\(words)")
    #expect(try String(contentsOfFile: words[4], encoding: .utf8) == mine)
    let taken = try ChildProcess(World.program, words, environment: environment)
    #expect(await taken.waitForExit() == 0, "\(taken.text)")
    #expect(!FileManager.default.fileExists(atPath: words[4]) && taken.text.contains("no longer needed"))
    #expect(
      try await gateway.client.get("/v1/drafts/\(id)").json["message"]?["notification"]?["title"]?.string == "Mine")

    #expect(try await gateway.client.get("/v1/drafts/\(id)").json["name"]?.string == "Renamed")

    // What was taken is not kept, and what was not changed is not sent.
    let before = kept()
    try write(mine.replacing("Mine", with: "Ours"))
    #expect(try await fanfare("drafts", "edit", id).contains("version 4"))
    #expect(try await fanfare("drafts", "edit", id, more: ["EDITOR": "true"]).contains("nothing was changed"))
    #expect(kept() == before)

    // At a terminal one goes on at once.
    try write("{ not json", "1")
    try write(mine.replacing("Mine", with: "At last"), "2")
    let command = "stty cols 100 rows 24; exec \(World.program.path) drafts edit \(id)"
    let typed = try ChildProcess(
      URL(filePath: "/bin/sh"), ["-c", #"printf 'y\n' | script -qefc "$0" /dev/null"#, command],
      environment: environment)
    #expect(await typed.waitForExit() == 0, "\(typed.text)")
    #expect(typed.text.contains("Continue with your text? [Y/n]") && typed.text.contains("version 5"), "\(typed.text)")
    #expect(kept() == before)
  }

  @Test("what standard input brings to a draft is kept when it is refused, and can be gone on with")
  func draftFromStandardInput() async throws {
    let world = try await World()
    let gateway = try await world.gateway()
    let state = world.directory.file("state")
    let environment = [
      "FANFARE_URL": gateway.client.base, "FANFARE_KEY": gateway.client.key ?? "", "XDG_STATE_HOME": state.path,
    ]
    func pipe(_ text: String, _ words: String, exit: Int32, _ more: [String: String] = [:]) async throws -> String {
      let run = try ChildProcess(
        URL(filePath: "/bin/sh"), ["-c", #"printf %s "$1" | "$0" \#(words)"#, World.program.path, text],
        environment: environment.merging(more) { $1 })
      #expect(await run.waitForExit() == exit, "\(run.text)")
      return run.text
    }
    func kept(_ told: String) throws -> (text: String, goOn: [String]) {
      let path = try #require(told.firstMatch(of: /is kept in (.*)/), "\(told)").1
      let words = try #require(told.firstMatch(of: /continue with: fanfare (.*)/), "\(told)").1
      return (try String(contentsOfFile: String(path), encoding: .utf8), words.split(separator: " ").map(String.init))
    }
    let refused = #"{"to":{"everyone":true},"notification":{"titel":"Long thought about"}}"#
    let broken = #"{"to":{"everyone":true},"notification":"#
    let message = #"{"to":{"everyone":true},"notification":{"title":"Long thought about"}}"#
    #expect(try kept(try await pipe(refused, "drafts create --file -", exit: 5)).text == refused)
    #expect(try kept(try await pipe(broken, "drafts create --file -", exit: 2)).text == broken)
    let away = ["FANFARE_URL": "http://127.0.0.1:1"]
    let unsent = try kept(try await pipe(message, "drafts create --file -", exit: 4, away))
    #expect(unsent.text == message)
    let taken = try ChildProcess(World.program, unsent.goOn, environment: environment)
    #expect(await taken.waitForExit() == 0, "\(taken.text)")
    let id = try #require(taken.text.firstMatch(of: /drf_[0-9a-f]+/)).0
    #expect(!FileManager.default.fileExists(atPath: unsent.goOn[3]), "\(unsent.goOn)")

    // Its answer was lost: a repeat of what was saved is no conflict. Another text is one.
    let changed = message.replacing("Long", with: "Longer")
    for _ in 1...2 { _ = try await pipe(changed, "drafts edit \(id) --file - --version 1", exit: 0) }
    _ = try await pipe(message, "drafts edit \(id) --file - --version 1", exit: 5)
    #expect(try await gateway.client.get("/v1/drafts/\(id)").json["version"]?.integer == 2)

    let edited = try kept(try await pipe(refused, "drafts edit \(id) --file -", exit: 5))
    #expect(edited.text == refused && edited.goOn.prefix(3) == ["drafts", "edit", String(id)])
    #expect(!(try await pipe(message, "drafts edit \(id) --file -", exit: 0)).contains("is kept"))
  }
}
