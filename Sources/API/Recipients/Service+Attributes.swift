import Domain
import Intake
import Store

extension Service {
  /// A placeholder without a default must name an attribute that some device of the app has: any other is a slip that would
  /// leave everyone without the message.
  func checkAttributes(_ contents: [VariantTexts], _ app: AppID) async throws(Problem) {
    let violations = try await unknownAttributes(in: contents, app)
    guard violations.isEmpty else { throw Problem(Refusal(violations: violations), .invalidMessage) }
  }

  /// Attributes that placeholders without a default name, and that no device of the app has.
  func unknownAttributes(in contents: [VariantTexts], _ app: AppID) async throws(Problem) -> [Violation] {
    var needed: [String] = []
    for content in contents {
      for slot in content.texts.slots where slot.fallback == nil && !needed.contains(slot.name) {
        needed.append(slot.name)
      }
    }
    guard !needed.isEmpty else { return [] }
    let known: [String]
    do throws(StoreError) {
      known = try await store.attributeNames(app: app)
    } catch {
      throw Problem(error)
    }
    return needed.filter { !known.contains($0) }.map { name in
      let hint = Suggestion.nearest(to: name, among: known).map { ": did you mean `\($0)`?" } ?? "."
      return Violation(
        "/notification", .unknownValue,
        "no device has an attribute `\(name)`\(hint) A placeholder with a default, `{{\(name)|…}}`, may have any name")
    }
  }
}
