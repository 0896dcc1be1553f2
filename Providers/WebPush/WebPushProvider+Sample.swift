package import Domain
import TLS

extension WebPushProvider {
  package var sample: ProviderSample {
    ProviderSample(
      texts: ["services": "fcm.googleapis.com", "subject": "mailto:sample@example.com"],
      files: ["key_file": SigningKey.generate(.es256).pem]
    ) { _, _ in
      let key = P256.publicPoint(of: Array(1...32)) ?? []
      let secret = [UInt8](repeating: 1, count: 16)
      return "https://fcm.googleapis.com/fcm/send/sample#\(Base64URL.encode(key)).\(Base64URL.encode(secret))"
    }
  }
}
