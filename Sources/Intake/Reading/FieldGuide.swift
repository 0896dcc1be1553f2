/// What each field of a message is for, in plain words: for the API's description of itself and for docs/message.md. Types,
/// ranges and lists of words are not repeated here; they stand in the schemas.
package enum FieldGuide {
  /// Nil: the schema's field explains itself, or has no entry.
  package static func text(_ schema: Schema, _ field: String) -> String? { texts[schema.name]?[field] }

  private static let texts: [String: [String: String]] = [
    "message": message, "to": recipients, "token": token, "to.channel": channel, "notification": notification,
    "sound": sound, "button": button, "notification.web": web, "localized": localized,
    "live_activity": liveActivity, "file_provider": fileProvider, "mdm": mdm, "overrides": overrides,
    "overrides.apns": apnsOverrides, "overrides.fcm": fcmOverrides, "variant": variant, "durability": durability,
    "error_brake": errorBrake, "quiet_hours": quietHours, "cap": cap,
  ]

  private static let message = [
    "to": "Whom the message goes to: exactly one kind of recipient.",
    "kind": "The push type. Default: `alert`. Each kind goes only to tokens of the matching `token_kind`.",
    "notification": "What a person sees or hears. An `alert` needs it; a `live_activity` may have it.",
    "data":
      "Any JSON object for the app; the key `aps` is refused. On APNs it is sent beside `aps`; on FCM, values other "
      + "than strings are sent as JSON text.",
    "content_available": "Also wakes the app in the background when the alert arrives. Default: false.",
    "mutable_content":
      "Lets the app's service extension change the notification before it is shown. Default: true if there is an image, "
      + "buttons or an `encrypted_body`.",
    "encrypted_body":
      "Text that only the app can read: its service extension decrypts it and shows it in place of `body`.",
    "live_activity": "How a Live Activity starts, changes or ends. Only with kind `live_activity`.",
    "file_provider": "What has changed in a file provider. Only with kind `file_provider`.",
    "mdm": "Asks a managed device to contact its server. Only with kind `mdm`.",
    "priority":
      "`high` wakes the device at once, `normal` may wait for a good moment, `low` may wait longer. Default: by the kind; "
      + "`high` for alerts.",
    "ttl":
      "Seconds that the message may wait, counted from the start of sending; then it expires. Default: 259200 (3 days); for "
      + "calls, push-to-talk and channels: 0.",
    "collapse_key":
      "A newer message with the same key replaces an older one that still waits, and the notification that a device shows.",
    "ordered":
      "True: messages to one token are sent in the order of their acceptance; a message that waits for a retry holds later "
      + "ones for up to 60 s, and is then marked `overtaken`. Default: true.",
    "send_at": "When to send, with its offset. At most 90 days ahead. Default: at once.",
    "send_at_local": "When to send by each device's own clock, without an offset.",
    "rate_per_second": "Deliveries a second at most. Default: no limit.",
    "error_brake": "Pauses the message when too large a share of its deliveries fails. Default: the app's.",
    "quiet_hours": "Hours in which devices get nothing; `false`: none. Default: the app's.",
    "cap": "How many messages of a `topic` a device gets in a day or a week.",
    "variants": "Different contents for parts of the devices, so that you can compare them.",
    "holdout": "The percentage of devices that get nothing. With the weights of `variants` it adds up to 100.",
    "reach": "For an audience: all devices, or each user's most recently seen device. Default: `all_devices`.",
    "onesignal_targeting":
      "Who selects the audience's OneSignal subscribers: Fanfare or OneSignal (`provider`). Default: `fanfare`.",
    "topic": "What the message is about, for `cap`, such as `offers`. It is not the APNs topic.",
    "name": "A name for people, shown in lists. Devices do not get it.",
    "labels": "Up to 32 names, each with a string, a number or a boolean, by which you find the message.",
    "analytics_label": "The name of the send in the reports of FCM and OneSignal.",
    "providers": "Sends only through these providers. Default: all.",
    "keep_receipts":
      "For an audience: also keeps the times of the attempts of each success, and the provider's id. Default: false.",
    "durability": "How many Redis replicas must have the message before it is accepted.",
    "overrides": "Members that are added to one provider's request in the provider's own words. Web Push has none.",
  ]

  private static let recipients = [
    "devices": "Ids of registered devices.", "users": "All devices of these users.",
    "tokens": "Tokens of a provider; they do not have to be registered.",
    "audience": "Devices whose tags and facts match an expression.",
    "filters": "An audience in the form of OneSignal's filters.",
    "activity": "Devices that follow the Live Activity with this `activity_id`. For updates and ends.",
    "channel": "A broadcast channel of Live Activities.", "everyone": "True: all devices of the app.",
  ]
  private static let token = [
    "provider": "The provider of the token.",
    "token":
      "APNs: hex. FCM: a registration token or an installation id. OneSignal: a subscription id or `alias:<label>:<id>`. "
      + "Web Push: the browser's subscription, `{endpoint, keys}`, as an object or its text.",
    "environment": "For APNs tokens: `sandbox` for apps that Xcode installed. Default: `production`.",
    "bundle_id": "The app of an APNs token. Default: the one that the credential serves.",
    "token_kind":
      "What the token is for: `device` for alerts, `voip` for calls, `activity` for a Live Activity, `fid` for a Firebase "
      + "installation id. Default: `device`.",
    "live_activity_token": "FCM: the token of the Live Activity, or the push-to-start token, beside the device's own.",
  ]
  private static let channel = [
    "id": "The id that Apple gave the channel.", "bundle_id": "The app of the channel. Default: the credential's.",
    "environment": "Default: `production`.",
  ]

  private static let notification = [
    "title": "The first line.", "subtitle": "The second line. Apple devices only.", "body": "The text.",
    "image": "The https URL of a picture.",
    "link": "What a tap opens: a URL of any scheme except javascript, data and file.",
    "category": "The app's category, which says which buttons are shown. Apple devices only.",
    "thread_id": "Notifications with the same id are shown as a group.",
    "badge": "The number on the app's icon; 0 removes it.",
    "sound": "The name of a sound of the app, or `default`; as an object also for critical alerts. Default: silent.",
    "interruption_level": "How far the notification may interrupt: `passive` does not light the screen.",
    "relevance_score": "Which notification of the app comes first in a summary: 1 is the most relevant.",
    "title_key": "A key in the app's own translations, in place of `title`.",
    "title_args": "The values for the placeholders of that translation.",
    "subtitle_key": "A key in the app's own translations, in place of `subtitle`.",
    "subtitle_args": "The values for the placeholders of that translation.",
    "body_key": "A key in the app's own translations, in place of `body`.",
    "body_args": "The values for the placeholders of that translation.",
    "launch_image": "The launch image that an Apple app shows when the user opens the notification.",
    "target_content_id": "The window of an Apple app that is brought to the front.",
    "filter_criteria": "Which Focus filters of Apple devices let the notification pass; the app defines the words.",
    "android_channel": "The notification channel of the Android app.",
    "android_visibility": "What Android shows on the lock screen. Default: the channel's setting.",
    "android_tag": "A newer notification with the same tag replaces the older one on Android.",
    "android_count": "How many items the notification stands for on Android.",
    "android_ticker": "The text that Android reads aloud for accessibility.",
    "icon": "The small icon of the Android app.", "color": "The colour of the icon on Android.",
    "buttons": "Buttons below the notification.", "web": "What only browsers show.",
    "localized": "Texts by language tag. A device gets those of its `language`.",
  ]
  private static let sound = [
    "name": "A sound file of the app. Default: `default`.",
    "critical": "Sounds even if the device is muted; the app needs Apple's permission. Default: false.",
    "volume": "The volume of a critical sound: 0 is silent, 1 is full.",
  ]
  private static let button = [
    "id": "What the app receives when the button is pressed.", "text": "What the button says.",
    "icon": "An icon of the app, or a URL in browsers.", "url": "What the button opens.",
  ]
  private static let web = [
    "icon": "The https URL of the notification's icon.", "badge": "The https URL of the small monochrome icon.",
    "require_interaction": "Stays until the user closes it. Default: false.",
    "silent": "No sound and no vibration. Default: false.",
    "tag": "A newer notification with the same tag replaces the older one. Default: `collapse_key`.",
  ]
  private static let localized = [
    "title": "In place of the message's.", "subtitle": "In place of the message's. Not for Live Activities.",
    "body": "In place of the message's.",
  ]
  private static let liveActivity = [
    "event": "What happens to the activity.",
    "activity_id": "OneSignal's name of the activity; APNs and FCM know it by its token.",
    "content_state": "What the activity shows. The app defines the members.",
    "attributes_type": "With `start`: the name of the app's type of the attributes.",
    "attributes": "With `start`: the activity's fixed attributes.",
    "timestamp":
      "Seconds since 1970. Devices ignore a state older than the one they show. Default: when the message starts.",
    "stale_date": "Seconds since 1970: from then on devices show the activity as outdated.",
    "dismissal_date": "With `end`, seconds since 1970: when devices remove the activity, at most 4 hours later.",
    "relevance_score": "Which activity of the app comes first: the one with the highest score.",
    "input_push_token": "With `start`: the new activity gets a token for updates. Default: false.",
    "input_push_channel": "With `start`: the broadcast channel that the activity listens to.",
  ]
  private static let fileProvider = [
    "container_identifier": "The container that has changed.", "domain": "The file provider's domain.",
  ]
  private static let mdm = ["push_magic": "The `PushMagic` that the device sent when it enrolled."]
  private static let overrides = [
    "apns": "For requests to APNs.", "fcm": "For requests to FCM.",
    "onesignal": "Members of OneSignal's create-notification body; no targets and no keys.",
  ]
  private static let apnsOverrides = [
    "aps": "Merged into `aps`.",
    "headers": "Headers in addition to Fanfare's own, in lower case. Topic, push type and `apns-id` cannot be set.",
  ]
  private static let fcmOverrides = [
    "android": "Merged into `message.android`.", "webpush": "Merged into `message.webpush`.",
    "apns": "Merged into `message.apns`.",
    "validate_only": "FCM checks message and token, and delivers nothing. Default: false.",
  ]
  private static let variant = [
    "name": "Names the variant in reports.", "weight": "The percentage of devices that get it.",
    "notification": "Members that replace the message's.", "data": "Members that replace the message's.",
  ]
  private static let durability = [
    "replicas": "Redis replicas that must have the message before it is accepted. Default: the app's."
  ]
  private static let errorBrake = [
    "share": "The share of failed deliveries that pauses the message; 0 turns the brake off. Default: 0.2.",
    "minimum": "The number of outcomes after which the share counts. Default: 500.",
  ]
  private static let quietHours = [
    "from": "When they begin, such as 22:00.", "to": "When they end, such as 08:00.",
    "zone": "One IANA time zone for all devices. Default: each device's own zone.",
    "else": "What happens to a delivery in quiet hours: it waits until they end, or it is skipped. Default: `hold`.",
  ]
  private static let cap = [
    "max": "Messages of the topic that a device gets in the period.", "per": "The period.",
  ]
}
