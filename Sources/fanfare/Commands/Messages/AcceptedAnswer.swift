import CommandFrame
import Domain
import JSON

/// What the server says when it has taken a message, or shows what it would send.
enum AcceptedAnswer {
  /// The id on standard output, for scripts; all else beside it.
  @Sendable static func show(_ answer: JSONValue) {
    Terminal.print(answer["id"]?.string ?? "")
    if let targets = answer["targets"]?.integer { Terminal.note(counted(targets, "device")) }
    if let start = answer["starts_at"]?.string {
      let zone = answer["starts_at_zone"]?.string ?? "UTC"
      let isLocal = answer["starts_at_local"] != nil
      Terminal.note(
        isLocal ? "starts by each device's own clock, first in \(zone): \(start)" : "starts at \(start) (\(zone))")
    }
    warn(answer)
  }

  @Sendable static func tellRepeat(_ answer: JSONValue) {
    Terminal.note("note: this idempotency key was used before: this is its message, and nothing new is sent")
  }

  @Sendable static func tellSentDraft(_ answer: JSONValue) {
    let id = answer["id"]?.string ?? ""
    Terminal.note("note: this draft was sent before, as \(id): nothing new is sent")
  }

  @Sendable static func warn(_ answer: JSONValue) {
    for warning in answer["warnings"]?.array ?? [] { note(warning) }
  }

  /// One warning, behind the name of its field. What is said of the recipients as a whole needs no name.
  static func note(_ warning: JSONValue) {
    let place = warning["pointer"]?.string ?? ""
    let detail = warning["detail"]?.string ?? String(decoding: warning.encoded, as: UTF8.self)
    Terminal.note("note: " + CommandWords.of(place == "/to" ? detail : FieldName.sentence(detail, at: place)))
  }
}
