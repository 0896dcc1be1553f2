package import Domain

extension Configuration {
  /// Every setting that there is, as `limits.body` or `apps.credentials.key_file`: what the readers ask for. Providers of retry rules
  /// and quotas, and causes, are left out of the names: `retry.floors`.
  package static func names(providers: [ProviderName: ProviderTerms]) -> Set<String> {
    let credentials = providers.keys.map { "{ name: \"\($0.rawValue)\", provider: \"\($0.rawValue)\" }" }
    let lists = "registration: { keys: [{}] }, credentials: [\(credentials.joined(separator: ", "))]"
    let sample = "{ monitor: {}, apps: [{ quiet_hours: {}, limits: {}, \(lists) }] }"
    let faults = FaultList()
    guard let node = try? Node.parse(Array(sample.utf8)) else { return [] }
    _ = read(node, folder: ".", providers: providers, faults)
    let left = Set(providers.keys.map(\.rawValue))
    let names = faults.asked.map { place in
      let parts = place.split(separator: "/").map(String.init)
      let isShared = parts.first == "retry" || parts.first == "quotas"
      let end = isShared ? parts.firstIndex { Self.byCause.contains($0) }.map { $0 + 1 } ?? parts.count : parts.count
      return parts[..<end].filter { Whole.read($0, in: 0...Int.max) == nil && !(isShared && left.contains($0)) }
        .joined(separator: ".")
    }
    // A section is no setting of its own.
    let all = Set(names)
    return all.filter { name in !all.contains { $0.hasPrefix(name + ".") } }
  }
  private static let byCause: Set = ["floors", "resends_at_once"]
}
