import Domain
import Foundation
import JSON
import Support
import Testing

extension Journeys {
  @Test("the list of components names each library that the program loads, with its version, and is the same each time")
  func components() async throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..").standardized
    func list() async throws -> String {
      let run = try ChildProcess(
        URL(filePath: "/usr/bin/env"), ["python3", root.appending(path: "Config/sbom.py").path, World.program.path])
      #expect(await run.waitForExit() == 0, "\(run.text)")
      return run.text
    }
    let text = try await list()
    #expect(try await list() == text)
    let document = try JSON.parse(Array(text.utf8))
    #expect(document["bomFormat"]?.string == "CycloneDX")
    let components = document["components"]?.array ?? []
    #expect(components.allSatisfy { $0["version"]?.string?.isEmpty == false && $0["purl"]?.string != nil })
    let names = components.compactMap { $0["name"]?.string }
    // What `Config/packages` installs to build with, as it is called to run with; Redis runs beside it.
    for package in [
      "libnghttp2-14", "libssl3", "libcurl4", "libhiredis", "libmicrohttpd", "libsimdjson", "libjemalloc2",
      "swift-runtime", "redis-server",
    ] {
      #expect(names.contains { $0.hasPrefix(package) }, "\(package)")
    }
  }
}
