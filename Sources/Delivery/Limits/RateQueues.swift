import Domain
import Loop
import Store

/// Rates of messages and of apps (`rate_per_second`): their deliveries wait before they enter their lanes. Whether a
/// message has a rate is asked once per claimed job. Those of each credential wait for themselves, as what one cannot
/// send now must not hold up another; they share the rate in the store.
final class RateQueues: WorkerPart {
  private var queues: [RateQueueName: RateLimitedQueue] = [:]
  /// Of apps.
  var rates: [AppID: Int]

  override init(_ worker: Worker) {
    rates = worker.context.settings.rates
    super.init(worker)
  }

  var all: some Collection<RateLimitedQueue> { queues.values }

  enum RateQueueName: Hashable {
    case message(MessageID, CredentialID)
    case app(AppID, CredentialID)
  }

  /// Where the deliveries of a message that a credential sends wait first; nil: nowhere.
  func rateQueue(of message: LoadedMessage?, by credential: CredentialID) -> RateLimitedQueue? {
    guard let message else { return nil }
    if let rate = message.content?.ratePerSecond {
      return rateQueue(.message(message.id, credential), store.rates.rate(of: message.id, perSecond: rate)) {
        [unowned self] delivery in
        // The app's rate holds for it as well.
        if let next = rateQueue(of: delivery.message.app, by: credential) {
          next.add(delivery)
        } else {
          worker.admission.enterLane(delivery)
        }
      }
    }
    return rates.isEmpty ? nil : rateQueue(of: message.app, by: credential)
  }

  private func rateQueue(of app: AppID, by credential: CredentialID) -> RateLimitedQueue? {
    guard let rate = rates[app] else { return nil }
    return rateQueue(.app(app, credential), store.rates.rate(of: app, perSecond: rate)) { [unowned self] in
      worker.admission.enterLane($0)
    }
  }

  private func rateQueue(_ name: RateQueueName, _ bucket: RateBucket, release: @escaping (Delivery) -> Void)
    -> RateLimitedQueue
  {
    if let known = queues[name], known.bucket == bucket { return known }
    let earlier = queues[name]
    let rateQueue = RateLimitedQueue(worker, bucket, release: release)
    queues[name] = rateQueue
    // The app's rate is another now.
    earlier?.giveUp()
    for delivery in earlier?.remove(where: { _ in true }) ?? [] { rateQueue.add(delivery) }
    return rateQueue
  }

  /// Members of a paced audience wait one by one.
  func unpacked(_ jobs: [ClaimedJob], _ messages: [MessageID: LoadedMessage], _ lease: Lease)
    async throws(StoreError) -> [ClaimedJob]
  {
    var jobs = jobs
    for place in jobs.indices {
      let credential = jobs[place].id.stream.credential
      guard let members = jobs[place].members, rateQueue(of: messages[jobs[place].message], by: credential) != nil
      else { continue }
      var targets = members.others
      for member in 0..<members.count {
        if let target = members.target(at: member) {
          targets.append(target)
        } else {
          targets.append(try await store.members.target(members, at: member, lease))
        }
      }
      targets.sort { $0.delivery.index < $1.delivery.index }
      jobs[place].targets = targets
      jobs[place].members = nil
    }
    return jobs
  }

  /// A claimed job of a paced message: what there is room for of it, and the rest later. Nil: nothing of it now.
  func paced(_ job: ClaimedJob, _ rateQueue: RateLimitedQueue) -> ClaimedJob? {
    let free = rateQueue.free(job.id.stream.urgency)
    if job.targets.count <= free || (job.lastMember == nil && free > 0) {
      // Of a list's job all or nothing. More of an audience's job waits for room.
      if let last = job.lastMember, !job.isWhole {
        worker.claimer.claims.postpone(job.id, at: ClaimPlace(job: job.id, member: last))
        rateQueue.postpone(job.id)
      }
      return job
    }
    var part = job
    part.targets = Array(job.targets.prefix(free))
    part.isWhole = false
    let first = job.targets[0].delivery.index
    let place = job.lastMember == nil ? ClaimPlace.start : part.targets.last?.delivery.index ?? first - 1
    if job.lastMember != nil {
      part.lastMember = place
      store.members.returned(job.id, of: job.message, behind: place)
    }
    worker.claimer.claims.postpone(job.id, at: ClaimPlace(job: job.id, member: place))
    rateQueue.postpone(job.id)
    return part.targets.isEmpty ? nil : part
  }

  /// Pacers without anything to do are forgotten.
  func tidyRateQueues() {
    for (name, rateQueue) in queues where rateQueue.isIdle { queues[name] = nil }
  }
}
