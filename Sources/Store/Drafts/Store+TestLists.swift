package import Domain

/// Those who see a message before everybody does, under a name.
package struct StoredTestList: Hashable, Sendable {
  package var name: String
  /// As the API took them, in JSON.
  package var recipients: String
  package init(name: String, recipients: String) {
    self.name = name
    self.recipients = recipients
  }
}

extension Store {
  package static let maximumTestLists = 100

  /// In the order of the names; nil where there is none.
  package func testLists(_ names: [String], app: AppID) async throws(StoreError) -> [StoredTestList?] {
    let texts = try await texts(names, in: keys.testLists(app))
    return zip(names, texts).map { name, text in text.map { StoredTestList(name: name, recipients: $0) } }
  }

  /// All of an app, by name.
  package func testLists(app: AppID) async throws(StoreError) -> [StoredTestList] {
    try await texts(in: keys.testLists(app)).map { StoredTestList(name: $0.name, recipients: $0.text) }
  }

  /// True if there was none of this name; nil if the app has as many as it may have, and nothing was kept.
  package func keep(_ list: StoredTestList, app: AppID) async throws(StoreError) -> Bool? {
    try await keep(list.recipients, as: list.name, in: keys.testLists(app), limit: Self.maximumTestLists)
  }

  /// True if there was one.
  package func removeTestList(_ name: String, app: AppID) async throws(StoreError) -> Bool {
    try await removeText(name, in: keys.testLists(app))
  }
}
