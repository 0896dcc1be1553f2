package import Domain

/// Reads the body of a request that says all in its path and query: an object may be sent, but it has no fields.
package enum EmptyReader {
  /// `query`: parameters that the request takes. A field of such a name belongs there.
  package static func read(_ document: JSONValue, query: [String]) throws(Refusal) {
    var findings = Findings(providers: nil, maximumTargets: RequestBounds.targets)
    let misplaced = query.filter { document[$0] != nil }
    for name in misplaced {
      findings.refuse(Place.root.member(name), .notAllowed, "`\(name)` belongs into the URL: `?\(name)=…`")
    }
    let rest = document.object.map { JSONValue.object($0.filter { !misplaced.contains($0.key) }) } ?? document
    _ = Fields(rest, at: .root, of: .nothing, &findings)
    try findings.refuse()
  }
}
