package import Audience
package import Domain

/// Whom a message or a count is for. The expression is resolved: it names no other audience.
package struct AudienceSelection: Hashable, Sendable {
  package var expression: AudienceExpression
  package var reach: Reach
  /// Only these; nil: all.
  package var providers: [ProviderName]?

  package init(expression: AudienceExpression, reach: Reach = .allDevices, providers: [ProviderName]? = nil) {
    self.expression = expression
    self.reach = reach
    self.providers = providers
  }
}

/// Exact at the moment of counting; pruned and disabled devices are out.
package struct AudienceCount: Hashable, Sendable {
  package var total = 0
  package var byProvider: [ProviderName: Int] = [:]
  /// By platform; "" where a device has given none.
  package var byPlatform: [String: Int] = [:]
  package var byPartition: [Int: Int] = [:]
  package var byRoute: [RouteClass: Int] = [:]
  /// Tags of the expression that no live device has, in the order of their bytes.
  package var unusedTags: [String] = []
  /// Of a selection without members.
  package init() {}
}

/// Members of a selection that are alike: those of one partition with one route and one platform.
package struct AudienceGroup: Hashable, Sendable {
  package var route: RouteClass
  /// Nil: not given.
  package var platform: String?
  /// Of devices that are treated alike for their zone.
  package var zoneClass = 0
  /// Ascending.
  package var numbers: [UInt32]
  /// Where the message is shared out.
  var place = VariantSplit.Place.all

  /// `numbers`: device numbers of one partition, ascending.
  package init(route: RouteClass, platform: String?, numbers: [UInt32]) {
    self.route = route
    self.platform = platform
    self.numbers = numbers
  }
}
