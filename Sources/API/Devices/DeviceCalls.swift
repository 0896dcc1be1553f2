import Domain
import HTTPServer
import Intake
import JSON
import Loop
import Store

/// Devices by id and by token.
struct DeviceCalls {
  let loop: EventLoop
  let store: Store
  let configuration: AdoptedConfiguration
  let stock: DeviceStock
  let tagStock: TagStock
  let anonymous: AnonymousDevices
  let bodies: LargeBodies
  /// Of an import.
  let bound: Lines.Bound

  /// `PUT /v1/devices/{id}`: the registration replaces what was known. Only what is disabled stays so until a
  /// registration says `enabled`.
  func putDevice(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    try await put(try readNamed(call), call)
  }

  func readNamed(_ call: Call) throws(Problem) -> DeviceReading {
    guard let text = call.parameters.first, DeviceReader.isDeviceID(text) else {
      throw Problem(
        .invalidDevice, "A device id has 1–128 bytes of printable ASCII, without space and slash")
    }
    try Call.checkName(text, as: "id", .invalidDevice)
    return try read(call, id: DeviceID(rawValue: text))
  }

  /// `POST /v1/devices`: by token, under the id that holds it. A `register` key may do no more than an app should.
  func registerDevice(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    var reading = try readByToken(call)
    let app = try configuration.tenant(call.app)
    let user = try RequestIdentity.user(in: call.request, of: app, now: call.now)
    if let user { try reading.take(user: user) }
    guard !call.may(.devices) else {
      reading.takeInstallation(in: call.app)
      return try await put(reading, call)
    }
    let registration = AppRegistration(app: app, rules: configuration.tokenRules, isSigned: user != nil)
    try registration.check(reading)
    guard user == nil else { return try await register(reading, call, by: registration).response }
    if let refusal = anonymous.take(call.request, of: app) {
      // Somebody else at this address may have used it up: a device that is known goes on.
      guard try await isKnown(reading, call.app) else { throw refusal }
      return try await register(reading, call, by: registration).response
    }
    do throws(Problem) {
      let (response, became) = try await register(reading, call, by: registration)
      if !became.isNew { anonymous.refund(call.request, of: app) }
      return response
    } catch {
      anonymous.refund(call.request, of: app)
      throw error
    }
  }

  /// It makes no new device. Of an installation its own device counts: each new one makes a device, whatever its token.
  private func isKnown(_ reading: DeviceReading, _ app: AppID) async throws(Problem) -> Bool {
    var reading = reading
    do throws(StoreError) {
      guard reading.installation != nil else {
        return try await store.tokens.owners(of: [reading.device.address], app: app).first.flatMap { $0 } != nil
      }
      reading.takeInstallation(in: app)
      return try await store.devices.device(reading.device.id, app: app) != nil
    } catch {
      throw Problem(error)
    }
  }

  /// What a `register` key may ask for, on top of what is known of the device.
  private func register(
    _ reading: DeviceReading, _ call: Call, by registration: AppRegistration
  ) async throws(Problem) -> (response: HTTPServerResponse, became: Registration) {
    try await call.take(.registrations, 1)
    var reading = reading
    var first = reading
    if reading.installation != nil {
      reading.takeInstallation(in: call.app)
      first = try await adopted(reading, by: registration, call.app)
    }
    let whole = reading
    return try await register(first, call) { registration.merge(whole, into: $0) }
  }

  /// What an installation registers the first time. A token that is known already may belong to the device that it is:
  /// then that device's tags and attributes go on under the installation's id. To know a token proves too little, as an
  /// installation can name another token later and would get what was meant for the first one: the user must be the
  /// same, which was signed.
  private func adopted(_ reading: DeviceReading, by registration: AppRegistration, _ app: AppID) async throws(Problem)
    -> DeviceReading
  {
    let owner: StoredDevice?
    do throws(StoreError) {
      owner = try await store.tokens.owners(of: [reading.device.address], app: app).first ?? nil
    } catch {
      throw Problem(error)
    }
    guard let owner, owner.device.id != reading.device.id, let user = reading.device.user,
      owner.device.user?.utf8.elementsEqual(user.utf8) == true
    else { return reading }
    guard let device = registration.merge(reading, into: owner.device) else { return reading }
    var first = reading
    first.device = device
    return first
  }

  func readDevice(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let id = try call.deviceID()
    let found: StoredDevice?
    do throws(StoreError) {
      found = try await store.devices.device(id, app: call.app)
    } catch {
      throw Problem(error)
    }
    guard let stored = found else { throw Problem.noDevice }
    return Answer.json { stored.write(to: &$0) }
  }

  func deleteDevice(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let id = try call.deviceID()
    let existed: Bool
    do throws(StoreError) {
      existed = try await store.devices.removeDevice(id, app: call.app)
    } catch {
      throw Problem(error)
    }
    guard existed else { throw Problem.noDevice }
    return HTTPServerResponse(status: 204)
  }

  var userIsFull: Problem {
    let detail =
      "this user already has \(store.session.settings.devicesPerUser) devices (`limits.devices_per_user`): "
      + "give each person their own `user`, and leave `user` out for guests"
    return Problem(.invalidDevice, detail, violations: [Violation("/user", Violation.Code.tooMany, detail)])
  }

  func readByToken(_ call: Call) throws(Problem) -> DeviceReading { try read(call, id: nil) }

  private func read(_ call: Call, id: DeviceID?) throws(Problem) -> DeviceReading {
    try call.read(.invalidDevice) { document throws(Refusal) in
      try DeviceReader.read(document, id: id, now: call.now, providers: configuration.tokenRules)
    }
  }

  private func put(_ reading: DeviceReading, _ call: Call) async throws(Problem) -> HTTPServerResponse {
    try await call.take(.registrations, 1)
    return try await register(reading, call) { reading.keepingDisabled($0) }.response
  }

  /// A registration that is paid for. `merging`: the device on top of what is known under its id; nil: that one is not
  /// this registration's to change.
  private func register(
    _ reading: DeviceReading, _ call: Call, merging: @escaping (Device) -> Device?
  ) async throws(Problem) -> (response: HTTPServerResponse, became: Registration) {
    try await tagStock.check(reading.device.tags, call.app)
    var reading = reading
    while true {
      if let limit = stock.limit(call.app), try await !stock.refused(of: [reading.device], call.app).isEmpty {
        throw DeviceStock.problem(limit)
      }
      var device = reading.device
      let result: PutResult
      do throws(StoreError) {
        result = try await store.devices.put(reading.device, app: call.app) { known in
          let merged = merging(known)
          device = merged ?? device
          return merged
        }
      } catch {
        throw Problem(error)
      }
      stock.registered([result], call.app)
      switch result {
      case .stored(let id, let registration):
        device.id = id
        return (try answer(device, reading, registration, call), registration)
      case .userIsFull: throw userIsFull
      // The id that its token gives is another device's by now: it gets one of its own.
      case .leftAlone: reading.device.id = DeviceID.random()
      }
    }
  }

  private func answer(
    _ device: Device, _ reading: DeviceReading, _ registration: Registration, _ call: Call
  ) throws(Problem) -> HTTPServerResponse {
    // An app learns no more of the registry than its own place in it.
    let showsAll = call.may(.devices)
    let tenant = try configuration.tenant(call.app)
    let path = "/v1/devices/\(device.id.rawValue)"
    return Answer.json(registration == .created ? 201 : 200, headers: [Header("location", path)]) { writer in
      if showsAll {
        StoredDevice(device: device, tombstone: nil).write(to: &writer)
      } else {
        writer.member("id", device.id.rawValue)
      }
      writer.member("registration", registration.word)
      if showsAll, case .moved(let from) = registration { writer.member("moved_from", from.id.rawValue) }
      writer.key("warnings")
      writer.beginArray()
      let notices = reading.notices(
        of: registration, servedBy: tenant, showsAll: showsAll,
        staysDisabled: !device.enabled && !reading.given.contains("enabled"),
        isEnabledAgain: showsAll && device.enabled && registration.tookFromDisabled)
      for notice in notices { notice.write(to: &writer) }
      writer.endArray()
    }
  }
}

extension DeviceReading {
  /// The device's id follows from its installation, where that is given.
  mutating func takeInstallation(in app: AppID) {
    if let installation { device.id = DeviceID.derived(of: device, in: app, of: installation) }
  }
}

extension DeviceReading {
  /// `app`: whose credentials are to reach the device. `showsAll`: whoever asks may know of other devices, and how the
  /// app is configured. `staysDisabled`: the device was disabled, and the request does not say whether it is.
  /// `isEnabledAgain`: it was disabled, and the line of an import enables it; or the device was that had the token before.
  func notices(
    of registration: Registration, servedBy app: App, showsAll: Bool, staysDisabled: Bool, isEnabledAgain: Bool = false
  ) -> [Notice] {
    var notices: [Notice] = []
    if isEnabledAgain {
      var detail = "the device was disabled and is enabled again: a file that is older than an opt-out undoes it"
      if case .moved(let from) = registration {
        detail =
          "device `\(from.id.rawValue)`, which had this token until now, was disabled, and this one is enabled: if its user "
          + "has opted out, register it with `enabled: false`"
      }
      notices.append(Notice(pointer: "/enabled", code: "enabled_again", detail: detail))
    }
    if staysDisabled {
      // First: of many lines each tells its first at least.
      notices.append(
        Notice(
          pointer: "/enabled", code: "stays_disabled",
          detail: "the device was disabled and stays disabled: nothing is sent to it until a registration has "
            + "`enabled: true`"))
    }
    notices += warnings.map { Notice(pointer: $0.pointer, code: $0.code, detail: $0.detail) }
    if showsAll, case .moved(let from) = registration {
      notices.append(
        Notice(
          pointer: "/token", code: "moved",
          detail: "device `\(from.id.rawValue)` had this token until now; it gets nothing from now on"))
    }
    if showsAll, app.credential(for: device.address) == nil {
      notices.append(
        Notice(
          pointer: "/token", code: SkipReason.noCredential.rawValue,
          detail: "no credential of the app serves this token: the device gets nothing until one is configured"))
    }
    return notices
  }
}

extension Registration {
  /// The device that had the token was disabled.
  var tookFromDisabled: Bool {
    if case .moved(let from) = self { !from.isEnabled } else { false }
  }

  /// A device has come to the registry, or may have: one that a token moves to need not have been there.
  var isNew: Bool {
    switch self {
    case .created, .moved: true
    case .updated, .revived: false
    }
  }

  var word: String {
    switch self {
    case .created: "created"
    case .updated: "updated"
    case .revived: "revived"
    case .moved: "moved"
    }
  }
}

extension StoredDevice {
  enum Status: String, CaseIterable { case active, disabled, dead }

  var status: Status { tombstone != nil ? .dead : device.enabled ? .active : .disabled }

  /// The members of the device's object.
  func write(to writer: inout JSONWriter) {
    device.write(to: &writer)
    if !userTags.isEmpty { writer.member("user_tags", JSONValue.array(userTags.map { .string($0) })) }
    writer.member("registered_at", device.registeredAt.rfc3339)
    writer.member("status", status.rawValue)
    guard let tombstone else { return }
    writer.key("tombstone")
    writer.beginObject()
    writer.member("reason", tombstone.reason)
    writer.member("dead_at", tombstone.at.rfc3339)
    writer.member("credential", tombstone.credential?.rawValue)
    writer.member("message", tombstone.message?.description)
    writer.endObject()
  }
}

extension Device {
  /// The members that a registration has.
  func write(to writer: inout JSONWriter) {
    writer.member("id", id.rawValue)
    writer.member("provider", address.provider.rawValue)
    writer.member("token", address.token)
    writer.member("token_kind", address.tokenKind.rawValue)
    writer.member("environment", address.environment.rawValue)
    writer.member("bundle_id", address.bundleID)
    writer.member("platform", platform)
    writer.member("app_version", appVersion)
    writer.member("language", language)
    writer.member("tz", timeZone)
    writer.member("user", user)
    writer.member("tags", JSONValue.array(tags.map { .string($0) }))
    writer.member("attributes", JSONValue.object(attributes))
    writer.member("enabled", enabled)
    writer.member("live_activity_token", liveActivityToken)
    writer.member("activity_id", activityID)
    writer.member("last_seen_at", lastSeen?.rfc3339)
    if !permissions.isEmpty {
      writer.member("authorization", JSONValue.array(permissions.all.map { .string($0.rawValue) }))
    }
  }
}
