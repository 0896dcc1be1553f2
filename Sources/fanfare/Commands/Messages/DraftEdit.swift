import CommandFrame
import Configuration
import Domain
import GatewayClient
import HTTPClient
import JSON

/// `fanfare drafts edit ID` with an editor. What the user wrote stays in a file until the server has taken it: a typo, a refusal,
/// a conflict or a server that is away costs nothing.
struct DraftEdit {
  private let id: String
  private let path: String
  private let client: Client
  private let json: Bool
  /// Of the draft as it was read last: an edit does not change it.
  private var name: String?
  /// What the editor began with; after a conflict, what the other has made of it.
  private var base: JSONValue
  /// The version that is replaced.
  private var version: Int

  /// What others have made of fields meanwhile; nil: they have removed it.
  private var others: [String: JSONValue?] = [:]

  /// Why the work is not taken yet.
  private struct Fault {
    var code: ExitCode
    /// In place of `drafts edit`, where the draft is no more.
    var isGone = false
    /// Somebody else has changed the draft meanwhile.
    var isConflict = false
  }

  init(_ id: String, _ path: String, _ draft: JSONValue, version: Int?, _ client: Client, json: Bool) {
    self.id = id
    self.path = path
    self.client = client
    self.json = json
    name = draft["name"]?.string
    base = draft["message"] ?? .object([])
    self.version = version ?? Int(draft["version"]?.integer ?? 0)
  }

  mutating func run() async -> ExitCode {
    for path in KeptFile.left(id, ending: "json") {
      Terminal.note("an earlier edit of this draft is kept in \(path)")
    }
    let before = PrettyJSON.text(base) + "\n"
    guard let work = KeptFile(id, ending: "json", Array(before.utf8)) else {
      Terminal.complain(
        "cannot create a file for the editor", "set XDG_STATE_HOME to a folder that you may write to, or use --file")
      return .failure
    }
    while true {
      let end = Editor.open(work.path)
      guard let edited = FileContent.read(work.path) else {
        Terminal.complain("cannot read \(work.path): nothing was changed")
        return .failure
      }
      guard edited != Array(before.utf8) else {
        work.remove()
        if end == .well {
          Terminal.note("nothing was changed")
          return .success
        }
        Terminal.complain(
          end == .notStarted
            ? "no editor could be started: nothing was changed" : "the editor failed: nothing was changed",
          "set EDITOR, or use --file")
        return .failure
      }
      var fault = Fault(code: .failure)
      if end == .well {
        guard let found = await save(edited) else {
          work.remove()
          return .success
        }
        fault = found
      } else {
        Terminal.complain("the editor failed: nothing was changed on the server")
      }
      if Question.canBeAsked, Question.yes("Continue with your text?") { continue }
      tell(work, fault)
      return fault.code
    }
  }

  private func tell(_ work: KeptFile, _ fault: Fault) {
    Terminal.note("your text is saved in \(work.path)")
    Terminal.note(
      fault.isGone
        ? "create a new draft from it: fanfare drafts create --file \(work.quoted)"
        : "\(fault.isConflict ? "copy the other changes into it" : "correct it there"), then continue with: "
          + "fanfare drafts edit \(id) --file \(work.quoted) --version \(version)")
  }

  /// Nil: the server has it.
  private mutating func save(_ text: [UInt8]) async -> Fault? {
    let message: JSONValue
    do throws(JSONFault) {
      message = try JSON.parse(text)
    } catch {
      Terminal.complain("your text is not JSON: \(error.detail)", "nothing was changed")
      return Fault(code: .failure)
    }
    let undone = Self.undone(others, by: message)
    if !undone.isEmpty, Question.canBeAsked {
      Terminal.note("your text undoes what somebody else changed: \(undone.joined(separator: ", "))")
      guard Question.yes("Replace it anyway?", isUsual: false) else { return Fault(code: .failure) }
    }
    do throws(HTTPClientFailure) {
      let answer = try await client.call(
        "PUT", path, DraftsCommand.draft(message, name: name), headers: [Header("if-match", "\"\(version)\"")])
      if answer.isSuccess, let changed = answer.document {
        json ? Terminal.print(json: answer.body) : DraftsCommand.tell(changed)
        return nil
      }
      if answer.status == 412, let draft = try await saved(message) {
        json ? Terminal.print(.object(draft)) : DraftsCommand.tell(.object(draft))
        return nil
      }
      let code = ServerCall.refused(answer, json: json)
      if answer.status == 412 { try await showOther() }
      if answer.status == 503 { Terminal.note("the text may be saved all the same; if it is, a repeat finds it") }
      return Fault(code: code, isGone: answer.status == 404 || answer.status == 409, isConflict: answer.status == 412)
    } catch {
      Terminal.complain("the server cannot be reached: \(error.reason)", code: "unreachable")
      return Fault(code: .unreachable)
    }
  }

  /// The draft, if it has this text already: an earlier try was saved, and its answer was lost.
  private func saved(_ message: JSONValue) async throws(HTTPClientFailure) -> [JSONMember]? {
    let read = try await client.call("GET", path)
    guard read.isSuccess, let draft = read.document, draft["message"] == message, draft["name"]?.string == name else {
      return nil
    }
    return draft.object
  }

  /// Fields in which a text has not what somebody else has set them to meanwhile.
  private static func undone(_ others: [String: JSONValue?], by message: JSONValue) -> [String] {
    others.filter { message[$0.key] != $0.value }.keys.sorted().map { "`\($0)`" }
  }

  /// Shows what somebody else has changed meanwhile. Who goes on after that has seen it, and replaces that version.
  private mutating func showOther() async throws(HTTPClientFailure) {
    let read = try await client.call("GET", path)
    guard read.isSuccess, let draft = read.document, let message = draft["message"] else { return }
    let newName = draft["name"]?.string
    if newName != name {
      Terminal.note("somebody else renamed the draft to \"\(newName ?? "")\"; it keeps that name")
      name = newName
    }
    let difference = LineDifference(from: PrettyJSON.text(base), to: PrettyJSON.text(message))
    let number = Int(draft["version"]?.integer ?? 0)
    Terminal.note(
      difference.isEmpty
        ? "version \(number) is the same as the version that you started from"
        : "somebody else changed the draft between version \(version) and version \(number):\n\(difference.text)")
    for member in Set((base.object ?? []).map(\.key) + (message.object ?? []).map(\.key))
    where base[member] != message[member] { others[member] = .some(message[member]) }
    if !difference.isEmpty { Terminal.note("copy the changes that you want to keep into your text") }
    (base, version) = (message, number)
  }
}
