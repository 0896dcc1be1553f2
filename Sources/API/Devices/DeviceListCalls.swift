import Domain
import HTTPServer
import Intake
import JSON
import Store

/// Which devices to list; all that are given must hold.
private struct DeviceQuery {
  var user: String?
  var tag: String?
  var platform: String?
  var environment: String?
  var providers: Set<String>?
  var kinds: Set<String>?
  var statuses: Set<String>?

  init(_ call: Call) {
    user = call.request.query("user")
    tag = call.request.query("tag")
    platform = call.request.query("platform")?.lowercased()
    environment = call.request.query("environment")
    providers = call.words("provider")
    kinds = call.words("token_kind")
    statuses = call.words("status")
  }

  var takesAll: Bool {
    tag == nil && platform == nil && environment == nil && providers == nil && kinds == nil && statuses == nil
  }

  func takes(_ stored: StoredDevice) -> Bool {
    let device = stored.device
    if let tag, !device.tags.contains(tag), !stored.userTags.contains(tag) { return false }
    if let platform, device.platform != platform { return false }
    if let environment, device.address.environment.rawValue != environment { return false }
    return providers?.contains(device.address.provider.rawValue) != false
      && kinds?.contains(device.address.tokenKind.rawValue) != false
      && statuses?.contains(stored.status.rawValue) != false
  }
}

/// Where a page of devices begins: in a stretch of the registry, behind a device of it.
private struct DevicePagePlace {
  var stretch: ExportPlace?
  /// Nil: from the start of the stretch.
  var after: String?

  init() {}
  init(_ stretch: ExportPlace?, after: String? = nil) {
    self.stretch = stretch
    self.after = after
  }

  /// `stretch/device`, each of them maybe empty.
  init?(text: String) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2 else { return nil }
    if !parts[0].isEmpty {
      guard let place = ExportPlace(text: parts[0]) else { return nil }
      stretch = place
    }
    after = parts[1].isEmpty ? nil : parts[1]
  }
  var text: String { "\(stretch?.text ?? "")/\(after ?? "")" }
}

/// All devices of an app, page by page or as a whole.
struct DeviceListCalls {
  let store: Store
  let configuration: AdoptedConfiguration

  private static let deviceMark = "v:"
  /// Records that are read at a time; with filters more, as few of them may be wanted.
  private static let stretch = 160
  private static let filteredStretch = 2_000
  /// Records that one page looks at: what lies further is for the next page.
  private static let mostDevicesLookedAt = 20_000

  /// `GET /v1/devices`: devices of the app, dead ones too, in no order. Each that stays is told once, however many
  /// pages it takes; one that goes between two pages may let others be told twice. With filters a page may hold fewer
  /// than `limit`, or none, and still have a next one.
  func listDevices(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let query = DeviceQuery(call)
    let app = call.app
    let addresses = try addresses(call)
    let listing = Listing<StoredDevice>(
      write: { stored, writer in
        writer.beginObject()
        stored.write(to: &writer)
        writer.endObject()
      }, columns: StoredDevice.columns, row: \.row,
      page: { [self] cursor, limit throws(Problem) in
        if let addresses { return ListingPage(items: try await owners(of: addresses, query, app), next: nil) }
        let place = try cursor.map { cursor throws(Problem) in
          try call.place(of: cursor, marked: Self.deviceMark) { DevicePagePlace(text: $0) }
        }
        let (items, next) =
          if let user = query.user {
            try await devices(of: user, query, app, at: place ?? DevicePagePlace(), limit: limit)
          } else {
            try await devices(query, app, at: place ?? DevicePagePlace(), limit: limit)
          }
        return ListingPage(items: items, next: next.map { call.cursor(at: $0.text, marked: Self.deviceMark) })
      })
    return try await listing.answer(call)
  }

  /// Where a token could be registered; nil: none is asked for. A token is one provider's, so that one is looked for.
  private func addresses(_ call: Call) throws(Problem) -> [Address]? {
    guard let token = call.request.query("token") else { return nil }
    func refuse(_ name: String, _ code: Violation.Code, _ detail: String) -> Problem {
      var violation = Violation("", code, detail)
      violation.parameter = name
      return Problem(.invalidParameter, detail, violations: [violation])
    }
    guard !token.isEmpty, token.utf8.count <= TokenRules.longest else {
      throw refuse("token", .invalidFormat, "`token` must have 1–\(TokenRules.longest) bytes")
    }
    guard let name = call.request.query("provider"), let rules = configuration.tokenRules[ProviderName(rawValue: name)]
    else { throw refuse("provider", .required, "`token` needs `provider`, one of them: a token is one provider's") }
    let isWellFormed =
      rules.form == .document
      ? !token.utf8.contains(0) : token.utf8.allSatisfy { (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "/") }
    guard isWellFormed else { throw refuse("token", .invalidFormat, "`token` has letters that no token has") }
    // Its kind is not said, and may decide how it is read.
    var found: [TokenRules.Token] = []
    var fault: TokenRules.Fault?
    for kind in rules.kinds {
      do throws(TokenRules.Fault) {
        let read = try rules.read(token, kind)
        if !found.contains(where: { $0.text == read.text }) { found.append(read) }
      } catch {
        fault = fault ?? error
      }
    }
    if found.isEmpty { throw refuse("token", .invalidFormat, fault?.detail ?? "`token` is none of this provider") }
    return found.flatMap { read in
      Environment.allCases.map {
        Address(provider: ProviderName(rawValue: name), token: read.text, environment: $0, bundleID: read.bundleID)
      }
    }
  }

  /// The devices that hold a token, by the index that registrations use: one for each environment and reading at most.
  private func owners(of addresses: [Address], _ query: DeviceQuery, _ app: AppID) async throws(Problem)
    -> [StoredDevice]
  {
    do throws(StoreError) {
      return try await store.tokens.owners(of: addresses, app: app).compactMap { $0 }
        .filter { query.takes($0) && (query.user == nil || $0.device.user == query.user) }
    } catch {
      throw Problem(error)
    }
  }

  private func devices(
    of user: String, _ query: DeviceQuery, _ app: AppID, at place: DevicePagePlace, limit: Int
  ) async throws(Problem) -> (items: [StoredDevice], next: DevicePagePlace?) {
    let all: [StoredDevice]
    do throws(StoreError) {
      all = try await store.users.user(user, app: app)?.devices ?? []
    } catch {
      throw Problem(error)
    }
    let rest = all.filter { query.takes($0) && $0.device.id.rawValue > place.after ?? "" }
      .sorted { $0.device.id.rawValue < $1.device.id.rawValue }
    let items = Array(rest.prefix(limit))
    return (items, items.count < rest.count ? DevicePagePlace(nil, after: items.last?.device.id.rawValue) : nil)
  }

  private func devices(
    _ query: DeviceQuery, _ app: AppID, at place: DevicePagePlace, limit: Int
  ) async throws(Problem) -> (items: [StoredDevice], next: DevicePagePlace?) {
    let size = query.takesAll ? Self.stretch : Self.filteredStretch
    var place = place
    var items: [StoredDevice] = []
    var looked = 0
    while true {
      let devices: [StoredDevice]
      let next: ExportPlace?
      do throws(StoreError) {
        (devices, next) = try await store.export.page(app, after: place.stretch, limit: size, tombstones: true)
      } catch {
        throw Problem(error)
      }
      let known = place.after.flatMap { id in devices.firstIndex { $0.device.id.rawValue == id } }
      for index in (known.map { $0 + 1 } ?? 0)..<devices.count where query.takes(devices[index]) {
        items.append(devices[index])
        guard items.count == limit else { continue }
        guard index == devices.count - 1 else {
          return (items, DevicePagePlace(place.stretch, after: devices[index].device.id.rawValue))
        }
        return (items, next.map { DevicePagePlace($0) })
      }
      looked += devices.count
      guard let next else { return (items, nil) }
      place = DevicePagePlace(next)
      guard looked < Self.mostDevicesLookedAt else { return (items, place) }
    }
  }
}
