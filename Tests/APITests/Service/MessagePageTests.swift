import API
import Domain
import Foundation
import Intake
import Testing

/// `docs/message.md`, from the schemas and the guide; `make fields` writes it.
@Suite("Each field of a message is explained")
struct MessagePageTests {
  private static let docs = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../docs")
    .standardized

  @Test("no field is without an explanation, and none is explained that does not exist")
  func complete() {
    for (name, schema) in OpenAPIRequests.parts {
      for field in schema.fields {
        let text = FieldGuide.text(schema, field)
        #expect(text?.hasSuffix(".") == true, "\(name).\(field)")
      }
    }
    #expect(FieldGuide.text(.message, "no_field") == nil)
  }

  @Test("docs/message.md says what the schemas say, and OpenAPI says the same")
  func page() throws {
    let page = try makePage()
    let file = Self.docs.appending(path: "message.md")
    if ProcessInfo.processInfo.environment["FANFARE_WRITE_FIELDS"] != nil {
      try page.write(to: file, atomically: true, encoding: .utf8)
    } else {
      #expect(
        try String(contentsOf: file, encoding: .utf8) == page, "docs/message.md is out of date: run `make fields`")
    }
    let ttl = OpenAPI.document["components"]?["schemas"]?["Message"]?["properties"]?["ttl"]?["description"]?.string
    #expect(ttl?.contains("259200") == true)
    #expect(page.contains("| `ttl` | integer, 0–2419200 |"))
  }

  private func makePage() throws -> String {
    let carried = try providers()
    var lines = [
      "# The fields of a message", "",
      "This page says what each field of a message is for. `make fields` generates it from the code; do not edit it.",
      "[fields.md](fields.md) shows what each provider gets of a field. *Providers* lists the providers that use the",
      "field in an alert (for a Live Activity: in an update or start); it is empty if only Fanfare uses the field.",
      "",
    ]
    for (name, schema) in OpenAPIRequests.parts {
      let title = schema.name == "message" ? "message" : schema.name
      lines += ["## `\(title)`", "", "| Field | Type and range | Meaning | Providers |", "|---|---|---|---|"]
      let properties = OpenAPI.document["components"]?["schemas"]?[name]?["properties"]
      let prefix = Self.prefixes[schema.name] ?? ""
      for field in schema.fields {
        let property = try #require(properties?[field], "\(name).\(field)")
        let text = FieldGuide.text(schema, field) ?? ""
        let reach = (carried[prefix + field] ?? []).joined(separator: ", ")
        lines.append("| `\(field)` | \(Self.form(of: property)) | \(text.replacing("|", with: "\\|")) | \(reach) |")
      }
      lines.append("")
    }
    return lines.joined(separator: "\n")
  }

  /// Where the object stands in a message, as fields.md names it.
  private static let prefixes = [
    "notification": "notification.", "sound": "notification.sound.", "button": "notification.buttons[].",
    "notification.web": "notification.web.", "localized": "notification.localized.<language>.",
    "live_activity": "live_activity.", "file_provider": "file_provider.", "mdm": "mdm.",
    "overrides.apns": "overrides.apns.", "overrides.fcm": "overrides.fcm.", "overrides": "overrides.",
  ]

  /// Providers that have something for a field, from the tables of fields.md.
  private func providers() throws -> [String: [String]] {
    let page = try String(contentsOf: Self.docs.appending(path: "fields.md"), encoding: .utf8)
    var found: [String: [String]] = [:]
    var head: [String] = []
    for line in page.split(separator: "\n") where line.hasPrefix("| ") {
      let cells = line.replacing("\\|", with: "/").split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      guard cells[0].hasPrefix("`") && cells[0] != "`kind`" else {
        head = Array(cells.dropFirst())
        continue
      }
      let field = cells[0].replacing("`", with: "")
      for (provider, cell) in zip(head, cells.dropFirst())
      where !cell.isEmpty && !cell.hasPrefix("_Left out") && !cell.hasPrefix("**Refused") && cell != "—" {
        if found[field]?.contains(provider) != true { found[field, default: []].append(provider) }
      }
    }
    return found
  }

  private static func form(of property: JSONValue) -> String {
    if let reference = property["$ref"]?.string {
      let name = reference.split(separator: "/").last.map(String.init) ?? ""
      return "object ([\(OpenAPIRequests.parts.first { $0.name == name }?.schema.name ?? name)](#\(anchor(name))))"
    }
    if let words = property["enum"]?.array?.compactMap(\.string) {
      return words.map { "`\($0)`" }.joined(separator: ", ")
    }
    if let choices = property["oneOf"]?.array { return choices.map(form).joined(separator: " or ") }
    let types = property["type"]?.array?.compactMap(\.string) ?? [property["type"]?.string ?? ""]
    var text = types.joined(separator: " or ")
    if let items = property["items"] { text = "array of " + form(of: items) }
    if let least = number(property["minimum"]), let most = number(property["maximum"]) { text += ", \(least)–\(most)" }
    if let most = property["maxLength"]?.integer { text += ", at most \(most) bytes" }
    if let most = property["maxItems"]?.integer { text += ", at most \(most)" }
    return text
  }

  private static func anchor(_ name: String) -> String {
    (OpenAPIRequests.parts.first { $0.name == name }?.schema.name ?? name).replacing(".", with: "")
      .replacing(" ", with: "-")
  }

  private static func number(_ value: JSONValue?) -> String? {
    switch value {
    case .integer(let number): String(number)
    case .double(let number): String(number)
    default: nil
    }
  }
}
