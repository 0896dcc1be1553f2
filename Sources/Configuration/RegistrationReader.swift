import Domain

/// Reads `registration` of an app: the keys of identity tokens, what may be registered without one, and by which web
/// pages.
struct RegistrationReader {
  let files: Files
  private var faults: FaultList { files.faults }

  init(files: Files) { self.files = files }

  /// The rules, whose keys are not opened yet, with the place of each key in the file.
  func read(_ section: Section) -> (rules: RegistrationRules, keys: [(key: IdentityKey, place: String)]) {
    var section = section
    var rules = RegistrationRules()
    var seen: Set<String> = []
    var keys: [(key: IdentityKey, place: String)] = []
    for item in section.list("keys") {
      var own = Section(item.node, at: item.pointer, faults)
      if let key = key(&own, &seen) { keys.append((key, item.pointer)) }
      own.close()
    }
    rules.tokenLifetime = section.duration("token_lifetime", in: 60_000...86_400_000) ?? rules.tokenLifetime
    read(anonymous: section.section("anonymous"), &rules)
    for (text, pointer) in section.placedTexts("origins") {
      guard Self.isOrigin(text) else {
        faults.add(
          pointer, "\"\(text)\" is not the origin of a page",
          fix: "Write it as browsers do: \"https://www.example.com\", in lower case, without a path")
        continue
      }
      rules.origins.insert(text)
    }
    if !rules.allowsAnonymous, keys.isEmpty {
      faults.add(
        section.place("anonymous") + "/allowed", "no phone could register: there are no keys for identity tokens",
        fix: "Add keys, or allow anonymous registration")
    }
    section.close()
    return (rules, keys)
  }

  private func read(anonymous section: Section, _ rules: inout RegistrationRules) {
    var section = section
    if let allowed = section.bool("allowed") { (rules.allowsAnonymous, rules.decidesAnonymous) = (allowed, true) }
    rules.anonymousTags = section.integer("tags", in: 0...Tag.maximumPerDevice) ?? rules.anonymousTags
    rules.anonymousAttributes = section.integer("attributes", in: 0...100) ?? rules.anonymousAttributes
    rules.anonymousDevices = section.integer("devices_per_address", in: 1...1_000_000) ?? rules.anonymousDevices
    section.close()
  }

  private func key(_ section: inout Section, _ seen: inout Set<String>) -> IdentityKey? {
    let id = section.text("id")
    let algorithm = section.word("algorithm", of: IdentityAlgorithm.self)
    let hasAlgorithm = section.has("algorithm")
    let publicKey = section.text("public_key_file")
    let secret = section.text("secret_file")
    guard let id, Self.isKeyID(id), seen.insert(id).inserted else {
      faults.add(
        section.place("id"), id == nil ? "the key has no id" : "\"\(id ?? "")\" is not a valid id, or is used twice",
        fix: "Use 1 … 64 of a-z, A-Z, 0-9, `_`, `-` and `.`, once in the app")
      return nil
    }
    guard let algorithm else {
      if !hasAlgorithm {
        faults.add(section.place("algorithm"), "the key has no algorithm", fix: "Add algorithm: \"ES256\" or \"HS256\"")
      }
      return nil
    }
    let (name, file, other, isOtherGiven) =
      switch algorithm {
      case .es256: ("public_key_file", publicKey, "secret_file", secret != nil)
      case .hs256: ("secret_file", secret, "public_key_file", publicKey != nil)
      }
    if isOtherGiven {
      faults.add(section.place(other), "\(algorithm.rawValue) has no \(other)", fix: "Give \(name) instead")
      return nil
    }
    guard let file else {
      faults.add(section.place(name), "\(name) is missing", fix: "Add it: \(Self.help(algorithm))")
      return nil
    }
    let place = section.place(name)
    let content =
      switch algorithm {
      case .es256: files.trusted(file, at: place)
      case .hs256: files.secret(file, at: place).map(Self.withoutLineEnd)
      }
    return content.map { IdentityKey(id: id, algorithm: algorithm, content: $0) }
  }

  private static func help(_ algorithm: IdentityAlgorithm) -> String {
    switch algorithm {
    case .es256: "the public key of the backend's P-256 key, as PEM"
    case .hs256: "at least 32 random characters, which the backend has too"
    }
  }

  /// A secret may have any bytes: it is not read as a text.
  private static func withoutLineEnd(_ content: [UInt8]) -> [UInt8] {
    var content = content[...]
    while let last = content.last, last == UInt8(ascii: "\n") || last == UInt8(ascii: "\r") { content.removeLast() }
    return Array(content)
  }

  private static func isKeyID(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.utf8.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || "_-.".utf8.contains($0) }
  }

  /// As browsers write it (RFC 6454 section 6.2): they compare letter by letter.
  private static func isOrigin(_ text: String) -> Bool {
    for (scheme, port) in [("https://", 443), ("http://", 80)] where text.hasPrefix(scheme) {
      let rest = text.dropFirst(scheme.count)
      guard let place = HostPort(rest, defaultPort: 0) else { return false }
      // The scheme's own port is not written.
      return place.port != port && rest.utf8.allSatisfy { !(UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
    }
    return false
  }
}
