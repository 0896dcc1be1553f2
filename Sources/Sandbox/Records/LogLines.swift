import Domain
package import JSON

extension LogEntry {
  /// The entry as one JSON object.
  package func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("number", number)
    writer.member("time", time.milliseconds)
    writer.member("provider", provider.word)
    writer.member("connection", connection)
    writer.member("request", request)
    writer.member("token", token)
    if !id.isEmpty { writer.member("id", id) }
    if !topic.isEmpty { writer.member("topic", topic) }
    writer.member("body_bytes", bodySize)
    writer.member("body_sha256", bodyDigest.hex)
    if let body { writer.member("body", String(decoding: body, as: UTF8.self)) }
    if status != 0 { writer.member("status", status) }
    if !reason.isEmpty { writer.member("reason", reason) }
    if !name.isEmpty { writer.member("name", name) }
    writer.member("fault", fault?.rawValue)
    writer.member("accepted", accepted)
    writer.member("duplicate", duplicate)
    writer.endObject()
  }
}
