package import Domain
import TLS

extension WebPushProvider {
  package var sample: ProviderSample {
    ProviderSample(
      texts: ["services": PushService.usual[0], "subject": "mailto:sample@example.com"],
      files: ["key_file": SigningKey.generate(.es256).pem])
  }
}
