package import Domain

extension OneSignalProvider {
  package var sample: ProviderSample {
    ProviderSample(texts: ["app_id": Self.sampleID], files: ["api_key_file": Array("os_v2_app_sample".utf8)])
  }

  static let sampleID = "00000000-0000-4000-8000-000000000000"
}
