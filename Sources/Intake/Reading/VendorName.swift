/// Fields of the vendors' own APIs that people write out of habit, and what they are called here.
enum VendorName {
  /// By OneSignal, FCM, APNs, Expo and others. Of a message, wherever in it they stand.
  private static let meanings = [
    // OneSignal
    "contents": "`contents` is `notification.body`, and other languages are `notification.localized`",
    "headings": "`headings` is `notification.title`, and other languages are `notification.localized`",
    "included_segments": "`included_segments` is `to.audience`, and all subscribers are `to.everyone`",
    "excluded_segments": "`excluded_segments` is `to.audience` with `!`, as `everyone && !churned`",
    "include_player_ids": "`include_player_ids` is `to.devices`, or `to.tokens` with provider `onesignal`",
    "include_subscription_ids": "`include_subscription_ids` is `to.devices`, or `to.tokens` with provider `onesignal`",
    "include_external_user_ids": "`include_external_user_ids` is `to.users`",
    "include_aliases": "`include_aliases` is `to.users`", "app_id": "leave it out: the API key belongs to an app",
    "big_picture": "`big_picture` is `notification.image`",
    "ios_attachments": "`ios_attachments` is `notification.image`",
    "url": "`url` is `notification.link`", "app_url": "`app_url` is `notification.link`",
    "web_url": "`web_url` is `notification.link`", "send_after": "`send_after` is `send_at`",
    "delayed_option": "by each device's own clock is `send_at_local`",
    "delivery_time_of_day": "by each device's own clock is `send_at_local`",
    "throttle_rate_per_minute": "`throttle_rate_per_minute` is `rate_per_second`",
    "collapse_id": "`collapse_id` is `collapse_key`", "ios_badgeCount": "`ios_badgeCount` is `notification.badge`",
    "ios_sound": "`ios_sound` is `notification.sound`", "android_sound": "`android_sound` is `notification.sound`",
    "android_channel_id": "`android_channel_id` is `notification.android_channel`",
    "ios_category": "`ios_category` is `notification.category`",
    "small_icon": "`small_icon` is `notification.icon`",
    "android_accent_color": "`android_accent_color` is `notification.color`",
    "external_id": "`external_id` is the header `Idempotency-Key`",
    "idempotency_key": "here it is the header `Idempotency-Key`",
    // FCM
    "message": "leave this level out: its fields belong here", "registration_ids": "`registration_ids` is `to.tokens`",
    "condition": "`condition` is `to.audience`", "time_to_live": "`time_to_live` is `ttl`, in seconds",
    "click_action": "`click_action` is `notification.link` or `notification.category`",
    "channel_id": "`channel_id` is `notification.android_channel`",
    "fcm_options": "`fcm_options.analytics_label` is `analytics_label`",
    "android": "`android` is `overrides.fcm.android`", "webpush": "`webpush` is `overrides.fcm.webpush`",
    "apns": "`apns` is `overrides.apns`", "dry_run": "here it is in the URL: `?dry_run=true`",
    "validate_only": "here it is in the URL: `?dry_run=true`",
    // APNs
    "aps":
      "the fields of `aps` have other names here (`alert` is `notification`); `overrides.apns.aps` accepts them "
      + "unchanged",
    "alert": "`alert` is `notification`, with `title` and `body`",
    "content-available": "`content-available` is `content_available`, or kind `background`",
    "mutable-content": "`mutable-content` is `mutable_content`",
    "thread-id": "`thread-id` is `notification.thread_id`",
    "interruption-level": "`interruption-level` is `notification.interruption_level`",
    "relevance-score": "`relevance-score` is `notification.relevance_score`",
    "apns-priority": "`apns-priority` is `priority`",
    "apns-expiration": "`apns-expiration` is `ttl`, in seconds from now",
    "apns-collapse-id": "`apns-collapse-id` is `collapse_key`", "apns-push-type": "`apns-push-type` is `kind`",
    "apns-topic": "the topic is chosen by the token's `bundle_id`",
    "content-state": "`content-state` is `live_activity.content_state`",
    "stale-date": "`stale-date` is `live_activity.stale_date`",
    "dismissal-date": "`dismissal-date` is `live_activity.dismissal_date`",
    "attributes-type": "`attributes-type` is `live_activity.attributes_type`",
  ]
  /// Schemas of a message's own objects.
  private static let places: Set<String> = ["message", "notification", "to", "live_activity", "variant", "localized"]

  /// Of a registration.
  private static let ofDevices = [
    "device_token": "`device_token` is `token`", "push_token": "`push_token` is `token`",
    "identifier": "`identifier` is `token`", "registration_id": "`registration_id` is `token`",
    "external_user_id": "`external_user_id` is `user`", "external_id": "`external_id` is `user`",
    "user_id": "`user_id` is `user`", "device_type": "`device_type` is `provider` and `platform`",
    "timezone": "`timezone` is `tz`, as Europe/Berlin", "timezone_id": "`timezone_id` is `tz`, as Europe/Berlin",
    "locale": "`locale` is `language`", "lang": "`lang` is `language`",
    "last_active": "`last_active` is `last_seen_at`",
    "test_type": "`test_type` is `environment`",
  ]

  /// What to write in place of a field that the schema does not have; nil: it is no vendor's.
  static func meaning(of field: String, in schema: Schema) -> String? {
    if schema.name == "device" { return ofDevices[field] }
    return places.contains(schema.name) ? meanings[field] : nil
  }
}
