/// The fields of a message, see `Message.Fields`. Setting one copies all.
///
/// Written out: looked up by key paths, they took a tenth of all instructions between a direct send's request and its outcome.
extension Message {
  package var to: Recipients {
    get { shared.fields.to }
    set { change { $0.to = newValue } }
  }
  package var kind: Kind {
    get { shared.fields.kind }
    set { change { $0.kind = newValue } }
  }
  package var notification: Notification? {
    get { shared.fields.notification }
    set { change { $0.notification = newValue } }
  }
  package var data: [JSONMember] {
    get { shared.fields.data }
    set { change { $0.data = newValue } }
  }
  package var contentAvailable: Bool {
    get { shared.fields.contentAvailable }
    set { change { $0.contentAvailable = newValue } }
  }
  package var mutableContent: Bool? {
    get { shared.fields.mutableContent }
    set { change { $0.mutableContent = newValue } }
  }
  package var encryptedBody: String? {
    get { shared.fields.encryptedBody }
    set { change { $0.encryptedBody = newValue } }
  }
  package var liveActivity: LiveActivity? {
    get { shared.fields.liveActivity }
    set { change { $0.liveActivity = newValue } }
  }
  package var fileProvider: FileProvider? {
    get { shared.fields.fileProvider }
    set { change { $0.fileProvider = newValue } }
  }
  package var mdm: MDM? {
    get { shared.fields.mdm }
    set { change { $0.mdm = newValue } }
  }
  package var priority: Priority? {
    get { shared.fields.priority }
    set { change { $0.priority = newValue } }
  }
  package var ttl: Int {
    get { shared.fields.ttl }
    set { change { $0.ttl = newValue } }
  }
  package var collapseKey: String? {
    get { shared.fields.collapseKey }
    set { change { $0.collapseKey = newValue } }
  }
  package var ordered: Bool {
    get { shared.fields.ordered }
    set { change { $0.ordered = newValue } }
  }
  package var providers: [ProviderName]? {
    get { shared.fields.providers }
    set { change { $0.providers = newValue } }
  }
  package var reach: Reach {
    get { shared.fields.reach }
    set { change { $0.reach = newValue } }
  }
  package var oneSignalTargeting: OneSignalTargeting {
    get { shared.fields.oneSignalTargeting }
    set { change { $0.oneSignalTargeting = newValue } }
  }
  package var keepReceipts: Bool {
    get { shared.fields.keepReceipts }
    set { change { $0.keepReceipts = newValue } }
  }
  package var replicas: Int? {
    get { shared.fields.replicas }
    set { change { $0.replicas = newValue } }
  }
  package var ratePerSecond: Int? {
    get { shared.fields.ratePerSecond }
    set { change { $0.ratePerSecond = newValue } }
  }
  package var errorBrake: ErrorBrake? {
    get { shared.fields.errorBrake }
    set { change { $0.errorBrake = newValue } }
  }
  package var labels: [JSONMember] {
    get { shared.fields.labels }
    set { change { $0.labels = newValue } }
  }
  package var name: String? {
    get { shared.fields.name }
    set { change { $0.name = newValue } }
  }
  package var analyticsLabel: String? {
    get { shared.fields.analyticsLabel }
    set { change { $0.analyticsLabel = newValue } }
  }
  package var overrides: Overrides {
    get { shared.fields.overrides }
    set { change { $0.overrides = newValue } }
  }
  package var sendAt: SendTime? {
    get { shared.fields.sendAt }
    set { change { $0.sendAt = newValue } }
  }
  package var quietHours: MessageQuietHours {
    get { shared.fields.quietHours }
    set { change { $0.quietHours = newValue } }
  }
  package var cap: Cap? {
    get { shared.fields.cap }
    set { change { $0.cap = newValue } }
  }
  package var variants: [Variant] {
    get { shared.fields.variants }
    set { change { $0.variants = newValue } }
  }
  package var holdout: Int {
    get { shared.fields.holdout }
    set { change { $0.holdout = newValue } }
  }
  /// As the kind has it, where none is given.
  package var effectivePriority: Priority { shared.fields.effectivePriority }
}
