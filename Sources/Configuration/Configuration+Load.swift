package import Domain

extension Configuration {
  /// Reads and checks a whole file. `providers`: the settings that a credential of each provider takes.
  package static func load(
    path: String, providers: [ProviderName: [CredentialSetting]]
  ) throws(ConfigurationFaults) -> Configuration {
    guard let bytes = FileContent.read(path, upTo: Files.maximumBytes) else {
      throw ConfigurationFaults(
        file: path,
        faults: [
          ConfigurationFault(
            pointer: "", problem: "it cannot be read",
            fix: "Copy Config/fanfare.example.json5 there, or name another with --config")
        ])
    }
    let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    return try parse(bytes, folder: folder.isEmpty ? "/" : folder, file: path, providers: providers)
  }

  /// `folder`: where relative paths start. `file`: how faults call it.
  package static func parse(
    _ bytes: [UInt8], folder: String, file: String, providers: [ProviderName: [CredentialSetting]]
  ) throws(ConfigurationFaults) -> Configuration {
    let node: Node
    do { node = try Node.parse(bytes) } catch { throw ConfigurationFaults(file: file, faults: [error]) }
    let faults = FaultList()
    var root = Section(node, at: "", faults)
    var configuration = Configuration()
    let files = Files(folder: folder, faults: faults)
    configuration.redis.read(root.section("redis"), files)
    configuration.listen.read(root.section("listen"), files)
    configuration.partitions = root.integer("partitions", in: 1...1024) ?? configuration.partitions
    configuration.retention.read(root.section("retention"))
    configuration.lanes.read(root.section("lanes"))
    configuration.http2.read(root.section("http2"))
    configuration.limits.read(root.section("limits"))
    configuration.workers.read(root.section("workers"))
    configuration.pruneBrake.read(root.section("prune_brake"))
    configuration.durability.read(root.section("durability"))
    if root.has("monitor") {
      var monitor = Monitor()
      monitor.read(root.section("monitor"))
      configuration.monitor = monitor
    }
    readQuotas(root.section("quotas"), Array(providers.keys), into: &configuration.quotas)
    readRetry(root.section("retry"), Array(providers.keys), into: &configuration.retry)
    if let name = root.text("ca_file"), files.open(name, at: "/ca_file") != nil {
      configuration.caFile = files.path(name)
    }
    configuration.logLevel = root.word("log_level", of: LogLevel.self) ?? configuration.logLevel
    configuration.apps = AppsReader(files: files, providers: providers, replicas: configuration.durability.replicas)
      .read(root.list("apps"))
    root.close()
    if configuration.apps.isEmpty, !root.has("apps") {
      faults.add("/apps", "no app is configured", fix: "Add at least one app with its credentials")
    }
    guard faults.faults.isEmpty else { throw ConfigurationFaults(file: file, faults: faults.faults) }
    return configuration
  }

  private static func readRetry(
    _ section: Section, _ providers: [ProviderName], into rules: inout [ProviderName: RetryRules]
  ) {
    var section = section
    for provider in providers.sorted(by: { $0.rawValue < $1.rawValue }) {
      var own = rules[provider] ?? RetryRules()
      own.read(section.section(provider.rawValue))
      rules[provider] = own
    }
    section.close()
  }
}
