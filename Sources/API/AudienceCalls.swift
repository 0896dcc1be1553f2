import Audience
import Domain
import HTTPServer
import Intake
import JSON
import Store

extension Service {
  /// `POST /v1/audiences/count`: exact, of the moment.
  func countAudience(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let reading = try read(call, as: .audience)
    let expression = try await writtenOut(
      reading.expression, call.app, at: reading.pointer, text: reading.text, .invalidAudience)
    let selection = AudienceSelection(expression: expression, reach: reading.reach, providers: reading.providers)
    let count: AudienceCount
    do throws(StoreError) {
      count = try await store.count(selection, app: call.app, now: call.now)
    } catch {
      throw Problem(error)
    }
    return Answer.json { writer in
      writer.member("audience", reading.expression.canonical)
      writer.member("reach", reading.reach.rawValue)
      count.write(to: &writer)
    }
  }
}

extension AudienceCount {
  func write(to writer: inout JSONWriter) {
    writer.member("total", total)
    writer.objects("by_provider", byProvider.sorted(by: { $0.key.rawValue < $1.key.rawValue })) { writer, item in
      let (provider, some) = item
      writer.member("provider", provider.rawValue)
      writer.member("count", some)
    }
    writer.objects("by_platform", byPlatform.sorted(by: { $0.key < $1.key })) { writer, item in
      let (platform, some) = item
      // Devices that have told none.
      if !platform.isEmpty { writer.member("platform", platform) }
      writer.member("count", some)
    }
  }
}
