import Domain

/// Reads `apps`: tenants, their credentials and key files.
struct AppsReader {
  let files: Files
  let providers: [ProviderName: [CredentialSetting]]
  /// Of apps that say nothing else.
  private let replicas: Int
  private let limits: TenantLimits
  private var faults: FaultList { files.faults }

  init(
    files: Files, providers: [ProviderName: [CredentialSetting]], replicas: Int = 0,
    limits: TenantLimits = TenantLimits()
  ) {
    self.files = files
    self.providers = providers
    self.replicas = replicas
    self.limits = limits
  }

  func read(_ items: [(node: Node, pointer: String)]) -> [AppEntry] {
    var seen: Set<String> = []
    return items.map { item in
      var section = Section(item.node, at: item.pointer, faults)
      let entry = app(&section, &seen)
      section.close()
      return entry
    }
  }

  private func app(_ section: inout Section, _ seen: inout Set<String>) -> AppEntry {
    let id = section.text("id")
    let tags = section.texts("register_tags")
    let registration = RegistrationReader(files: files).read(section.section("registration"))
    let clock = ClockReader(faults: faults).read(&section)
    let rate = section.integer("rate_per_second", in: 1...Int(Message.maximumRate))
    let brake = readBrake(section.section("error_brake"))
    let isApproved = section.has("approval")
    let approval = readApproval(section.section("approval"), isThere: isApproved)
    let accounts = section.list("credentials")
    check(id: id, at: section.place("id"), &seen)
    // A wrong id is a fault already; what stands below it is read all the same, so that all faults are told at once.
    var entry = AppEntry(app: App(id: AppID(rawValue: id ?? "")), credentials: [], places: [])
    entry.app.registerTags = tags
    entry.app.ratePerSecond = rate
    entry.app.errorBrake = brake
    entry.app.approval = approval
    entry.app.clock = clock
    entry.app.limits = limits
    entry.app.limits.readApp(section.section("limits"))
    var durability = section.section("durability")
    entry.app.replicas = durability.integer("replicas", in: Configuration.replicas) ?? replicas
    durability.close()
    entry.app.registration = registration.rules
    entry.identityKeys = registration.keys
    var names: Set<String> = []
    for account in accounts {
      var own = Section(account.node, at: account.pointer, faults)
      credential(&own, &entry, &names)
    }
    if accounts.isEmpty {
      faults.add(
        section.place("credentials"), "the app has no credentials and cannot send", fix: "Add at least one credential")
    }
    return entry
  }

  /// `error_brake: { share: 0.2, minimum: 500 }`; a share of 0 turns it off.
  private func readBrake(_ section: Section) -> ErrorBrake? {
    var section = section
    var brake = ErrorBrake()
    if let share = section.share("share") { brake.share = share }
    if let minimum = section.integer("minimum", in: ErrorBrake.minimums) { brake.minimum = minimum }
    section.close()
    return brake.share > 0 ? brake : nil
  }

  /// `approval: { above: 10000, exempt_keys: ["key_…"] }`
  private func readApproval(_ section: Section, isThere: Bool) -> ApprovalRule? {
    var section = section
    let isNamed = section.has("above")
    let above = section.integer("above", in: 0...Int(Int32.max))
    let exempt = section.texts("exempt_keys")
    section.close()
    guard let above else {
      if isThere, !isNamed {
        faults.add(
          section.place("above"), "above is missing", fix: "Add above: messages to more devices need a second person")
      }
      return nil
    }
    var rule = ApprovalRule(above: above)
    rule.exempt = Set(exempt)
    return rule
  }

  private func check(id: String?, at place: String, _ seen: inout Set<String>) {
    guard let id else { return faults.add(place, "the app has no id", fix: "Add id: \"…\"") }
    guard Self.isName(id) else {
      return faults.add(place, "\"\(id)\" is not a valid id", fix: "Use 1 … 64 of a-z, 0-9, _ and -")
    }
    if !seen.insert(id).inserted {
      faults.add(place, "two apps have the id \"\(id)\"", fix: "Give each app its own id")
    }
  }

  static func isName(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.utf8.allSatisfy { (0x61...0x7a).contains($0) || (0x30...0x39).contains($0) || $0 == 0x5f || $0 == 0x2d }
  }

  private func credential(_ section: inout Section, _ entry: inout AppEntry, _ names: inout Set<String>) {
    let name = section.text("name")
    let provider = section.text("provider").map { ProviderName(rawValue: $0) }
    let environments = readEnvironments(&section, of: provider)
    let origin = section.text("origin").flatMap { readOrigin($0, at: section.place("origin")) }
    guard let provider else {
      return faults.add(
        section.place("provider"), "the credential has no provider",
        fix: "Add provider: one of \(known.joined(separator: ", "))")
    }
    guard let settings = providers[provider] else {
      let near = Suggestion.nearest(to: provider.rawValue, among: known)
      return faults.add(
        section.place("provider"), "there is no provider \"\(provider.rawValue)\"",
        fix: near.map { "Did you mean \"\($0)\"?" } ?? "The providers are \(known.joined(separator: ", "))")
    }
    let given = read(settings, &section)
    section.close()
    guard let name, Self.isName(name), names.insert(name).inserted else {
      return faults.add(
        section.place("name"),
        name == nil ? "the credential has no name" : "\"\(name ?? "")\" is not a valid name, or is used twice",
        fix: "Use 1 … 64 of a-z, 0-9, _ and -, once in the app")
    }
    let base = "\(entry.app.id.rawValue)/\(name)"
    let split = settings.first { $0.form.opensEach }?.name
    if origin != nil, let split {
      faults.add(
        section.place("origin"), "\(provider.rawValue) has no origin: it sends to each of its \(split)",
        fix: "Name the stand-in's host and port in \(split)")
    }
    let opened = environments.flatMap { environment in
      guard let split else {
        return [(environments.count > 1 ? "\(base):\(environment.rawValue)" : base, environment, given.texts)]
      }
      return (given.lists[split] ?? []).map { one in
        ("\(base):\(one)", environment, given.texts.merging([split: one]) { $1 })
      }
    }
    for (id, environment, texts) in opened {
      let id = CredentialID(rawValue: id)
      var credential = Credential(id: id, app: entry.app.id, provider: provider, environment: environment)
      credential.texts = texts
      credential.lists = given.lists
      credential.files = given.files
      credential.origin = origin
      entry.credentials.append(credential)
      entry.places.append(section.pointer)
      entry.app.credentials.append(CredentialRoute(credential: id, provider: provider, environment: environment))
    }
  }

  private var known: [String] { providers.keys.map(\.rawValue).sorted() }

  /// `environment: "sandbox"` or `environments: ["production", "sandbox"]`; a credential of APNs without either serves
  /// production.
  private func readEnvironments(_ section: inout Section, of provider: ProviderName?) -> [Environment] {
    let one = section.word("environment", of: Environment.self)
    var found: [Environment] = one.map { [$0] } ?? []
    for (place, text) in section.texts("environments").enumerated() {
      guard let environment = Environment(rawValue: text) else {
        faults.add(
          section.place("environments") + "/\(place)", "\"\(text)\" is not an environment",
          fix: "Use \"production\" and \"sandbox\"")
        continue
      }
      if !found.contains(environment) { found.append(environment) }
    }
    if one != nil, section.has("environments") {
      faults.add(section.place("environment"), "environment and environments exclude each other", fix: "Keep one")
    }
    if provider != .apns, found.contains(.sandbox) {
      faults.add(
        section.place(section.has("environment") ? "environment" : "environments"),
        "only APNs has a sandbox environment", fix: "Remove it; to send to a stand-in, set origin")
    }
    return found.isEmpty ? [.production] : found
  }

  /// `host` or `host:port`, in place of the vendor's.
  private func readOrigin(_ text: String, at pointer: String) -> Origin? {
    guard let place = HostPort(text, defaultPort: 443) else {
      faults.add(
        pointer, "\"\(text)\" is not a host and port", fix: "Write \"localhost:8443\"; the scheme is always https")
      return nil
    }
    return Origin(host: place.host, port: place.port)
  }

  private struct Given {
    var texts: [String: String] = [:]
    var lists: [String: [String]] = [:]
    var files: [String: [UInt8]] = [:]
  }

  private func read(_ settings: [CredentialSetting], _ section: inout Section) -> Given {
    var given = Given()
    for setting in settings {
      let name = setting.name
      if setting.required, !section.has(name) {
        faults.add(section.place(name), "\(name) is missing", fix: "Add it: \(setting.help)")
      }
      switch setting.form {
      case .text: given.texts[name] = section.text(name) ?? setting.variable.flatMap(Files.variable)
      case .texts:
        let isThere = section.has(name)
        let texts = section.texts(name)
        if isThere { given.lists[name] = texts }
      case .each(let usual):
        let texts = section.has(name) ? section.texts(name) : usual
        given.lists[name] = texts
        if texts.isEmpty || Set(texts).count < texts.count {
          faults.add(section.place(name), "\(name) is not a list of different texts", fix: "Leave it out for all")
        }
      case .flag: given.texts[name] = section.bool(name).map { $0 ? "true" : "false" }
      case .secretFile:
        given.files[name] = section.text(name).flatMap { files.secret($0, at: section.place(name)) }
      }
    }
    return given
  }
}
