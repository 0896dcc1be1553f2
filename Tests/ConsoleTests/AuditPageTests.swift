import Domain
import Testing

@testable import Console

@Suite("What the audit trail and the keys are called")
struct AuditPageTests {
  private func key(_ id: String, _ name: String, _ scopes: [String] = []) -> JSONValue {
    .object([
      JSONMember("id", .string(id)), JSONMember("name", .string(name)),
      JSONMember("scopes", .array(scopes.map { .string($0) })),
    ])
  }

  private func written(_ entry: [JSONMember], _ names: KeyNames = KeyNames(), _ texts: Texts = .english) -> String {
    var html = HTML()
    AuditPage.table([.object(entry)], "heading", names, texts, &html)
    return String(decoding: html.bytes, as: UTF8.self)
  }

  @Test("frequent operations have words, with the API's beside them; others have the API's alone")
  func operations() {
    let page = written([JSONMember("operation", .string("applyPrunes"))], KeyNames(), .german)
    #expect(page.contains("Tote Tokens entfernen<p><code>applyPrunes</code></p>"), "\(page)")
    let other = written([JSONMember("operation", .string("somethingNew"))])
    #expect(other.contains(">somethingNew<") && !other.contains("<code>"), "\(other)")
  }

  @Test("a key has its name where it is known, with its id, else its id alone")
  func names() {
    let names = KeyNames(answer: .object([JSONMember("items", .array([key("k1", "Shop"), key("k2", ""), .null]))]))
    func page(_ id: String) -> String {
      written([JSONMember("key", .string(id)), JSONMember("address", .string("10.0.0.1"))], names)
    }
    #expect(page("k1").contains("<td>Shop · 10.0.0.1<p><code>k1</code></p></td>"), "\(page("k1"))")
    for id in ["k2", "k3", ""] { #expect(page(id).contains("<td>\(id) · 10.0.0.1</td>"), "\(page(id))") }
    let user = written([JSONMember("user", .string("root"))], names)
    #expect(user.contains("<td>root</td>"))
  }

  @Test("names and operations that came from outside stay texts")
  func hostile() {
    let text = "</td><script>alert(1)</script>\"'&"
    let names = KeyNames(answer: .object([JSONMember("items", .array([key("k1", text)]))]))
    for texts in Texts.all {
      let entry = [JSONMember("key", .string("k1")), JSONMember("operation", .string(text))]
      let page = written(entry + [JSONMember("object", .string(text))], names, texts)
      #expect(!page.contains("<script") && page.contains("&lt;script&gt;"), "\(page)")
    }
  }

  @Test("rights are told apart, and nothing is said beside the right to everything")
  func rights() {
    let texts = Texts.english
    let two = ListedKey(key("k", "", ["send", "read"])).rights(texts)
    #expect(two == texts[.scopeSend] + " · " + texts[.scopeRead])
    #expect(ListedKey(key("k", "", ["send", "admin", "read"])).rights(texts) == "everything")
    #expect(ListedKey(key("k", "", ["new"])).rights(texts) == "new" && ListedKey(.null).rights(texts).isEmpty)
  }
}
