import Domain
import Intake
import JSON

/// `docs/fields.md`, from what the probe finds.
enum FieldPage {
  /// What the probe could not make sense of: a field that is neither carried nor told.
  static func make(from subjects: [ProviderUnderTest]) throws -> (page: String, dropped: [String]) {
    var dropped: [String] = []
    var lines = [
      "# Fields", "",
      "This page shows how every provider handles every field of a message. `make fields` generates it from the code: it renders each message",
      "without and with the field, and shows the difference. Do not edit this page; a test fails if it is out of date.",
      "",
      "- A name such as `aps.alert.title`, or a header: Fanfare puts the field there.",
      "- A name with a remark: the provider has only something similar, and the answer warns (`mapped`).",
      "- _Left out_: the provider has no place for the field, and the answer warns (`left_out`).",
      "- **Refused**: the message is refused for devices of this provider.",
      "- —: the provider does not support the kind; its devices get nothing (`kind_unsupported`, or `token_kind` if only this token is wrong).",
      "",
      "A field without a row is refused for that kind. [message.md](message.md) says what each field is for.", "",
      "Fields that only the gateway uses: "
        + FieldSample.ofTheGateway.sorted().map { "`\($0)`" }.joined(separator: ", ") + ".", "",
    ]
    lines += kinds(subjects)
    for base in FieldBase.all {
      let (table, lost) = try section(base, subjects)
      lines += table
      dropped += lost
    }
    return (lines.joined(separator: "\n") + "\n", dropped)
  }

  private static func kinds(_ subjects: [ProviderUnderTest]) -> [String] {
    var lines = ["## Kinds and the tokens that they reach", "", header("`kind`", subjects), rule(subjects)]
    for pushType in PushType.all {
      let name = "`\(pushType.kind.rawValue)`" + (pushType.event.map { ", event `\($0.rawValue)`" } ?? "")
      let cells = subjects.map { subject in
        var address = subject.address
        let reached = pushType.tokenKinds.filter {
          address.tokenKind = $0
          return subject.provider.carries(pushType, to: address)
        }
        return reached.isEmpty ? "—" : reached.map { "`\($0.rawValue)`" }.joined(separator: ", ")
      }
      lines.append(row(name, cells))
    }
    return lines + [""]
  }

  private static func section(_ base: FieldBase, _ subjects: [ProviderUnderTest]) throws -> ([String], [String]) {
    let documents = try base.documents.map { try JSON.parse(Array($0.utf8)) }
    let transports = try subjects.filter { subject in
      try documents.contains { FieldProbe.address(for: try MessageReader.message(from: $0), of: subject) != nil }
    }
    var lines = ["## \(base.title)", ""]
    guard !transports.isEmpty else { return (lines + ["No provider carries it.", ""], []) }
    lines += [header("Field", transports), rule(transports)]
    var dropped: [String] = []
    for sample in FieldSample.all {
      var cells: [String] = []
      for subject in transports {
        let probe = FieldProbe(subject: subject)
        let found = try documents.lazy.compactMap { try probe.treatment(of: sample, in: $0) }.first { _ in true }
        if found == .dropped { dropped.append("\(subject.provider.name.rawValue) \(base.title) \(sample.path)") }
        cells.append(cell(found))
      }
      if cells.contains(where: { $0 != "" }) { lines.append(row("`\(shown(sample.path))`", cells)) }
    }
    return (lines + [""], dropped)
  }

  private static func shown(_ path: String) -> String {
    path.replacing(".0.", with: "[].").replacing(".de.", with: ".<language>.")
  }

  private static func cell(_ treatment: FieldProbe.Treatment?) -> String {
    switch treatment {
    case nil: ""
    case .carried(let places): list(places)
    case .mapped(let places, let note): "\(list(places)); _\(note)_"
    case .warned(let note): "_Left out: \(note)_"
    case .refused(let detail): "**Refused**: \(detail)"
    case .fixed: "fixed for this kind"
    case .unseen(let note): "_\(note)_"
    case .dropped: "**dropped**"
    }
  }

  private static func list(_ places: [String]) -> String {
    places.map { $0.hasPrefix("header ") ? "header `\($0.dropFirst(7))`" : "`\($0)`" }.joined(separator: ", ")
  }

  private static func header(_ first: String, _ subjects: [ProviderUnderTest]) -> String {
    row(first, subjects.map { $0.provider.name.rawValue })
  }
  private static func rule(_ subjects: [ProviderUnderTest]) -> String {
    "|" + String(repeating: "---|", count: subjects.count + 1)
  }
  private static func row(_ first: String, _ cells: [String]) -> String {
    "| " + ([first] + cells.map { $0.replacing("|", with: "\\|") }).joined(separator: " | ") + " |"
  }
}
