import Domain
import Foundation
import Intake
import JSON
import Testing

@Suite("Every field has its place at every provider, or the answer says so")
struct FieldTests {
  private static let page = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../../docs/fields.md").standardized

  @Test("docs/fields.md says what the code does, and no field is dropped in silence")
  func page() throws {
    let (page, dropped) = try FieldPage.make(from: registeredProviders)
    #expect(dropped.isEmpty, "neither carried nor warned of")
    if ProcessInfo.processInfo.environment["FANFARE_WRITE_FIELDS"] != nil {
      try page.write(to: Self.page, atomically: true, encoding: .utf8)
    } else {
      let written = try? String(contentsOf: Self.page, encoding: .utf8)
      #expect(written == page, "docs/fields.md is out of date: run `make fields`")
    }
  }

  @Test("every field that a message may have is tried")
  func complete() {
    var missing: [String] = []
    func need(_ schema: Schema, _ prefix: String, except inner: Set<String> = []) {
      for field in schema.fields where !inner.contains(field) {
        let path = prefix + field
        if !FieldSample.all.contains(where: { $0.path == path }) { missing.append(path) }
      }
    }
    need(
      .message, "",
      except: FieldSample.ofTheGateway.union(["notification", "live_activity", "file_provider", "mdm", "overrides"]))
    need(.notification, "notification.")
    need(.sound, "notification.sound.")
    need(.button, "notification.buttons.0.")
    need(.web, "notification.web.")
    need(.localized, "notification.localized.de.")
    need(.liveActivity, "live_activity.")
    need(.fileProvider, "file_provider.")
    need(.mdm, "mdm.")
    need(.apnsOverrides, "overrides.apns.")
    need(.fcmOverrides, "overrides.fcm.")
    #expect(missing.isEmpty)
    #expect(FieldSample.ofTheGateway.isSubset(of: Schema.message.fields))
  }

  @Test("a value of the wrong type is refused in the place where it stands", arguments: FieldSample.all.map(\.path))
  func wrongTypes(_ path: String) throws {
    // Any JSON, and what may have two shapes.
    let open: [String: Set<String>] = [
      "data.k": ["null", "boolean", "number", "string", "array", "object"], "notification.sound": ["string", "object"],
    ]
    let sample = try #require(FieldSample.all.first { $0.path == path })
    let values = try sample.values.map { try JSON.parse(Array($0.utf8)) }
    let fitting = open[path] ?? Set(values.map(\.typeName))
    let wrong: [JSONValue] = [
      .null, .bool(true), .integer(0), .string("x"), .array([]), .object([JSONMember("x", .integer(1))]),
    ]
    var tried = 0
    for base in FieldBase.all {
      for text in base.documents {
        let plain = try JSON.parse(Array(text.utf8)).merged(JSON.parse(Array(sample.context.utf8)))
        guard (try? MessageReader.read(plain.setting(sample.steps[...], values[0]))) != nil else { continue }
        for value in wrong where !fitting.contains(value.typeName) {
          tried += 1
          let found = try violations(of: plain.setting(sample.steps[...], value))
          #expect(found.contains(sample.pointer), "\(value.typeName) in \(base.title): \(found)")
        }
      }
    }
    #expect(tried > 0 || fitting.count == 6 || path.hasPrefix("notification.localized"))
  }

  private func violations(of document: JSONValue) throws -> [String] {
    do throws(Refusal) {
      _ = try MessageReader.read(document)
      return []
    } catch { return error.violations.map(\.pointer) }
  }
}
