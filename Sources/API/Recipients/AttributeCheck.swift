import Domain
import Intake
import Store

/// The names of attributes as one request found them: its lines look once, not each for itself. Belongs to the loop.
final class KnownAttributes {
  var names: [String]?
}

/// The attributes that the placeholders of a message name.
struct AttributeCheck {
  let store: Store

  /// A placeholder without a default must name an attribute that some device of the app has: any other is a slip that
  /// would leave everyone without the message.
  func check(_ contents: [VariantTexts], _ call: Call) async throws(Problem) {
    let violations = try await unknown(in: contents, call)
    guard violations.isEmpty else { throw Problem(Refusal(violations: violations), .invalidMessage) }
  }

  /// Attributes that placeholders without a default name, and that no device of the app has.
  func unknown(in contents: [VariantTexts], _ call: Call) async throws(Problem) -> [Violation] {
    var needed: [String] = []
    var places: [String: String] = [:]
    for content in contents {
      for slot in content.texts.slots where slot.fallback == nil && !needed.contains(slot.name) {
        needed.append(slot.name)
        places[slot.name] = content.variant == nil ? content.texts.pointer(of: slot) : nil
      }
    }
    guard !needed.isEmpty else { return [] }
    let known = try await names(call)
    let names = Set(known)
    return needed.filter { !names.contains($0) }.map { name in
      let hint = call.suggestions.nearest(to: name, among: known).map { ": did you mean `\($0)`?" } ?? "."
      return Violation(
        places[name] ?? "/notification", .unknownValue,
        "no device has an attribute `\(name)`\(hint) A placeholder with a default, `{{\(name)|…}}`, may have any name")
    }
  }

  private func names(_ call: Call) async throws(Problem) -> [String] {
    if let names = call.attributes.names { return names }
    do throws(StoreError) {
      let names = try await store.tags.attributeNames(app: call.app)
      call.attributes.names = names
      return names
    } catch {
      throw Problem(error)
    }
  }
}
