/// What a person sees or hears. Every part is optional; a provider carries what it can.
package struct Notification: Hashable, Sendable {
  package var title: String?
  package var subtitle: String?
  package var body: String?
  /// An https URL.
  package var image: String?
  /// A URL of any scheme.
  package var link: String?
  package var category: String?
  package var threadID: String?
  package var badge: Int?
  package var sound: Sound?
  package var interruptionLevel: InterruptionLevel?
  /// 0…1
  package var relevanceScore: Double?
  package var titleKey: String?
  package var titleArgs: [String] = []
  package var subtitleKey: String?
  package var subtitleArgs: [String] = []
  package var bodyKey: String?
  package var bodyArgs: [String] = []
  package var launchImage: String?
  package var targetContentID: String?
  package var filterCriteria: String?
  package var androidChannel: String?
  /// What a locked screen shows.
  package var androidVisibility: AndroidVisibility?
  /// A later notification with this tag replaces this one. Absent: the collapse key.
  package var androidTag: String?
  /// Absent: the badge.
  package var androidCount: Int?
  /// Read out by accessibility services.
  package var androidTicker: String?
  package var web: WebLook?
  package var icon: String?
  /// `#rrggbb`
  package var color: String?
  package var buttons: [Button] = []
  package var localized: [LocalizedText] = []

  /// Shows nothing: every part is absent.
  package init() {}

  /// The category by which an Apple app knows the buttons: its own, or for buttons without one their ids with a plus sign
  /// between them (`yes+no`).
  package var effectiveCategory: String? {
    if category != nil || buttons.isEmpty { return category }
    return buttons.map(\.id).joined(separator: "+")
  }

  /// An app's service extension has something to do: load the image, register the buttons, or put the encrypted text in place.
  package func asksExtension(encryptedBody: String?) -> Bool {
    image != nil || !buttons.isEmpty || encryptedBody != nil
  }

  /// The buttons as data for the app: what it can show and open by itself.
  package var buttonData: JSONValue? {
    if buttons.isEmpty { return nil }
    return .array(
      buttons.map { button in
        var members = [JSONMember("id", .string(button.id)), JSONMember("text", .string(button.text))]
        members.set("icon", button.icon)
        members.set("url", button.url)
        return .object(members)
      })
  }
}

/// Which sound, and whether it breaks through silence (Apple only: elsewhere its name counts).
package struct Sound: Hashable, Sendable {
  package var name: String
  package var critical: Bool
  /// 0…1
  package var volume: Double?
  /// `name`: a file of the app, or `default`. `volume` counts only for a critical sound.
  package init(name: String, critical: Bool = false, volume: Double? = nil) {
    self.name = name
    self.critical = critical
    self.volume = volume
  }
}

/// How much a notification may disturb, in Apple's words. The last two need an entitlement of the app.
package enum InterruptionLevel: String, Hashable, Sendable, CaseIterable {
  case passive
  case active
  case timeSensitive = "time-sensitive"
  case critical
}

/// One action below a notification; a tap reports `id` to the app.
package struct Button: Hashable, Sendable {
  package var id: String
  package var text: String
  package var icon: String?
  package var url: String?
  /// `url`: opened by the app on a tap. `icon`: where the platform shows one.
  package init(id: String, text: String, icon: String? = nil, url: String? = nil) {
    self.id = id
    self.text = text
    self.icon = icon
    self.url = url
  }
}

/// The texts of a notification in one language (a BCP 47 tag).
package struct LocalizedText: Hashable, Sendable {
  package var language: String
  package var title: String?
  package var subtitle: String?
  package var body: String?
  /// A part that is nil is taken from a wider language (`pt` for `pt-BR`), then from the notification itself.
  package init(language: String, title: String? = nil, subtitle: String? = nil, body: String? = nil) {
    self.language = language
    self.title = title
    self.subtitle = subtitle
    self.body = body
  }
}

/// What a locked Android screen shows. FCM has these words in capitals.
package enum AndroidVisibility: String, Hashable, Sendable, CaseIterable {
  case `private`
  case `public`
  case secret
}

/// What only browsers show. Image, link and buttons are the notification's own.
package struct WebLook: Hashable, Sendable {
  /// An https URL, as the next.
  package var icon: String?
  /// A small monochrome image for where there is no room.
  package var badge: String?
  /// Stays until somebody closes it.
  package var requireInteraction: Bool?
  package var silent: Bool?
  /// A later notification with this tag replaces this one. Absent: the collapse key.
  package var tag: String?
  package init() {}
}
