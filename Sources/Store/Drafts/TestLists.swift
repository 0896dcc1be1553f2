package import Domain

/// Those who see a message before everybody does, under a name.
package struct StoredTestList: Hashable, Sendable {
  package var name: String
  /// As the API took them, in JSON.
  package var recipients: String
  /// `recipients`: JSON that the API has read without a fault.
  package init(name: String, recipients: String) {
    self.name = name
    self.recipients = recipients
  }
}

/// Lists of an app's test devices, by their names. Holds nothing but its session, on whose loop it is used. Whether the
/// devices exist is the caller's to check.
package struct TestLists: StorePart {
  let session: RedisSession

  init(_ session: RedisSession) { self.session = session }

  /// Lists of one app; one more is not kept.
  package static let maximum = 100

  /// In the order of the names; nil where there is none.
  package func find(_ names: [String], app: AppID) async throws(StoreError) -> [StoredTestList?] {
    let texts = try await NamedTexts(session).texts(names, in: keys.testLists(app))
    return zip(names, texts).map { name, text in text.map { StoredTestList(name: name, recipients: $0) } }
  }

  /// All of an app, by name.
  package func all(app: AppID) async throws(StoreError) -> [StoredTestList] {
    try await NamedTexts(session).texts(in: keys.testLists(app)).map {
      StoredTestList(name: $0.name, recipients: $0.text)
    }
  }

  /// True if there was none of this name; nil if the app has as many as it may have, and nothing was kept.
  package func keep(_ list: StoredTestList, app: AppID) async throws(StoreError) -> Bool? {
    try await NamedTexts(session).keep(list.recipients, as: list.name, in: keys.testLists(app), limit: Self.maximum)
  }

  /// True if there was one.
  package func remove(_ name: String, app: AppID) async throws(StoreError) -> Bool {
    try await NamedTexts(session).remove(name, in: keys.testLists(app))
  }
}
