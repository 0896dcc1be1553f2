import Domain

@testable import Audience

extension FuzzTarget {
  /// The text of an audience. Its canonical text is the same audience, and so is what OneSignal's filters make of it.
  static let expressions = FuzzTarget("expressions") { bytes in
    guard let text = String(validating: bytes, as: UTF8.self),
      let expression = try? AudienceExpression(parsing: text)
    else { return }
    check(expression)
    if let filters = try? expression.oneSignalFilters(), !filters.isEmpty {
      _ = try? AudienceExpression(oneSignalFilters: .array(filters))
    }
  }

  /// OneSignal's `filters` as JSON.
  static let filters = FuzzTarget("filters") { bytes in
    guard let document = document(bytes), let expression = try? AudienceExpression(oneSignalFilters: document) else {
      return
    }
    check(expression)
    _ = try? expression.oneSignalFilters()
  }

  private static func check(_ expression: AudienceExpression) {
    let canonical = expression.canonical
    demand(expression.termCount <= AudienceExpression.maximumTerms, "the terms are bounded")
    do throws(AudienceFault) {
      let again = try AudienceExpression(parsing: canonical)
      demand(again == expression, "the canonical text is the same audience: \(canonical)")
      demand(again.canonical == canonical, "the canonical text is its own: \(canonical)")
    } catch {
      fatalError("the canonical text does not parse: \(error.message): \(canonical)")
    }
  }
}
