package import Domain
import JSON
import TLS

extension FCMProvider {
  package var sample: ProviderSample {
    ProviderSample(files: ["service_account_file": Self.sampleAccount])
  }

  private static var sampleAccount: [UInt8] {
    let project = "sample-project"
    return JSONValue.object([
      JSONMember("type", .string("service_account")), JSONMember("project_id", .string(project)),
      JSONMember("private_key_id", .string("sample")),
      JSONMember("private_key", .string(String(decoding: SigningKey.generate(.rs256).pem, as: UTF8.self))),
      JSONMember("client_email", .string("sample@\(project).iam.gserviceaccount.com")),
      JSONMember("token_uri", .string("https://oauth2.googleapis.com/token")),
    ]).encoded
  }
}
