import CommandFrame
import JSON

/// What a program that runs until it is stopped says when it was asked to, and when it has ended.
enum Farewell {
  /// A signal has come.
  static func ending(_ what: String, json: Bool) { tell("ending", what, json) }

  /// All is done; the process leaves.
  static func ended(_ what: String, json: Bool) { tell("ended", what, json) }

  private static func tell(_ event: String, _ what: String, _ json: Bool) {
    guard json else { return Terminal.note("\(event): \(what)") }
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("event", event)
    writer.member("detail", what)
    writer.endObject()
    Terminal.print(writer.bytes)
  }
}
