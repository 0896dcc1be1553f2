package import Domain

extension OneSignalProvider {
  package var sample: ProviderSample {
    let id = "00000000-0000-4000-8000-000000000000"
    return ProviderSample(texts: ["app_id": id], files: ["api_key_file": Array("os_v2_app_sample".utf8)]) {
      kind, message in
      kind == .activity ? message.liveActivity?.activityID ?? "sample-activity" : id
    }
  }
}
