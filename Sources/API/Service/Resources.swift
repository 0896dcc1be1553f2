import Domain
import Loop
import Store
import Telemetry

/// What answers the routes, by resource; each has what it needs and no more. What several of them share is made here,
/// once.
final class Resources {
  // Messages.
  let sending: SendCalls
  let bulkSending: BulkSendCalls
  let messages: MessageCalls
  let control: ControlCalls
  let rescheduling: RescheduleCalls
  let replay: ReplayCalls

  // Drafts.
  let drafts: DraftCalls
  let draftSending: DraftSendCalls
  let draftTests: DraftTestCalls
  let testLists: TestListCalls

  // Recipients.
  let audiences: AudienceCalls
  let namedAudiences: NamedAudienceCalls
  let tags: TagCalls

  // Devices.
  let devices: DeviceCalls
  let deviceLists: DeviceListCalls
  let timelines: TimelineCalls
  let prunes: PruneCalls
  let users: UserCalls
  let channels: ChannelCalls

  // Who may ask.
  let keys: KeyCalls

  // How the gateway is, and who did what.
  let audits: AuditCalls
  let status: StatusCalls
  let activity: ActivityCalls
  let health: HealthCalls
  let metrics: MetricsCalls

  init(
    loop: EventLoop, store: Store, configuration: AdoptedConfiguration, settings: ServiceSettings, metrics: Metrics,
    log: Log, counts: ServiceCounts, zones: ZoneBook, channels: BroadcastChannels, bodies: LargeBodies
  ) {
    let audienceResolver = AudienceResolver(store: store)
    let recipientResolver = RecipientResolver(
      loop: loop, store: store, configuration: configuration, settings: settings, audiences: audienceResolver,
      hints: TagHints(loop: loop, store: store), zones: zones)
    let attributes = AttributeCheck(store: store)
    let rendering = RenderingCheck(configuration: configuration)
    let check = MessageCheck(
      attributes: attributes, rendering: rendering, recipientResolver: recipientResolver, zones: zones)
    let forecaster = Forecaster(
      loop: loop, store: store, configuration: configuration, bounds: settings.forecasts,
      recipientResolver: recipientResolver, attributes: attributes, zones: zones)
    let preparation = MessagePreparation(
      store: store, configuration: configuration, settings: settings, check: check,
      recipientResolver: recipientResolver,
      subscribers: SubscriberCheck(loop: loop, store: store, configuration: configuration),
      forecaster: forecaster, bodies: bodies)
    let keys = IdempotencyKeys(loop: loop, store: store)
    let acceptor = MessageAcceptor(store: store, configuration: configuration, keys: keys, counts: counts)
    let dryRuns = DryRuns(store: store, configuration: configuration, recipientResolver: recipientResolver)
    let draftLookup = DraftLookup(store: store)

    sending = SendCalls(preparation: preparation, keys: keys, acceptor: acceptor, dryRuns: dryRuns)
    bulkSending = BulkSendCalls(
      loop: loop, store: store, settings: settings, preparation: preparation, check: check, keys: keys,
      acceptor: acceptor, counts: counts, bodies: bodies)
    messages = MessageCalls(store: store)
    control = ControlCalls(store: store, log: log)
    rescheduling = RescheduleCalls(
      store: store, configuration: configuration, check: check, recipientResolver: recipientResolver,
      forecaster: forecaster, bodies: bodies)
    replay = ReplayCalls(
      loop: loop, store: store, configuration: configuration, settings: settings, keys: keys, rendering: rendering,
      preparation: preparation, forecaster: forecaster, acceptor: acceptor, bodies: bodies)

    drafts = DraftCalls(
      store: store, configuration: configuration, settings: settings, lookup: draftLookup, preparation: preparation,
      forecaster: forecaster, attributes: attributes, bodies: bodies)
    draftSending = DraftSendCalls(
      store: store, configuration: configuration, lookup: draftLookup, preparation: preparation, forecaster: forecaster,
      acceptor: acceptor,
      dryRuns: dryRuns)
    draftTests = DraftTestCalls(
      store: store, configuration: configuration, urgentTargets: settings.urgentTargets, lookup: draftLookup,
      preparation: preparation, check: check, recipientResolver: recipientResolver, forecaster: forecaster,
      acceptor: acceptor)
    testLists = TestListCalls(store: store, configuration: configuration)

    audiences = AudienceCalls(
      store: store, configuration: configuration, resolver: audienceResolver, preparation: preparation,
      forecaster: forecaster)
    namedAudiences = NamedAudienceCalls(
      store: store, configuration: configuration, resolver: audienceResolver, uses: AudienceUses(store: store))
    let tagStock = TagStock(loop: loop, store: store, configuration: configuration)
    tags = TagCalls(store: store, stock: tagStock)

    devices = DeviceCalls(
      loop: loop, store: store, configuration: configuration,
      stock: DeviceStock(loop: loop, store: store, configuration: configuration), tagStock: tagStock,
      anonymous: AnonymousDevices(loop: loop), bodies: bodies, bound: settings.lineOfDevices)
    deviceLists = DeviceListCalls(store: store, configuration: configuration)
    timelines = TimelineCalls(store: store)
    prunes = PruneCalls(store: store, configuration: configuration, log: log)
    users = UserCalls(store: store)
    self.channels = ChannelCalls(store: store, configuration: configuration, channels: channels)

    self.keys = KeyCalls(store: store, log: log)

    audits = AuditCalls(store: store)
    status = StatusCalls(
      loop: loop, store: store, configuration: configuration, hidesGateway: settings.operations == .elsewhere)
    activity = ActivityCalls(loop: loop, store: store)
    health = HealthCalls(store: store, configuration: configuration, isOpen: settings.operations == .everybody)
    self.metrics = MetricsCalls(loop: loop, store: store, configuration: configuration, metrics: metrics)
  }
}
