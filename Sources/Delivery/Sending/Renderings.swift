import Domain

/// Why a delivery is not sent: its provider would refuse it, or its device lacks what the text needs.
enum Unrenderable: Error, Hashable {
  case refused(code: String)
  case attributeMissing

  var outcome: (Outcome, reason: String) {
    switch self {
    case .refused(let code): (.failed, code)
    case .attributeMissing: (.skipped, SkipReason.attributeMissing.rawValue)
    }
  }
}

/// All renderings of one message: one per credential and language, shared by all devices where nothing is personal.
struct Renderings {
  private struct Form {
    var choice: MessageTexts.Choice
    var slots: [Placeholder]
    /// Without slots: the one for all.
    var shared: Result<Rendering, Unrenderable>?
    /// Nil: each device is rendered whole.
    var personal: PersonalRendering?
  }
  private struct Key: Hashable {
    var credential: CredentialID
    var choice: MessageTexts.Choice
  }

  private let texts: MessageTexts
  private let startedAt: WallTime
  private var forms: [Key: Form] = [:]
  /// What a device's language leads to: as many as there are languages, but for clients that make some up.
  private var choices: [String: MessageTexts.Choice] = [:]
  private static let languagesKept = 512
  /// Where all get the same; the last one is found without hashing.
  private var shared: [CredentialID: Result<Rendering, Unrenderable>] = [:]
  private var last: (credential: CredentialID, result: Result<Rendering, Unrenderable>)?

  init(_ message: Message, startedAt: WallTime) {
    texts = MessageTexts(message)
    self.startedAt = startedAt
  }

  mutating func rendering(_ account: any ProviderAccount, for facts: DeviceFacts?) -> Result<Rendering, Unrenderable> {
    guard texts.isShared else { return individual(account, for: facts ?? DeviceFacts()) }
    let credential = account.credential
    if let last, last.credential == credential { return last.result }
    let result = shared[credential] ?? render(texts.message(.own) { _ in "" }, account)
    shared[credential] = result
    last = (credential, result)
    return result
  }

  /// The account is another one now: what it made is void.
  mutating func forget(_ credential: CredentialID) {
    shared[credential] = nil
    if last?.credential == credential { last = nil }
    for key in forms.keys where key.credential == credential { forms[key] = nil }
  }

  /// Devices for whom it differs cannot share a request.
  mutating func likeness(_ account: any ProviderAccount, for facts: DeviceFacts?) -> String {
    guard !texts.isShared else { return "" }
    let facts = facts ?? DeviceFacts()
    let form = form(account, facts.language)
    var name = "\(form.choice)"
    for slot in form.slots {
      let text = facts.text(for: slot)
      name += " \(text?.utf8.count ?? -1):\(text ?? "")"
    }
    return name
  }

  private mutating func individual(_ account: any ProviderAccount, for facts: DeviceFacts)
    -> Result<Rendering, Unrenderable>
  {
    let form = form(account, facts.language)
    if let shared = form.shared { return shared }
    var values: [String] = []
    values.reserveCapacity(form.slots.count)
    for slot in form.slots {
      guard let text = facts.text(for: slot) else { return .failure(.attributeMissing) }
      values.append(text)
    }
    guard let personal = form.personal else {
      let message = texts.message(form.choice) { slot in form.slots.firstIndex(of: slot).map { values[$0] } ?? "" }
      return render(message, account)
    }
    return personal.filled(values).map { .success($0) } ?? .failure(.refused(code: RenderFault.tooLargeCode))
  }

  private mutating func form(_ account: any ProviderAccount, _ language: String?) -> Form {
    let key = Key(credential: account.credential, choice: choice(language, account))
    if let known = forms[key] { return known }
    let slots = texts.slots(of: key.choice)
    var form = Form(choice: key.choice, slots: slots)
    if slots.isEmpty {
      form.shared = render(texts.message(key.choice) { _ in "" }, account)
    } else {
      form.personal = PersonalRendering(texts, key.choice, slots: slots, account: account, startedAt)
    }
    forms[key] = form
    return form
  }

  private mutating func choice(_ language: String?, _ account: any ProviderAccount) -> MessageTexts.Choice {
    guard let language else { return texts.choice(for: nil, providerChooses: account.choosesLanguage) }
    if let known = choices[language] { return known }
    let choice = texts.choice(for: language, providerChooses: account.choosesLanguage)
    if choices.count < Self.languagesKept { choices[language] = choice }
    return choice
  }

  private func render(_ message: Message, _ account: any ProviderAccount) -> Result<Rendering, Unrenderable> {
    do throws(RenderFault) {
      return .success(try account.render(message, startedAt: startedAt))
    } catch {
      return .failure(.refused(code: error.code))
    }
  }
}
