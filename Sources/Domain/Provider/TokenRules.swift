/// What the tokens of a provider are like, and how one is read. Pure.
package struct TokenRules: Sendable {
  /// How a client writes a token.
  package enum Form: Sendable {
    /// Printable ASCII without space and slash, 1 to `longest` bytes.
    case identifier
    /// A text of 1 to `longest` bytes, or a JSON object, whose compact text is read.
    case document
  }
  /// Bytes of a token in any form, of all providers.
  package static let longest = 4_096

  /// What a token can be, in the words of `token_kind`.
  package var kinds: [TokenKind]
  package var form: Form
  /// Reads a token that has this form. It may have any kind: one beside `kinds` is refused by the caller.
  package var read: @Sendable (_ text: String, _ kind: TokenKind) throws(Fault) -> Token
  /// True of a token that `read` has returned and that reaches more than one installation of an app, such as all of a
  /// user's. Whoever holds a phone must not register one.
  package var reachesSeveral: @Sendable (_ text: String, _ kind: TokenKind) -> Bool = { _, _ in false }

  /// `read` is called only with text that has this form.
  package init(
    kinds: [TokenKind], form: Form = .identifier,
    read: @escaping @Sendable (_ text: String, _ kind: TokenKind) throws(Fault) -> Token
  ) {
    self.kinds = kinds
    self.form = form
    self.read = read
  }

  /// A token as it is kept.
  package struct Token: Hashable, Sendable {
    /// One text for each token, however it was written.
    package var text: String
    /// What the token itself says it is bound to (`Address.bundleID`); nil: nothing.
    package var bundleID: String?
    /// `text`: as it is stored and compared; two spellings of one token must give the same.
    package init(_ text: String, bundleID: String? = nil) {
      self.text = text
      self.bundleID = bundleID
    }
  }

  /// `detail` is a sentence that tells what a token has to be. No part of the token is in it.
  package struct Fault: Error, Hashable, Sendable {
    package var detail: String
    package var isTooLong: Bool
    /// `isTooLong`: told to the caller by a code of its own.
    package init(_ detail: String, isTooLong: Bool = false) {
      self.detail = detail
      self.isTooLong = isTooLong
    }
  }
}
