package import Domain
import TLS

extension APNsProvider {
  package var sample: ProviderSample {
    ProviderSample(
      texts: ["key_id": "SAMPLEKEY0", "team_id": "SAMPLETEAM", "topic": "com.example.app"],
      files: ["key_file": SigningKey.generate(.es256).pem])
  }
}
