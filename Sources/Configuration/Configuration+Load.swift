package import Domain

extension Configuration {
  /// Reads and checks a whole file. `providers`: what each of them takes and asks for.
  package static func load(
    path: String, providers: [ProviderName: ProviderTerms]
  ) throws(ConfigurationFaults) -> Configuration {
    guard let bytes = FileContent.read(path, upTo: Files.maximumBytes) else {
      throw ConfigurationFaults(
        file: path,
        faults: [
          ConfigurationFault(
            pointer: "", problem: FileContent.exists(path) ? "the file cannot be read" : "\(path) does not exist here",
            fix: "Copy Config/fanfare.example.json5 there, or name another file with --config")
        ])
    }
    let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    return try parse(bytes, folder: folder.isEmpty ? "/" : folder, file: path, providers: providers)
  }

  /// `folder`: where relative paths start. `file`: how faults call it.
  package static func parse(
    _ bytes: [UInt8], folder: String, file: String, providers: [ProviderName: ProviderTerms]
  ) throws(ConfigurationFaults) -> Configuration {
    let node: Node
    do { node = try Node.parse(bytes) } catch { throw ConfigurationFaults(file: file, faults: [error]) }
    let faults = FaultList()
    let configuration = read(node, folder: folder, providers: providers, faults)
    guard faults.faults.isEmpty else {
      throw ConfigurationFaults(file: file, faults: faults.faults, configuration: configuration)
    }
    return configuration
  }

  /// Reads what can be read; what is wrong, and which settings were asked for, lands in `faults`.
  static func read(
    _ node: Node, folder: String, providers: [ProviderName: ProviderTerms], _ faults: FaultList
  ) -> Configuration {
    var root = Section(node, at: "", faults)
    var configuration = Configuration()
    let files = Files(folder: folder, faults: faults)
    configuration.redis.read(root.section("redis"), files)
    configuration.listen.read(root.section("listen"), files)
    configuration.partitions = root.integer("partitions", in: 1...1024) ?? configuration.partitions
    configuration.retention.read(root.section("retention"))
    configuration.audit.read(root.section("audit"))
    configuration.console.read(root.section("console"))
    configuration.lanes.read(root.section("lanes"))
    configuration.http2.read(root.section("http2"))
    configuration.limits.read(root.section("limits"), &configuration.tenantLimits)
    configuration.workers.read(root.section("workers"))
    configuration.pruneBrake.read(root.section("prune_brake"))
    configuration.durability.read(root.section("durability"))
    if root.has("monitor") {
      var monitor = Monitor()
      monitor.read(root.section("monitor"))
      configuration.monitor = monitor
    }
    configuration.quotas = of(providers, root.section("quotas"), \.quota) { $0.read($1) }
    configuration.retry = of(providers, root.section("retry"), \.retry) { $0.read($1) }
    if let name = root.text("ca_file"), files.open(name, at: "/ca_file") != nil {
      configuration.caFile = files.path(name)
    }
    if configuration.listen.operations == .monitor, configuration.monitor == nil {
      faults.add(
        "/listen/operations", "the monitor has no address", fix: "Add monitor: { address, port } to the file")
    }
    configuration.isStrict = root.bool("strict") ?? false
    configuration.logLevel = root.word("log_level", of: LogLevel.self) ?? configuration.logLevel
    configuration.apps = AppsReader(
      files: files, providers: providers.mapValues(\.settings), replicas: configuration.durability.replicas,
      limits: configuration.tenantLimits
    )
    .read(root.list("apps"))
    configuration.filesOfOthers = faults.filesOfOthers
    root.close()
    if configuration.apps.isEmpty, !root.has("apps") {
      faults.add("/apps", "no app is configured", fix: "Add at least one app with its credentials")
    }
    return configuration
  }

  /// What each vendor asks for, with single values replaced by those of its section.
  private static func of<Terms>(
    _ providers: [ProviderName: ProviderTerms], _ section: Section, _ terms: (ProviderTerms) -> Terms,
    read: (inout Terms, Section) -> Void
  ) -> [ProviderName: Terms] {
    var section = section
    var all = providers.mapValues(terms)
    for provider in providers.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
      read(&all[provider]!, section.section(provider.rawValue))
    }
    section.close()
    return all
  }
}
