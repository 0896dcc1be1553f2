import Audience
import Domain
import HTTPServer
import Intake
import JSON
import Store

/// Test lists: who sees a draft before everybody does.
struct TestListCalls {
  let store: Store
  let configuration: AdoptedConfiguration

  func listTestLists(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let lists: [StoredTestList]
    do throws(StoreError) {
      lists = try await store.testLists.all(app: call.app)
    } catch {
      throw Problem(error)
    }
    return try await Listing.answer(all: lists, call, columns: StoredTestList.columns, row: \.row) { list, writer in
      writer.beginObject()
      list.write(to: &writer)
      writer.endObject()
    }
  }

  func readTestList(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let name = try testListName(of: call)
    let found: [StoredTestList?]
    do throws(StoreError) {
      found = try await store.testLists.find([name], app: call.app)
    } catch {
      throw Problem(error)
    }
    guard let list = found.first ?? nil else { throw Self.noTestList }
    return Answer.json { list.write(to: &$0) }
  }

  func recipients(of call: Call) throws(Problem) -> JSONValue {
    try call.read(.invalidTestList) { document throws(Refusal) in
      _ = try TestReader.list(document, providers: configuration.tokenRules)
      return document
    }
  }

  func putTestList(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    guard let name = call.parameters.first, AudienceName.isWellFormed(name) else {
      throw Problem(.invalidTestList, "The name in the path must be 1–64 letters, digits, `_`, `-` and `.`")
    }
    try Call.checkName(name, as: "name", .invalidTestList)
    let document = try recipients(of: call)
    let list = StoredTestList(name: name, recipients: String(decoding: document.encoded, as: UTF8.self))
    let isNew: Bool?
    do throws(StoreError) {
      isNew = try await store.testLists.keep(list, app: call.app)
    } catch {
      throw Problem(error)
    }
    guard let isNew else {
      throw Problem(
        .invalidTestList, "An app may have at most \(TestLists.maximum) test lists: delete one that is not used")
    }
    return Answer.json(isNew ? 201 : 200) { list.write(to: &$0) }
  }

  func deleteTestList(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let name = try testListName(of: call)
    let existed: Bool
    do throws(StoreError) {
      existed = try await store.testLists.remove(name, app: call.app)
    } catch {
      throw Problem(error)
    }
    guard existed else { throw Self.noTestList }
    return HTTPServerResponse(status: 204)
  }

  private static var noTestList: Problem { Problem(.notFound, "No test list has this name") }

  private func testListName(of call: Call) throws(Problem) -> String {
    guard let name = call.parameters.first, AudienceName.isWellFormed(name) else { throw Self.noTestList }
    return name
  }
}

extension StoredTestList {
  private var document: JSONValue? { try? JSON.parse(Array(recipients.utf8), maximumDepth: Call.maximumDepth) }

  /// Nil: it cannot be read any more.
  func read(_ rules: [ProviderName: TokenRules]) -> TestRecipients? {
    document.flatMap { try? TestReader.list($0, providers: rules) }
  }

  fileprivate static let columns = ["name", "devices", "users", "tokens"]
  /// Several of a kind are parted by spaces.
  fileprivate var row: [String] {
    let document = document
    func words(_ name: String, _ text: (JSONValue) -> String) -> String {
      (document?[name]?.array ?? []).map(text).joined(separator: " ")
    }
    return [
      name, words("devices") { $0.string ?? "" }, words("users") { $0.string ?? "" },
      words("tokens") { "\($0["provider"]?.string ?? ""):\($0["token"]?.string ?? "")" },
    ]
  }

  fileprivate func write(to writer: inout JSONWriter) {
    writer.member("name", name)
    for member in document?.object ?? [] { writer.member(member.key, member.value) }
  }
}
