import Domain
import Foundation
import JSON
import Support
import Testing

extension Journeys {
  @Test("a list into a pipe that nobody reads any more ends quietly, as other tools do")
  func closedPipe() async throws {
    let world = try await World()
    let gateway = try await world.gateway()
    let tool = Tool(gateway: gateway, world: world)
    let body = #"{"provider":"apns","token":"\#(Tokens.apns(1))","tags":["a"]}"#
    #expect(try await gateway.client.put("/v1/devices/d1", body).status == 201)
    let pipe = world.directory.file("pipe").path
    // The pipe has a reader while it is opened for writing, and none when the list is written.
    let closed = #"mkfifo "$PIPE"; exec 3<>"$PIPE"; exec 4>"$PIPE"; exec 3>&-; "$0" $WORDS >&4"#
    for words in ["tags --csv", "devices export", "keys list --csv"] {
      let told = try await tool.shell("rm -f \"$PIPE\"; " + closed, exit: 141, ["PIPE": pipe, "WORDS": words])
      #expect(told.isEmpty, "\(words): \(told)")
    }
    let full = try await tool.shell(#""$0" tags --csv > /dev/full"#, exit: 1)
    #expect(full.contains("cannot write all lines to standard output") && full.contains("is the disk full?"), "\(full)")
  }

  @Test("what cannot be undone is asked about on a terminal, unless --yes is given; a script is not asked")
  func questions() async throws {
    let world = try await World()
    let gateway = try await world.gateway()
    let tool = Tool(gateway: gateway, world: world)
    for device in ["d1", "d2"] {
      let body = #"{"provider":"apns","token":"\#(Tokens.apns(device == "d1" ? 1 : 2))","user":"ana"}"#
      #expect(try await gateway.client.put("/v1/devices/\(device)", body).status == 201)
    }
    let later = #"{"to":{"devices":["d1"]},"notification":{"title":"T"},"send_at":"2099-01-01T00:00:00Z"}"#
    let time = ISO8601DateFormatter().string(from: Date(timeIntervalSinceNow: 86_400))
    let message = try await gateway.send(later.replacing("2099-01-01T00:00:00Z", with: time))
    func state() async throws -> String? {
      try await gateway.client.get("/v1/messages/\(message)").json["state"]?.string
    }
    /// On a terminal of its own, whose user types this line.
    func typing(_ answer: String, _ words: String, exit: Int32) async throws -> String {
      let command = #"printf '%s\n' "$ANSWER" | script -qec "$0 $WORDS" /dev/null"#
      return try await tool.shell(command, exit: exit, ["ANSWER": answer, "WORDS": words])
    }

    let refused = try await typing("n", "messages cancel \(message)", exit: 1)
    let asked = "Cancel \(message) (scheduled, starts at \(time.dropLast())"
    #expect(refused.contains(asked) && refused.contains(", 1 target)? It cannot be undone."), "\(refused)")
    #expect(refused.contains("nothing was changed"))
    #expect(try await state() == "scheduled")
    _ = try await typing("n", "devices delete d2", exit: 1)
    #expect(try await gateway.client.get("/v1/devices/d2").status == 200)
    #expect(try await typing("", "users delete ana", exit: 1).contains("the user ana?"), "no answer is a no")
    #expect(try await gateway.client.get("/v1/users/ana").json["devices"]?.array?.count == 2)
    _ = try await typing("y", "devices delete d2", exit: 0)
    #expect(try await gateway.client.get("/v1/devices/d2").status == 404)
    let forced = try await typing("", "messages cancel \(message) --yes", exit: 0)
    #expect(!forced.contains("?") && forced.contains("cancelled"), "\(forced)")
    #expect(try await state() == "cancelled")
    let again = try await typing("n", "messages replay \(message) --outcome cancelled", exit: 1)
    #expect(again.contains("1 delivery to go again at once: 1 cancelled") && again.contains("would have started at"))
    #expect(again.contains("Send again, at once?") && again.contains("nothing was sent"), "\(again)")
    #expect(try await gateway.client.get("/v1/messages/\(message)").json["replayed_by"]?.array?.isEmpty != false)
    let replay = ["messages", "replay", message, "--outcome", "cancelled", "--idempotency-key", "k"]
    #expect(!(try await tool.start(replay).end(0).contains("used before")))
    let repeated = try await tool.start(replay).end(0)
    #expect(repeated.contains("nothing new is sent") && !repeated.contains("to go again"), "\(repeated)")
    #expect(try await tool.run("users", "delete", "ana").contains("deleted 1 device"))
    #expect(try await tool.run("test-lists", "set", "team", "--user", "ana").contains("team"))
    #expect(try await typing("n", "test-lists delete team", exit: 1).contains("Delete the test list team?"))
    #expect(try await gateway.client.get("/v1/test_lists/team").status == 200)
    #expect(!(try await typing("", "test-lists delete team --yes", exit: 0).contains("?")))
    _ = try await tool.run("keys", "create", "--name", "spare")
    let keys = try await tool.run("keys", "list", "--csv").split(separator: "\r\n")
    let spare = try #require(keys.first { $0.contains(",spare,") }?.split(separator: ",").first)
    #expect(try await typing("n", "keys revoke \(spare)", exit: 1).contains("Revoke the key \(spare) of the app "))
    #expect(try await tool.run("keys", "list").contains(spare))
    #expect(try await typing("y", "keys revoke \(spare)", exit: 0).contains("revoked \(spare)"))
    #expect(!(try await tool.run("keys", "list").contains(spare)))
    let table = try await tool.run("messages", "list").split(separator: "\n").first.map(String.init)
    for column in ["expired", "cancelled", "superseded"] { #expect(table?.contains(column) == true, "\(table ?? "")") }
  }
}
