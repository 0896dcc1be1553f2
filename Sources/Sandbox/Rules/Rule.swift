/// A fault to play: which requests it meets, and what happens to them. Only requests that the vendor would accept meet
/// rules; what is invalid gets the vendor's own refusal.
package struct Rule: Hashable, Sendable {
  /// Whether the vendor takes the request that a rule meets. What clients hear is the same.
  package enum When: String, Hashable, Sendable {
    /// Instead of processing: the request is not accepted.
    case before
    /// The request is accepted, then this happens to its answer.
    case after
  }
  /// An answer in place of the vendor's.
  package struct Reply: Hashable, Sendable {
    package var status: Int
    /// The vendor's word; nil: the usual one for the status.
    package var reason: String?
    /// Milliseconds, for 410.
    package var timestamp: Int64?
    /// As the header has it: seconds, an HTTP date, or what no client can read.
    package var retryAfter: String?
    /// Replaces the vendor's body, as a proxy's HTML page would.
    package var body: String?
    /// In place of the body: so many bytes, made while they are sent.
    package var bodyBytes: Int?
    package init(
      status: Int, reason: String? = nil, timestamp: Int64? = nil, retryAfter: String? = nil, body: String? = nil,
      bodyBytes: Int? = nil
    ) {
      self.status = status
      self.reason = reason
      self.timestamp = timestamp
      self.retryAfter = retryAfter
      self.body = body
      self.bodyBytes = bodyBytes
    }
  }
  /// What happens to the stream or its connection, mostly in place of an answer.
  package enum Action: Hashable, Sendable {
    /// Over HTTP/1.1 no further request is taken, and the connection ends.
    case goaway(code: UInt32, reason: String)
    /// RST_STREAM; over HTTP/1.1 RST of the TCP connection.
    case reset(code: UInt32)
    /// The whole connection falls silent, for `delay` or for good.
    case stall
    /// The TCP connection ends without an answer.
    case close
    /// An answer whose header block has so many bytes, in HEADERS and CONTINUATION frames or in lines; nil: until the client
    /// leaves.
    case headers(bytes: Int?)
    /// A header block that no HPACK decoder takes; over HTTP/1.1 a line that is no status line.
    case hpack
    /// The credential of this request (provider token, access token) stops working from it on. APNs and FCM only.
    case expire
    /// Meets connections: a server certificate that a careful client refuses. Nothing without TLS.
    case certificate(CertificateFault)
    /// Meets connections: the server's side of the handshake comes a byte each so many milliseconds; nil: never.
    case handshake(every: Int64?)
    /// SETTINGS with another number of streams, then the usual answer. Nothing over HTTP/1.1.
    case streams(Int)
  }

  /// What is wrong with a server certificate; the raw values are the words of rules.
  package enum CertificateFault: String, CaseIterable, Hashable, Sendable {
    case unknownAuthority = "unknown_authority"
    case expired
    case otherHost = "other_host"
  }

  package var name: String?
  /// Nil: every provider.
  package var provider: SandboxProvider?
  /// `*` stands for any run, `?` for any one character.
  package var token = "*"
  /// 0…1 of the matching requests, drawn from the token and how often it came, so that runs repeat.
  package var share = 1.0
  /// How often at most.
  package var times: Int?
  /// How often at most for one token.
  package var timesPerToken: Int?
  /// Matching requests that pass before the first play.
  package var after = 0
  package var when = When.before
  package var reply: Reply?
  package var action: Action?
  /// Milliseconds before the answer; with `stall`, how long it lasts.
  package var delay: Int64 = 0

  /// Meets every request of every provider, and does nothing to it.
  package init() {}

  /// Reasons of OneSignal's partial answers: these rules pick members of a request, not the request.
  static let memberReasons: Set<String> = [
    "invalid_player_ids", "invalid_subscription_ids", "invalid_aliases", "invalid_external_user_ids",
  ]
  var picksMembers: Bool { reply?.status == 200 && Self.memberReasons.contains(reply?.reason ?? "") }

  /// The rule meets new connections, not requests.
  var meetsConnections: Bool {
    switch action {
    case .certificate, .handshake: true
    default: false
    }
  }

  var meetsRequests: Bool { !meetsConnections && !picksMembers }

  /// How statistics and log call it.
  package var fault: FaultKind {
    switch action {
    case .goaway: .goaway
    case .reset: .reset
    case .stall: .stall
    case .close: .close
    case .streams: .streams
    case .headers: .headers
    case .hpack: .hpack
    case .expire: .expire
    case .certificate: .certificate
    case .handshake: .handshake
    case nil: reply != nil ? .reply : .delay
    }
  }
}

/// How log and statistics name what was played.
package enum FaultKind: String, CaseIterable, Hashable, Sendable {
  case reply, delay, goaway, reset, stall, close, streams, headers, hpack, expire, certificate, handshake
}
