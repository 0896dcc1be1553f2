package import Domain

extension Store {
  /// Registers devices in their order, each as `put` does; what became of each. Repeatable after an error.
  package func put(_ devices: [Device], app: AppID) async throws(StoreError) -> [(
    id: DeviceID, registration: Registration
  )] {
    var results: [(id: DeviceID, registration: Registration)] = []
    results.reserveCapacity(devices.count)
    for device in devices { results.append(try await put(device, app: app)) }
    return results
  }
}
