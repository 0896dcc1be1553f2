package import Domain

/// Reads the body of a request that says all in its path: an object may be sent, but it has no fields.
package enum EmptyReader {
  package static func read(_ document: JSONValue) throws(Refusal) {
    var findings = Findings(providers: nil, maximumTargets: RequestBounds.targets)
    _ = Fields(document, at: .root, of: .nothing, &findings)
    try findings.refuse()
  }
}
