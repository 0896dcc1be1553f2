import Foundation
import HTTPServer
import Loop
import Support
import Testing

extension Journeys {
  /// The server stands for a gateway whose Redis ails and that goes away before the command tries again.
  @Test("an import tells that its lines may be in, if an earlier try of them was answered by a failure of the server")
  func unsureImport() async throws {
    let folder = try TemporaryDirectory()
    let loop = EventLoop(name: "ailing")
    let thread = loop.start()
    defer {
      loop.stop()
      thread.join()
    }
    let file = folder.file("devices.ndjson")
    try #"{"provider":"fcm","token":"\#(Tokens.fcm(1))"}"#.write(to: file, atomically: true, encoding: .utf8)
    let port = try await loop.run {
      let ailing = Ailing()
      let server = try HTTPServer(loop: loop, settings: HTTPServerSettings()) { _ in
        ailing.end(loop)
        return HTTPServerResponse(status: 503)
      }
      ailing.server = server
      return server.port
    }
    let command = try ChildProcess(
      World.program, ["devices", "import", file.path, "--url", "http://127.0.0.1:\(port)"],
      environment: ["FANFARE_KEY": "any"])
    #expect(await command.waitForExit() == 4)
    #expect(command.text.contains("line 1 may be imported"), "\(command.text)")
  }
}

/// A server that ends behind its first answer. Loop only.
private final class Ailing {
  var server: HTTPServer?

  func end(_ loop: EventLoop) {
    loop.spawn {
      await self.server?.stop()
      self.server = nil
    }
  }
}
