import Store

/// What the audit trail needs to know of operations, from the table of endpoints.
enum AuditedOperations {
  /// Their names, of the API, of commands and of sessions of the console.
  static let names: [String] =
    Endpoint.all.compactMap { endpoint in
      if case .none = endpoint.audit { nil } else { endpoint.operation }
    } + ["repairRegistry"] + Service.SessionAct.allCases.map(\.rawValue)

  /// Where the entries of an operation are, unless it was refused. Entries push out only others of their trail.
  static func trail(of endpoint: Endpoint) -> AuditTrailName {
    if case .send = endpoint.audit { return .sends }
    guard case .key(let scopes) = endpoint.access else { return .acts }
    return scopes == [.admin] ? .admin : scopes == [.keys] ? .keys : .acts
  }

  /// The operation that reads what this one changes; nil: there is none.
  static func reader(of endpoint: Endpoint) -> Endpoint? {
    guard let end = endpoint.path.lastIndex(of: "}") else { return nil }
    return readers[String(endpoint.path[...end])]
  }
  private static let readers = Dictionary(
    uniqueKeysWithValues: Endpoint.all.filter { $0.method == "GET" && $0.path.hasSuffix("}") }.map { ($0.path, $0) })
}
