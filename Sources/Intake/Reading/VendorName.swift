/// Fields of the vendors' own APIs that people write out of habit, and what they are called here.
enum VendorName {
  /// What a field of a vendor is here.
  struct Meaning {
    /// The field to write in its place; nil: there is none.
    var target: String?
    var sentence: String
  }

  /// By OneSignal, FCM, APNs, Expo, gorush and others. Of a message, wherever in it they stand.
  private static let ofMessages = [
    // OneSignal
    "contents": "notification.body", "headings": "notification.title", "included_segments": "to.audience",
    "excluded_segments": "to.audience", "include_player_ids": "to.devices", "include_subscription_ids": "to.devices",
    "include_external_user_ids": "to.users", "include_aliases": "to.users", "big_picture": "notification.image",
    "ios_attachments": "notification.image", "url": "notification.link", "app_url": "notification.link",
    "web_url": "notification.link", "send_after": "send_at", "delayed_option": "send_at_local",
    "delivery_time_of_day": "send_at_local", "throttle_rate_per_minute": "rate_per_second",
    "collapse_id": "collapse_key", "ios_badgeCount": "notification.badge", "ios_sound": "notification.sound",
    "android_sound": "notification.sound", "android_channel_id": "notification.android_channel",
    "existing_android_channel_id": "notification.android_channel",
    "ios_category": "notification.category", "small_icon": "notification.icon",
    "android_accent_color": "notification.color", "chrome_web_image": "notification.image",
    "chrome_web_icon": "notification.web.icon", "android_group": "notification.thread_id",
    "ios_interruption_level": "notification.interruption_level", "ios_relevance_score": "notification.relevance_score",
    "target_content_identifier": "notification.target_content_id", "global_image": "notification.image",
    "chrome_big_picture": "notification.image", "chrome_icon": "notification.web.icon",
    "firefox_icon": "notification.web.icon", "chrome_web_badge": "notification.web.badge",
    "web_push_topic": "notification.web.tag", "web_buttons": "notification.buttons", "isIos": "to.audience",
    "isAndroid": "to.audience", "isAnyWeb": "to.audience", "isHuawei": "to.audience", "isAdm": "to.audience",
    "isChrome": "to.audience", "isChromeWeb": "to.audience", "isFirefox": "to.audience", "isSafari": "to.audience",
    "isWP_WNS": "to.audience",
    // FCM
    "registration_ids": "to.tokens", "registration_id": "to.tokens", "token": "to.tokens", "condition": "to.audience",
    "time_to_live": "ttl", "click_action": "notification.link", "channel_id": "notification.android_channel",
    "fcm_options": "analytics_label", "android": "overrides.fcm.android", "webpush": "overrides.fcm.webpush",
    "apns": "overrides.apns", "tag": "notification.android_tag", "body_loc_key": "notification.body_key",
    "body_loc_args": "notification.body_args", "title_loc_key": "notification.title_key",
    "title_loc_args": "notification.title_args", "loc_key": "notification.body_key",
    "loc_args": "notification.body_args", "notification_count": "notification.android_count",
    "ticker": "notification.android_ticker", "visibility": "notification.android_visibility",
    // APNs
    "alert": "notification", "content-available": "content_available", "mutable-content": "mutable_content",
    "thread-id": "notification.thread_id", "interruption-level": "notification.interruption_level",
    "relevance-score": "notification.relevance_score", "apns-priority": "priority", "apns-expiration": "ttl",
    "apns-collapse-id": "collapse_key", "apns-push-type": "kind", "content-state": "live_activity.content_state",
    "stale-date": "live_activity.stale_date", "dismissal-date": "live_activity.dismissal_date",
    "attributes-type": "live_activity.attributes_type", "loc-key": "notification.body_key",
    "loc-args": "notification.body_args", "title-loc-key": "notification.title_key",
    "title-loc-args": "notification.title_args", "subtitle-loc-key": "notification.subtitle_key",
    "subtitle-loc-args": "notification.subtitle_args", "launch-image": "notification.launch_image",
    "target-content-id": "notification.target_content_id", "filter-criteria": "notification.filter_criteria",
    // gorush, Expo and others
    "push_type": "kind", "type": "kind", "expiration": "ttl", "expiry": "ttl", "expires": "ttl",
    "text": "notification.body", "content": "notification.body", "image_url": "notification.image",
    "imageUrl": "notification.image", "picture": "notification.image", "icon_url": "notification.web.icon",
    "deep_link": "notification.link", "channelId": "notification.android_channel",
    "categoryId": "notification.category", "badge_count": "notification.badge", "payload": "data",
    "custom_data": "data", "schedule_at": "send_at", "scheduled_at": "send_at", "campaign": "name",
  ]
  /// What is said behind the name.
  private static let more = [
    "contents": ", and other languages are `notification.localized`",
    "headings": ", and other languages are `notification.localized`",
    "included_segments": ", and all subscribers are `to.everyone`",
    "excluded_segments": " with `!`, as `everyone && !churned`",
    "include_player_ids": ", or `to.tokens` with provider `onesignal`",
    "include_subscription_ids": ", or `to.tokens` with provider `onesignal`",
    "isIos": ", with `platform:ios`", "isAndroid": ", with `platform:android`", "isAnyWeb": ", with `platform:web`",
    "web_push_topic": ", or `collapse_key`",
    "time_to_live": ", in seconds", "apns-expiration": ", in seconds from now", "expiration": ", in seconds from now",
    "expiry": ", in seconds from now", "expires": ", in seconds from now",
    "click_action": " or `notification.category`", "alert": ", with `title` and `body`",
    "content-available": ", or kind `background`", "tag": ", and in browsers `notification.web.tag`",
    "fcm_options": ": give the label alone", "delayed_option": ": a time by each device's own clock",
    "delivery_time_of_day": ": a time by each device's own clock", "throttle_rate_per_minute": ", by the second",
    "token": #": [{ "provider": "fcm", "token": "…" }]"#,
    "registration_id": #": [{ "provider": "fcm", "token": "…" }]"#,
    "registration_ids": #": [{ "provider": "fcm", "token": "…" }]"#,
  ]
  /// Fields that have no name here.
  private static let advice = [
    "app_id": "leave it out: the API key belongs to an app", "api_key": "leave it out: the API key belongs to an app",
    "external_id": "`external_id` is the header `Idempotency-Key`",
    "idempotency_key": "here it is the header `Idempotency-Key`",
    "dry_run": "here it is in the URL: `?dry_run=true`", "validate_only": "here it is in the URL: `?dry_run=true`",
    "aps":
      "the fields of `aps` have other names here (`alert` is `notification`); `overrides.apns.aps` accepts them "
      + "unchanged",
    "apns-topic": "the topic is chosen by the token's `bundle_id`",
    "apns-id": "leave it out: Fanfare gives each delivery its own",
    "apns_id": "leave it out: Fanfare gives each delivery its own",
    "development": "the environment is a token's: `environment` beside `token`",
    "production": "the environment is a token's: `environment` beside `token`",
    "target_channel": "leave it out: Fanfare sends pushes only",
    "ios_badgeType": "`notification.badge` sets the number; to count it up, use `overrides.onesignal.ios_badgeType`",
    "platform": "`to` says who gets the message; `to.audience` takes `platform:ios`",
  ]

  /// Fields of OneSignal that nothing here has a word for (protocols/onesignal.md section 2).
  private static let onlyOneSignals: Set<String> = [
    "large_icon", "template_id", "android_led_color", "android_background_layout", "android_group_message",
    "headings_color", "contents_color", "summary_arg", "summary_arg_count", "enable_frequency_cap", "adm_big_picture",
    "adm_group", "adm_group_message", "adm_large_icon", "adm_small_icon", "adm_sound", "huawei_accent_color",
    "huawei_badge_add_num", "huawei_badge_class", "huawei_badge_set_num", "huawei_bi_tag", "huawei_big_picture",
    "huawei_category", "huawei_channel_id", "huawei_existing_channel_id", "huawei_large_icon", "huawei_msg_type",
    "huawei_small_icon", "huawei_sound", "wp_wns_sound", "apns_push_type_override", "event_updates",
  ]

  /// Of single objects, before what holds for the whole message.
  private static let ofObjects: [String: [String: String]] = [
    "notification": ["message": "notification.body"],
    "localized": ["message": "body", "text": "body", "content": "body"],
    "to": [
      "tags": "to.audience", "tag": "to.audience", "topic": "to.audience", "segments": "to.audience",
      "segment": "to.audience", "all": "to.everyone", "user_id": "to.users", "user_ids": "to.users",
      "external_id": "to.users", "external_user_id": "to.users", "device_id": "to.devices",
      "player_ids": "to.devices",
    ],
    "button": ["title": "text", "label": "text", "link": "url", "action": "id"],
    "overrides": [
      "ios": "overrides.apns", "apple": "overrides.apns", "aps": "overrides.apns.aps", "firebase": "overrides.fcm",
      "google": "overrides.fcm", "android": "overrides.fcm.android",
    ],
    "overrides.apns": Dictionary(
      uniqueKeysWithValues: [
        "alert", "badge", "sound", "category", "thread-id", "content-available", "mutable-content",
        "interruption-level", "relevance-score", "target-content-id", "filter-criteria", "stale-date",
      ].map { ($0, "overrides.apns.aps.\($0)") }),
    "overrides.fcm": [
      "notification": "overrides.fcm.android.notification", "collapse_key": "overrides.fcm.android.collapse_key",
      "priority": "overrides.fcm.android.priority", "fcm_options": "overrides.fcm.android.fcm_options",
    ],
    "device": ofDevices, "token": ofDevices,
  ]
  private static let moreOfObjects: [String: [String: String]] = [
    "to": [
      "tags": ", such as `news && !churned`", "tag": ", such as `news`", "topic": ": an expression of tags",
      "segments": ": an expression of tags", "segment": ": an expression of tags", "all": ": true",
    ],
    "device": moreOfDevices, "token": moreOfDevices,
  ]
  private static let adviceOfObjects: [String: [String: String]] = [
    "message": ["message": "leave this level out: its fields belong here"],
    "overrides": [
      "webpush": "there are none for Web Push: `notification.web` has what browsers show",
      "web": "there are none for Web Push: `notification.web` has what browsers show",
    ],
    "device": ["app_id": "leave it out: the API key belongs to an app"],
  ]

  /// Of a registration.
  private static let ofDevices = [
    "device_token": "token", "push_token": "token", "identifier": "token", "registration_id": "token",
    "subscription_id": "token", "subscription": "token", "endpoint": "token", "external_user_id": "user",
    "external_id": "user", "user_id": "user", "device_type": "provider", "timezone": "tz", "timezone_id": "tz",
    "locale": "language", "lang": "language", "last_active": "last_seen_at", "test_type": "environment",
    "push_type": "token_kind", "device_os": "platform", "os": "platform", "topic": "bundle_id",
  ]
  private static let moreOfDevices = [
    "device_type": " and `platform`", "timezone": ", as Europe/Berlin", "timezone_id": ", as Europe/Berlin",
    "subscription": ": the browser's whole subscription", "endpoint": ": the browser's whole subscription",
  ]

  /// Schemas of a message's own objects.
  private static let places: Set<String> = ["message", "notification", "to", "live_activity", "variant", "localized"]

  /// What to write in place of a field that the schema does not have; nil: it is no vendor's.
  static func meaning(of field: String, in schema: Schema) -> Meaning? {
    let place = schema.name
    if let target = ofObjects[place]?[field] {
      return Meaning(target: target, sentence: "`\(field)` is `\(target)`\(moreOfObjects[place]?[field] ?? "")")
    }
    if let sentence = adviceOfObjects[place]?[field] { return Meaning(sentence: sentence) }
    guard places.contains(place) else { return nil }
    if let target = ofMessages[field] {
      return Meaning(target: target, sentence: "`\(field)` is `\(target)`\(more[field] ?? "")")
    }
    if let sentence = advice[field] { return Meaning(sentence: sentence) }
    guard onlyOneSignals.contains(field) else { return nil }
    return Meaning(sentence: "only OneSignal has it: `overrides.onesignal.\(field)`")
  }
}

/// Words that people write in place of this API's.
package enum VendorValue {
  private static let meanings: [String: [String: String]] = [
    "kind": [
      "silent": "background", "data": "background", "data_message": "background", "notification": "alert",
      "call": "voip", "activity": "live_activity", "ptt": "push_to_talk", "pushtotalk": "push_to_talk",
      "fileprovider": "file_provider",
    ],
    "provider": [
      "ios": "apns", "apple": "apns", "firebase": "fcm", "google": "fcm", "gcm": "fcm", "android": "fcm",
      "web": "webpush", "browser": "webpush", "vapid": "webpush",
    ],
    "environment": [
      "development": "sandbox", "dev": "sandbox", "debug": "sandbox", "test": "sandbox", "prod": "production",
      "release": "production", "live": "production",
    ],
    "status": [
      "pruned": "dead", "invalid": "dead", "unregistered": "dead", "inactive": "disabled", "unsubscribed": "disabled",
      "subscribed": "active", "enabled": "active",
    ],
    "token_kind": [
      "liveactivity": "activity", "live_activity": "activity", "alert": "device", "background": "device",
      "apns": "device", "widget": "widgets", "control": "controls",
    ],
    "priority": [
      "10": "high", "5": "normal", "1": "low", "urgent": "high", "immediate": "high", "max": "high",
      "very-low": "low", "default": "normal",
    ],
    "interruption_level": ["timesensitive": "time-sensitive"],
    "reach": ["all": "all_devices", "one": "latest_device_per_user", "latest": "latest_device_per_user"],
  ]

  /// The word that is meant by another system's; nil: it is none, or not of this field. `field`: also a query parameter.
  package static func meaning(of word: String, for field: String) -> String? {
    meanings[field == "providers" ? "provider" : field]?[word.lowercased()]
  }
}
