import Domain
import HTTPServer
import JSON
import Store

/// Finds drafts, and says what became of those that are none any more.
struct DraftLookup {
  let store: Store

  func draft(_ id: DraftID, _ app: AppID) async throws(Problem) -> StoredDraft {
    let state: DraftState
    do throws(StoreError) {
      state = try await store.drafts.draft(id, app: app)
    } catch {
      throw Problem(error)
    }
    switch state {
    case .found(let draft): return draft
    case .sent(let message): throw try await sent(message, app)
    case .unknown: throw Problem.noDraft
    }
  }

  /// With what became of its message.
  func sent(_ message: MessageID, _ app: AppID) async throws(Problem) -> Problem {
    let report: MessageReport?
    do throws(StoreError) {
      report = try await store.reports.report(message, app: app)
    } catch {
      throw Problem(error)
    }
    return Self.sent(message, isCancelled: report?.state == .cancelled)
  }

  private static func sent(_ message: MessageID, isCancelled: Bool) -> Problem {
    Problem(
      .draftSent,
      isCancelled
        ? "This draft was sent as \(message), which was cancelled: you can read and duplicate that message"
        : "This draft was sent as \(message): you can read, cancel and duplicate that message")
  }

  func document(of draft: StoredDraft) throws(Problem) -> JSONValue {
    guard let document = try? JSON.parse(draft.body, maximumDepth: Call.maximumDepth) else {
      throw Problem(.internalError, "The draft \(draft.id) cannot be read")
    }
    return document
  }
}

/// What `If-Match` says of a draft; no version: any.
struct DraftMatch {
  var version: Int?
}

extension Call {
  /// Of `If-Match`; nil: it is not there.
  func draftVersion() throws(Problem) -> DraftMatch? {
    guard let text = request.header("if-match") else { return nil }
    if text == "*" { return DraftMatch() }
    let digits =
      text.hasPrefix("\"") && text.hasSuffix("\"") && text.count > 2 ? String(text.dropFirst().dropLast()) : text
    guard let version = Whole.read(digits, in: 1...Int(Int32.max)) else {
      throw Problem(.invalidParameter, "`If-Match` must be the `etag` of the draft that you read, or `*`")
    }
    return DraftMatch(version: version)
  }
}

extension Problem {
  static func draftConflict(_ version: Int) -> Problem {
    Problem(
      .draftConflict, "The draft has version \(version): read it again, and change that version",
      headers: [Header("etag", "\"\(version)\"")])
  }
}

/// The name of a draft or message that was made of another.
enum DraftName {
  /// The name alone where it leaves no room for more.
  static func of(_ words: String, _ name: String) -> String {
    let longer = "\(words) \(name)"
    return longer.utf8.count <= Message.longestName ? longer : name
  }

  /// Of a test, with the variant that it shows.
  static func ofTest(of name: String, _ variant: String?) -> String {
    let named = variant.map { "\(name) (\($0))" } ?? name
    return of("Test of", named.utf8.count <= Message.longestName ? named : name)
  }
}
