import API
import Configuration
import Domain
import HTTPServer
import Loop
import Telemetry

/// The certificate of a running API. Looks at its files every second, and takes what stands in them when both have
/// stood still for a second and belong together. Belongs to the API's loop.
final class APICertificate {
  private let loop: EventLoop
  private unowned let service: Service
  private let log: Log
  private var listen: Configuration.Listen
  private var watch = ChangeWatch<[FileContent.Mark?]>()
  private var timer: Timer?

  private let isLast: Gauge
  private let expiry: Gauge

  /// Milliseconds.
  private static let period: Int64 = 1_000

  /// `listen` has the certificate that `service` started with.
  init(
    _ certificate: ServerCertificate, _ listen: Configuration.Listen, of service: Service, loop: EventLoop,
    metrics: Metrics, log: Log
  ) {
    (self.loop, self.service, self.log, self.listen) = (loop, service, log, listen)
    isLast = metrics.gauge(
      "fanfare_api_certificate_last_reload_successful",
      "0 while the files of the API's certificate cannot be used and an older one is in use.")
    expiry = metrics.gauge(
      "fanfare_api_certificate_expiry_timestamp_seconds", "When the API's certificate expires.")
    isLast.set(1)
    tellExpiry(certificate)
    look()
  }

  /// Ends the looking.
  func close() {
    if let timer { loop.cancel(timer) }
    timer = nil
  }

  /// Of a configuration that was read anew.
  func adopt(_ certificate: ServerCertificate, _ listen: Configuration.Listen) throws(HTTPServerFailure) {
    try take(certificate, listen)
    watch = ChangeWatch()
  }

  private func look() {
    timer = loop.after(milliseconds: Self.period) { [unowned self] in look() }
    let files = [listen.certificateFile, listen.keyFile].compactMap { $0 }
    if watch.look(files.map(FileContent.mark)) { takeAgain() }
  }

  private func takeAgain() {
    var next = listen
    do {
      try next.readCertificateAgain()
      guard let certificate = try ServerCertificate(next) else { return }
      try take(certificate, next)
    } catch let faults as ConfigurationFaults {
      refuse(faults.faults.map(\.text).joined(separator: " "))
    } catch let fault as ConfigurationFault {
      refuse(fault.text)
    } catch {
      refuse("\((error as? HTTPServerFailure)?.reason ?? "\(error)"). Put another one there")
    }
  }

  private func take(_ certificate: ServerCertificate, _ listen: Configuration.Listen) throws(HTTPServerFailure) {
    let isNew = certificate.chain != self.listen.certificate || certificate.key != self.listen.key
    if isNew { try service.adopt(certificate: certificate.chain, key: certificate.key) }
    self.listen = listen
    isLast.set(1)
    service.refused(certificate: nil)
    guard isNew else { return }
    log(
      .info, "certificate_reloaded",
      ["name": certificate.facts.name, "expires_at": certificate.facts.expiresAt?.rfc3339 ?? "never"])
    tellExpiry(certificate)
  }

  private func refuse(_ reason: String) {
    isLast.set(0)
    service.refused(certificate: reason)
    log(.error, "certificate_refused", ["fault": reason, "in_use": "the one before"])
  }

  private func tellExpiry(_ certificate: ServerCertificate) {
    guard let end = certificate.facts.expiresAt else { return }
    expiry.set(end.seconds)
    guard let warning = certificate.expiryWarning(now: loop.wallNow) else { return }
    log(
      warning.isOver ? .error : .warning, "api_certificate_expires",
      ["expires_at": end.rfc3339, "detail": warning.text])
  }
}
