import Domain
import Foundation
import JSON
import Support
import Testing

extension Journeys {
  @Test(
    "the audit has what keys, commands at Redis and a stopped gateway have done, and is followed; the log has the acts, and with log_sends the sends"
  )
  func audit() async throws {
    let world = try await World()
    let gateway = try await world.gateway()
    let tool = Tool(gateway: gateway, world: world)
    let made = try await tool.run("keys", "create", "--app", "shop", "--scopes", "send", "--json")
    let key = try #require(Tool.documents(made).first?["id"]?.string, "\(made)")
    try await tool.run("keys", "revoke", key, "--app", "shop", "--yes")
    _ = try await gateway.client.put("/v1/audiences/spring", #"{"audience":"lang:de"}"#)
    let message = #"{"to":{"tokens":[\#(Tokens.targets("apns", [Tokens.apns(1)]))]},"notification":{"body":"Hi"}}"#
    var ids: [String] = []
    for _ in 0..<5 { ids.append(try await gateway.send(message)) }
    // At once: what waits in memory is written before the end.
    gateway.process.signal(SIGTERM)
    #expect(await gateway.process.waitForExit() == 0)
    func isLogged(_ created: String, by process: ChildProcess) -> Bool {
      process.text.split(separator: "\n").contains {
        $0.contains("level=info") && $0.contains("event=audit") && $0.contains(created)
      }
    }
    #expect(isLogged("object=spring", by: gateway.process))
    #expect(!ids.contains { isLogged($0, by: gateway.process) })

    try world.edit { "{ audit: { log_sends: true }," + $0.drop { $0 != "{" }.dropFirst() }
    let later = try await world.gateway()
    let sent = try await later.send(message)
    _ = try await later.process.line { $0.contains("event=audit") && $0.contains(sent) }
    #expect(isLogged(sent, by: later.process))
    ids.append(sent)
    let second = Tool(gateway: later, world: world)
    var items: [JSONValue] = []
    try await later.until("the entry of the last send") { _ in
      items = Tool.documents(try await second.run("audit", "--json")).first?["items"]?.array ?? []
      return items.contains { $0["created_id"]?.string == sent }
    }
    #expect(items.filter { $0["trail"]?.string == "sends" }.map { $0["created_id"]?.string } == ids.reversed())
    let user = items.filter { $0["user"] != nil }
    #expect(user.allSatisfy { $0["user"]?.string?.contains("@") == true && $0["key"] == nil })
    // The keys of both gateways' clients among them.
    #expect(user.filter { $0["operation"]?.string == "createKey" }.count == 3)
    #expect(user.contains { $0["operation"]?.string == "createKey" && $0["created_id"]?.string == key })
    let revoked = try #require(items.first { $0["operation"]?.string == "revokeKey" })
    #expect(revoked["object"]?.string == key && revoked["outcome"]?.string == "done")
    let put = try #require(items.first { $0["operation"]?.string == "putAudience" })
    #expect(put["address"]?.string == "127.0.0.1" && put["object"]?.string == "spring")

    let following = try second.start(["audit", "--follow", "--operation", "deleteAudience"])
    _ = try await later.client.call("DELETE", "/v1/audiences/spring")
    try await later.until("the deletion") { _ in
      try String(contentsOf: following.output, encoding: .utf8).contains("deleteAudience  done  spring")
    }
    following.process.signal(SIGINT)
    _ = await following.process.waitForExit()
    later.process.signal(SIGTERM)
    #expect(await later.process.waitForExit() == 0)
  }
}
