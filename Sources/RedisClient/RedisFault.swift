/// Why a command has no usable answer.
package enum RedisFault: Error, Hashable, Sendable {
  /// Not connected, or connected and not ready yet: the command was not sent.
  case disconnected
  /// Too many bytes wait for answers: the command was not sent.
  case overloaded
  /// The connection broke while the command waited: it may have been carried out. Never resent by itself.
  case lost
  /// No answer in time: it may have been carried out, or still be.
  case timedOut
  /// Redis answered with an error.
  case refused(RedisRefusal)
  /// The endpoint cannot be used as configured; the text names the fix.
  case unusable(String)
}

/// An error answer: its first word, classified, and the whole text.
package struct RedisRefusal: Hashable, Sendable {
  /// The raw values are the first words of Redis' error answers. Those that no branch of ours tells apart are `other`.
  package enum Code: String, Hashable, Sendable, CaseIterable {
    case loading = "LOADING"
    case readOnly = "READONLY"
    case outOfMemory = "OOM"
    case busy = "BUSY"
    case noScript = "NOSCRIPT"
    case moved = "MOVED"
    case ask = "ASK"
    case tryAgain = "TRYAGAIN"
    case clusterDown = "CLUSTERDOWN"
    case masterDown = "MASTERDOWN"
    case noReplicas = "NOREPLICAS"
    /// Redis cannot write its snapshot or log.
    case misconfigured = "MISCONF"
    case wrongType = "WRONGTYPE"
    case noAuthentication = "NOAUTH"
    case wrongPassword = "WRONGPASS"
    case noPermission = "NOPERM"
    /// A word of a script of ours, or one of a later Redis.
    case other = ""
  }
  package let code: Code
  package let text: String

  /// `text`: the error as Redis wrote it, without the `-`.
  package init(text: String) {
    self.text = text
    code = Code(rawValue: String(text.prefix { $0 != " " })) ?? .other
  }
  /// The first word.
  package var word: Substring { text.prefix { $0 != " " } }
}
