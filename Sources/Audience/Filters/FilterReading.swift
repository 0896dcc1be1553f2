package import Domain

extension AudienceExpression {
  /// The same tree of OneSignal's `filters`: neighbours are joined by AND, `{"operator": "OR"}` splits groups. What has no
  /// counterpart among tags and facts is refused: of each entry its first fault is told. `suggestions`: those of the
  /// request that it stands in.
  package init(
    oneSignalFilters value: JSONValue, suggestions: SuggestionBudget = SuggestionBudget()
  ) throws(AudienceFaults) {
    guard let entries = value.array else {
      throw AudienceFaults(.whole, "`filters` must be an array of filters")
    }
    guard !entries.isEmpty else {
      throw AudienceFaults(.whole, "`filters` is empty: add a filter, or send to `everyone`")
    }
    guard entries.count <= OneSignalFilter.maximumEntries else {
      throw AudienceFaults(
        .whole, "`filters` has \(entries.count) entries; the limit is \(OneSignalFilter.maximumEntries)")
    }
    var groups: [[AudienceExpression]] = [[]]
    var faults: [AudienceFault] = []
    for index in entries.indices {
      do throws(AudienceFault) {
        switch try Self.step(index, of: entries, suggestions) {
        case .filter(let filter): groups[groups.count - 1].append(filter)
        case .or: groups.append([])
        case .and: break
        }
      } catch {
        faults.append(error)
      }
    }
    guard faults.isEmpty else { throw AudienceFaults(faults: faults) }
    self = Self.joined(groups.map { Self.joined($0, Self.all) }, Self.any)
    guard termCount <= Self.maximumTerms else {
      throw AudienceFaults(.whole, "`filters` has \(termCount) terms; the limit is \(Self.maximumTerms)")
    }
  }

  private enum FilterStep {
    case filter(AudienceExpression)
    case or, and
  }

  private static func step(
    _ index: Int, of entries: [JSONValue], _ suggestions: SuggestionBudget
  ) throws(AudienceFault) -> FilterStep {
    guard let members = entries[index].object else {
      throw AudienceFault(.entry(index), "this filter is not an object")
    }
    guard let joint = members["operator"] else { return .filter(try filter(members, index, suggestions)) }
    let isLast = index == entries.count - 1
    let isBehindOperator = index == 0 || entries[index - 1]["operator"] != nil
    guard !isLast, !isBehindOperator else {
      throw AudienceFault(.entry(index), "an operator must be between two filters")
    }
    if let other = members.first(where: { $0.key != "operator" })?.key {
      throw AudienceFault(
        .entry(index), "`\(Shown.short(other))` does not belong to an operator: give each filter its own entry")
    }
    switch joint.string {
    case "OR": return .or
    case "AND": return .and
    default: throw AudienceFault(.entry(index), "an operator must be OR or AND", suggestion: "{\"operator\": \"OR\"}")
    }
  }

  static func joined(_ members: [Self], _ join: ([Self]) -> Self) -> Self {
    members.count == 1 ? members[0] : join(members)
  }

  private static func filter(
    _ members: [JSONMember], _ index: Int, _ suggestions: SuggestionBudget
  ) throws(AudienceFault) -> Self {
    func fault(_ detail: String, suggestion: String? = nil) -> AudienceFault {
      AudienceFault(.entry(index), detail, suggestion: suggestion)
    }
    func text(_ name: String) throws(AudienceFault) -> String {
      switch members[name] {
      case .string(let text): return text
      case .integer(let number): return String(number)
      case nil: throw fault("`\(name)` is missing")
      default: throw fault("`\(name)` must be a string")
      }
    }
    let field = try text("field")
    guard let known = OneSignalFilter.Field(rawValue: field) else {
      let near = suggestions.nearest(to: field, among: OneSignalFilter.Field.allCases.map(\.rawValue))
      throw fault(
        OneSignalFilter.onlyTheirs.contains(field)
          ? "only OneSignal knows `\(field)`: give the devices a tag for it"
          : "`\(Shown.short(field))` is not a field of a filter", suggestion: near)
    }
    for member in members where !known.members.contains(member.key) {
      throw fault("`\(Shown.short(member.key))` does not belong to a filter of `\(field)`")
    }
    let relation = try text("relation")
    guard known.relations.contains(relation) else {
      throw fault(
        "`\(field)` accepts the relations \(known.relations.joined(separator: ", ")), not `\(Shown.short(relation))`")
    }
    let reading = TermReading(providers: nil, suggestions: suggestions)
    do {
      switch known {
      case .tag: return try tag(key: try text("key"), relation, relation.hasSuffix("exists") ? "" : try text("value"))
      case .language: return try language(relation, try text("value"), reading)
      case .appVersion: return try version(relation, try text("value"), reading)
      case .lastSession: return try lastSession(relation, try text("hours_ago"), reading)
      }
    } catch let error as TermFault {
      throw fault(error.detail, suggestion: error.suggestion)
    } catch let error as AudienceFault {
      throw error
    } catch {
      preconditionFailure("no other faults are thrown")
    }
  }

  private static func tag(key: String, _ relation: String, _ value: String) throws(TermFault) -> Self {
    func term(_ value: String) throws(TermFault) -> Self {
      let tag = "\(key):\(value)"
      if let fault = Tag.fault(in: tag) { throw TermFault("the tag `\(Shown.short(tag))` \(fault)") }
      return .term(.tag(tag))
    }
    guard !key.isEmpty else { throw TermFault("`key` is empty") }
    // A tag is one text here, in which the first colon ends the key: `utm:source` = `ads` would be `utm` = `source:ads`.
    guard !key.utf8.contains(UInt8(ascii: ":")) else {
      throw TermFault(
        "`key` has a colon, but the first colon of a tag ends its key: rename the key, or write the tag in "
          + "`audience` and let Fanfare select",
        suggestion: String(Shown.short(key).map { $0 == ":" ? "_" : $0 }))
    }
    switch relation {
    case "=": return try term(value)
    case "!=": return .not(try term(value))
    case "exists", "not_exists":
      if let fault = Tag.fault(in: key) { throw TermFault("the key \(fault)") }
      let exists = Self.any([.term(.tag(key)), .term(.tagPrefix(key + ":"))])
      return relation == "exists" ? exists : .not(exists)
    default:
      let values = value.split(separator: ",").map { String($0.drop { $0 == " " }) }
      guard (1...OneSignalFilter.maximumList).contains(values.count) else {
        throw TermFault("`value` must have 1…\(OneSignalFilter.maximumList) values, separated by commas")
      }
      var terms: [Self] = []
      for value in values { terms.append(try term(value)) }
      let listed = joined(terms, Self.any)
      return relation == "in_array" ? listed : .not(listed)
    }
  }

  private static func language(_ relation: String, _ value: String, _ reading: TermReading) throws(TermFault) -> Self {
    // Here it would ask for any language.
    guard value != "*" else { throw TermFault("`*` is not a language: give a language such as de") }
    let term = try reading.value(value, of: .language, offset: 0)
    return relation == "=" ? .term(term) : .not(.term(term))
  }

  private static func version(_ relation: String, _ value: String, _ reading: TermReading) throws(TermFault) -> Self {
    // Behind the relation it would be read as a part of it.
    guard value.utf8.first != UInt8(ascii: "=") else {
      throw TermFault("`\(Shown.short(value))` is not a version such as 2.1")
    }
    let comparison = relation == "!=" ? "=" : relation
    let term = try reading.value(comparison + value, of: .appVersion, offset: 0)
    return relation == "!=" ? .not(.term(term)) : .term(term)
  }

  private static func lastSession(_ relation: String, _ text: String, _ reading: TermReading) throws(TermFault) -> Self
  {
    guard let hours = Whole.read(text, in: 1...Int(Int32.max)), hours.isMultiple(of: 24) else {
      throw TermFault("`hours_ago` must be a multiple of 24: Fanfare counts whole days")
    }
    return .term(try reading.value("\(relation)\(hours / 24)d", of: .seen, offset: 0))
  }
}
