/// A push provider: pure (design D1). It opens no socket, reads no clock and knows no Redis; when to try again it
/// declares, and others do it.
package protocol PushProvider: Sendable {
  var name: ProviderName { get }
  /// The settings a credential of this provider takes, for the configuration's check.
  var settings: [CredentialSetting] { get }
  var tokens: TokenRules { get }
  /// What the vendor asks of those who try again.
  var retry: RetryRules { get }
  /// What the vendor lets one account send.
  var quota: Quota { get }

  /// What it takes to render without an account: `fanfare render` shows requests so. It may make keys: ask once.
  var sample: ProviderSample { get }

  /// True if such a message may go to such an address (its token itself is of no account): one of
  /// `pushType.tokenKinds`. False becomes `skipped: token_kind`, or `kind_unsupported` where no kind of token would do.
  func carries(_ pushType: PushType, to address: Address) -> Bool
  /// Opens a credential: parses keys, checks identifiers.
  func open(_ credential: Credential) throws(CredentialFault) -> any ProviderAccount
}

/// One setting of a credential in the configuration.
package struct CredentialSetting: Sendable {
  /// How a setting is written in the configuration, and where the account finds it: in `Credential.texts`, `lists` or
  /// `files`.
  package enum Form: Sendable {
    case text
    /// A list of texts.
    case texts
    /// A list of texts, or these. The credential is opened once for each, which it finds as a text; its id has that behind a colon.
    case each(of: [String])
    /// true or false, handed on as text.
    case flag
    /// A path to a file that only its owner can read; the account receives the content.
    case secretFile

    /// The credential is opened for each entry.
    package var opensEach: Bool { if case .each = self { true } else { false } }
  }
  package var name: String
  package var form: Form
  package var required: Bool
  package var help: String
  /// The variable of the process' environment that stands in for a text that is left out.
  package var variable: String?
  /// `help`: for the operator, in the fault that names a missing setting. `variable`: only with `.text`.
  package init(_ name: String, _ form: Form = .text, required: Bool, help: String, variable: String? = nil) {
    self.name = name
    self.form = form
    self.required = required
    self.help = help
    self.variable = variable
  }
}

/// A credential as configured: texts and file contents by setting name.
package struct Credential: Hashable, Sendable {
  package var id: CredentialID
  package var app: AppID
  package var provider: ProviderName
  package var environment: Environment
  package var texts: [String: String]
  package var lists: [String: [String]]
  package var files: [String: [UInt8]]
  /// Replaces the vendor's host (tests, demo, proxies): scheme is always https.
  package var origin: Origin?

  /// Without settings: the configuration's reader fills them in.
  package init(id: CredentialID, app: AppID, provider: ProviderName, environment: Environment = .production) {
    self.id = id
    self.app = app
    self.provider = provider
    self.environment = environment
    texts = [:]
    lists = [:]
    files = [:]
  }
}

/// A vendor's host; the scheme is https.
package struct Origin: Hashable, Sendable {
  package var host: String
  package var port: Int
  /// `host`: a name or an address, an IPv6 one without brackets.
  package init(host: String, port: Int) {
    self.host = host
    self.port = port
  }
  /// `host`, or `host:port` unless it is 443: the `:authority` and Host header. An IPv6 address stands in brackets.
  package var authority: String {
    let name = host.contains(":") ? "[\(host)]" : host
    return port == 443 ? name : "\(name):\(port)"
  }
}

/// A credential that cannot be used; `fix` tells the operator what to do.
package struct CredentialFault: Error, Hashable, Sendable {
  package var setting: String
  package var problem: String
  package var fix: String
  /// `problem` and `fix`: parts of one line of a report, so small letters and no full stop.
  package init(setting: String, problem: String, fix: String) {
    self.setting = setting
    self.problem = problem
    self.fix = fix
  }
}

/// The protocol that a vendor speaks, and how hard it may be pressed.
package enum Wire: Sendable {
  /// HTTP/2, one stream per request. `cautiousStart`: the first request of a connection goes alone
  /// (protocols/apns.md section 8).
  case http2(cautiousStart: Bool)
  /// HTTP/1.1 by libcurl, at most `connections` requests at a time.
  case http1(connections: Int)
}

/// An opened credential: renders messages, builds requests, judges answers.
package protocol ProviderAccount: Sendable {
  var credential: CredentialID { get }
  var provider: ProviderName { get }
  var origin: Origin { get }
  var wire: Wire { get }
  /// Recipients in one request: 1, or the slice limit. More than one needs `Wire.http1`: over HTTP/2 nothing is sent.
  var recipientLimit: Int { get }
  /// The vendor takes texts in all languages, and picks each device's own where its language is not known here.
  var choosesLanguage: Bool { get }
  /// What the vendor counts requests by: accounts of one group share its quota.
  var quotaGroup: String { get }
  /// Recipients that it may reach for each of its subscribers; nil: the vendor has no such rule.
  var subscriberRule: SubscriberRule? { get }
  /// The addresses it may send to.
  var coverage: Coverage { get }
  /// A token for such a message that this account would be asked to send to, and that no vendor knows.
  func sampleToken(_ kind: TokenKind, for message: Message) -> String
  /// Shown in the handshake of its connections, which are its own then.
  var clientCertificate: ClientCertificate? { get }
  var facts: CredentialFacts { get }

  /// The part of the requests of a message that all its recipients share; done once per message, credential and
  /// language. Its texts are to be shown as they are; `localized` is empty but for accounts that choose.
  /// `startedAt` anchors absolute expirations.
  func render(_ message: Message, startedAt: WallTime) throws(RenderFault) -> Rendering
  /// Recipients whose classes differ cannot share a request (OneSignal: ids and each alias label). Empty for all
  /// others.
  func recipientClass(of address: Address) -> String
  /// The request for these recipients: 1…`recipientLimit` of one class. `id` is derived from message and device, or
  /// from the slice, and stays the same over attempts.
  func request(_ rendering: Rendering, to recipients: [Address], id: UUIDBytes, authorization: String)
    -> ProviderRequest
  /// What the requests of this rendering to devices of the same kind of token and bundle id as `address` have in
  /// common; nil: each is made on its own.
  func frame(_ rendering: Rendering, like address: Address, authorization: String) -> PushFrame?
  /// The body of a framed request.
  func body(_ rendering: Rendering, token: [UInt8]) -> [UInt8]
  func judge(_ answer: ProviderAnswer, recipients: [Address]) -> Judgement
  /// What an answer to a framed request says of its acceptance, whatever its headers say. Nil: it has to be judged.
  func acceptance(status: Int, body: [UInt8]) -> PushReceipt?
  /// A call by which the vendor shows whether it takes this credential, and which sends and changes nothing. Nil: there is nobody to
  /// ask.
  func probe(authorization: String) -> ProviderRequest?
  /// What the answer to `probe` shows.
  func read(probe answer: ProviderAnswer) -> ProbeFinding
  /// A fresh source of authorization headers; the caller keeps one per credential and shares it over connections. What
  /// was refused is asked for again after `probeInterval` milliseconds.
  func makeAuthorization(probeInterval: Int64) -> any Authorization
}

extension ProviderAccount {
  package var choosesLanguage: Bool { false }
  package var quotaGroup: String { credential.rawValue }
  package var subscriberRule: SubscriberRule? { nil }
  package var coverage: Coverage { .everything }
  /// By default the 64 hexadecimal digits of an APNs token.
  package func sampleToken(_ kind: TokenKind, for message: Message) -> String { ProviderSample.hex }
  package var clientCertificate: ClientCertificate? { nil }
  /// By default none: each request is made on its own.
  package func frame(_ rendering: Rendering, like address: Address, authorization: String) -> PushFrame? { nil }
  /// By default the rendering's head alone: for tokens that stand in the path.
  package func body(_ rendering: Rendering, token: [UInt8]) -> [UInt8] { rendering.head }
  /// By default none: each answer is judged.
  package func acceptance(status: Int, body: [UInt8]) -> PushReceipt? { nil }
  /// For a single use.
  package func makeAuthorization() -> any Authorization { makeAuthorization(probeInterval: 30_000) }
}

/// What the vendor calls a push that it has accepted.
package enum PushReceipt: Hashable, Sendable {
  case unnamed
  /// As the request did: `DeliveryID.requestID`.
  case requestID
  case named(String)
}

/// What all recipients of a message share at one credential.
package struct Rendering: Sendable {
  /// Whole, or to be completed per recipient behind `path`.
  package var path: String
  package var headers: [Header]
  /// The body, or what stands before the recipient's own part.
  package var head: [UInt8]
  package var tail: [UInt8]
  /// A request needs `Address.liveActivityToken`: an address without one is skipped as `no_live_activity_token`.
  package var needsLiveActivityToken = false
  /// The provider's own note to `request`, which nobody else reads.
  package var mark: String
  /// Bytes that head and tail may have together; nil: any.
  package var limit: Int?
  /// What is left under the vendor's limit, where that is not on head and tail together.
  package var dataLeft: Int?
  /// Fields that this provider could not carry, mapped or left out: `(JSON pointer, what happened)`.
  package var warnings: [RenderWarning]
  /// `head` alone is the body where the recipient has no part in it.
  package init(
    path: String, headers: [Header], head: [UInt8], tail: [UInt8] = [], mark: String = "", limit: Int? = nil,
    warnings: [RenderWarning] = []
  ) {
    self.path = path
    self.headers = headers
    self.head = head
    self.tail = tail
    self.mark = mark
    self.limit = limit
    self.warnings = warnings
  }
}

/// A field that a provider changed or left out; the message is sent all the same.
package struct RenderWarning: Hashable, Sendable {
  package var pointer: String
  package var note: String
  /// The provider gets nothing of the field. False: it gets the nearest that it has.
  package var isLeftOut: Bool
  /// It does not matter where the message goes to fewer devices through this account.
  package var leastDevices: Int
  /// `note`: a sentence for the caller that begins with the provider's name.
  package init(_ pointer: String, _ note: String, isLeftOut: Bool = false, leastDevices: Int = 0) {
    self.pointer = pointer
    self.note = note
    self.isLeftOut = isLeftOut
    self.leastDevices = leastDevices
  }
}

/// A message that this provider would refuse: over a size limit, or a combination it does not take.
package struct RenderFault: Error, Hashable, Sendable {
  /// JSON pointer into the message; empty for the whole.
  package var pointer: String
  package var code: String
  package var detail: String
  /// What else the provider would refuse of the message.
  package var others: [RenderFault] = []
  /// `pointer`: empty for the message as a whole. `code`: stable, for programs. `detail`: a sentence for the caller.
  package init(pointer: String = "", code: String, detail: String) {
    self.pointer = pointer
    self.code = code
    self.detail = detail
  }
}

/// One header field. Values are not checked here: see `isSafeValue`.
package struct Header: Hashable, Sendable {
  /// Lower case.
  package var name: String
  package var value: String
  /// False: a literal without indexing (protocols/apns.md section 1 for values that never repeat).
  package var indexed: Bool
  /// `name` must be in small letters, as HTTP/2 demands.
  package init(_ name: String, _ value: String, indexed: Bool = true) {
    self.name = name
    self.value = value
    self.indexed = indexed
  }
}

/// One request to a vendor, ready for the transport; `:authority` is the account's origin.
package struct ProviderRequest: Hashable, Sendable {
  package var method: String
  package var path: String
  package var headers: [Header]
  package var body: [UInt8]
  /// Of an account whose vendor has many hosts: this recipient's. Nil: the account's own. HTTP/1.1 only.
  package var origin: Origin?
  /// What the recipient reads, where the body is encrypted: for people who look at a request. It is not sent.
  package var readable: [UInt8]?
  /// Why there is no request: it ends as rejected, and nobody is asked.
  package var fault: String?
  /// `path` begins with a slash.
  package init(method: String = "POST", path: String, headers: [Header], body: [UInt8]) {
    self.method = method
    self.path = path
    self.headers = headers
    self.body = body
  }
  /// Nothing is sent: the delivery ends as rejected, with `fault` as its reason.
  package init(fault: String) {
    self.init(path: "", headers: [], body: [])
    self.fault = fault
  }
}

/// What a vendor answered, over whichever protocol.
package struct ProviderAnswer: Hashable, Sendable {
  package var status: Int
  /// Lower-case names.
  package var headers: [Header]
  /// Cut off by the transport at its limit; may be empty, HTML or anything.
  package var body: [UInt8]
  /// When it came, by this machine's clock; nil where nobody asks.
  package var receivedAt: WallTime?
  /// A `receivedAt` of nil is fit where no date of the answer is read.
  package init(status: Int, headers: [Header] = [], body: [UInt8] = [], receivedAt: WallTime? = nil) {
    self.status = status
    self.headers = headers
    self.body = body
    self.receivedAt = receivedAt
  }
  /// The first of that name, which must be in small letters.
  package func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }

  /// Seconds that `Retry-After` asks for, 0…`longestRetryAfter`; nil: it is missing, or not in a form of RFC 9110. A
  /// date counts from the answer's own `Date`, as the peer's clock may be wrong, or else from when it came.
  package var retryAfter: Int? {
    guard let text = header("retry-after") else { return nil }
    if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      return Whole.read(text, in: 0...Self.longestRetryAfter) ?? Self.longestRetryAfter
    }
    let here = receivedAt ?? WallTime(milliseconds: 0)
    let sent = header("date").flatMap { HTTPDate.parse($0, now: here) }
    guard let from = sent ?? receivedAt, let until = HTTPDate.parse(text, now: from) else { return nil }
    let span = max(0, until - from)
    return Int(min(span / 1_000 + (span % 1_000 > 0 ? 1 : 0), Int64(Self.longestRetryAfter)))
  }

  /// A peer that asks for more than a year is not believed.
  package static let longestRetryAfter = 31_536_000
}
