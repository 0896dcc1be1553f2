extension Texts {
  static let english = Texts(
    language: "en", name: "English",
    words: [
      .product: "Fanfare", .skip: "Skip to the content", .navigation: "Main", .whereYouAre: "Where you are",

      .searchHint: "User id or device id", .searchButton: "Search", .signOut: "Sign out",
      .signOutEverywhere: "Sign out everywhere", .theme: "Light or dark", .overview: "Overview",
      .campaigns: "Campaigns",
      .people: "People", .operations: "Operations", .environmentMissing: "no environment named",
      .timeZone: "Times are in UTC until the page's script shows them in your own time zone.",

      .signIn: "Sign in", .signInLead: "Use an API key of your app. You see and do what the key may see and do.",
      .apiKey: "API key", .apiKeyHint: "It begins with fan_. Fanfare keeps no copy of it: your browser gets a session.",
      .signInButton: "Sign in",
      .signInPlain: "This page came without encryption, so that anybody between could read a key.",
      .signInPlainFix:
        "Serve the API with `listen.certificate_file`, or by a proxy that speaks HTTPS, sends `X-Forwarded-Proto` and is one of `listen.trusted_proxies`. On the machine itself, open the console at 127.0.0.1.",
      .signInRefused: "The key was refused", .linkLead: "This link signs you in once.",
      .linkUsed:
        "This link has been used, or is older than five minutes. Make another by fanfare console, or give a key.",

      .errorTitle: "That did not work", .badAddress: "The address of this page is not well formed.",
      .forgedForm:
        "The form did not come from a page of this console, or your session has changed since. Nothing was done.",
      .noSuchPage: "There is no such page.", .notAllowed: "Your key may not do this", .unavailable: "Not available now",
      .unavailableFix: "Nothing was changed. Try again in a moment.", .back: "Back to the overview",
      .whatYouCanDo: "What you can do",

      .queued: "waiting", .scheduled: "scheduled", .running: "running", .paused: "paused", .completed: "done",
      .cancelled: "cancelled", .active: "active",
      .disabled: "switched off", .dead: "gone",

      .runningNow: "Running now", .nothingRuns: "Of the latest 100 messages none is being sent.",
      .allRunning: "All that is being sent",
      .latestCampaigns: "Latest campaigns",
      .allCampaigns: "All campaigns", .noCampaigns: "No campaign fits.",
      .noCampaignsFix: "Send one by POST /v1/messages with an audience, or leave out a filter.", .name: "Name",
      .audience: "Audience", .state: "State", .targets: "Recipients",
      .progress: "Progress", .failed: "Failed", .filter: "Filter", .anyState: "any state",
      .label: "Label", .from: "From", .to: "Until", .apply: "Show", .clear: "Clear the filter",
      .next: "Older campaigns",
      .first: "Latest", .untitled: "without a name", .lineDone: "%1 of %2", .lineRate: "%1 a second",
      .lineEnd: "done about", .lineFailed: "%1 failed", .outcomes: "Outcomes", .outcome: "Outcome",
      .provider: "Provider",
      .reason: "Reason", .count: "Devices", .share: "Share", .whatToDo: "What to do",
      .funnel: "What became of all recipients", .waiting: "waiting", .pause: "Pause", .resume: "Resume",
      .cancel: "Cancel this campaign",
      .cancelLead:
        "%1 deliveries that have not been sent are given up. They can be sent later as a new campaign, by a replay.",
      .cancelName: "To confirm, write %1", .cancelButton: "Cancel for good",
      .cancelWrong: "That is not the name: nothing was cancelled.",
      .pausedNotice: "Paused. Requests in flight have finished; nothing else is sent until somebody resumes.",
      .kind: "Kind",
      .details: "Details", .acceptedAt: "Accepted",
      .completedAt: "Done",
      .startsAt: "Starts", .duration: "Took", .live: "This part is refreshed by itself.",
      .livePause: "Pause refreshing",
      .liveLost: "The connection is lost: these numbers are old.",
      .noOutcomes: "Nothing has an outcome yet.",

      .outcomeAccepted: "taken by the provider", .outcomeFailed: "failed", .outcomeDead: "app removed, or token ended",
      .outcomeExpired: "too late", .outcomeSuperseded: "replaced by a newer message", .outcomeCancelled: "cancelled",
      .outcomeSkipped: "left out", .outcomePending: "not sent yet", .outcomeRetrying: "to be tried again",
      .outcomeBlocked: "credential is blocked",
      .fixFailed: "Open the reason: mostly the content or the credential is wrong. A replay sends to these again.",
      .fixDead: "Nothing: these devices are taken out of later audiences by themselves.",
      .fixExpired: "Give the message a longer time to live, or a higher rate.",
      .fixSkipped: "Nothing: these devices were not to be reached.", .fixCancelled: "A replay sends to these again.",
      .fixSuperseded: "Nothing: a newer message with the same collapse key took their place.",

      .peopleLead: "Search for a user id or a device id: you see the devices, and what became of each message.",
      .personTitle: "User %1", .nobody: "Nothing is known of “%1”.",
      .nobodyFix:
        "Ids are exact, capital letters count. A device that was deleted is kept for the retention time only.",
      .devices: "Devices", .device: "Device", .platform: "Platform", .language: "Language", .tags: "Tags",
      .lastSeen: "Last seen", .registered: "Registered", .token: "Token", .timeline: "Messages to this device",
      .timelineEmpty: "No message was aimed at this device within the retention time.", .when: "When",
      .attempts: "Attempts", .attributes: "Attributes", .userTags: "Tags of the user",
      .noTags: "none", .deviceGone: "This device gets nothing: %1.", .whyNot: "Why, or why not",
      .attention: "needs a look",
      .noWorkers: "No worker is running, or your key may not see them.",
      .cancelUnknown: "Nothing of it has been sent. Nothing will be.",
      .noneYet: "Nothing was sent yet.",
      .noneYetFix: "Send a first message by POST /v1/messages.",
      .older: "Older messages",

      .health: "Health", .healthReady: "Everything works.",
      .healthUnavailable: "Nothing is accepted or sent at the moment.", .workers: "Workers", .worker: "Worker",
      .host: "Machine", .partitions: "Partitions", .heartbeat: "Last heartbeat",
      .prunes: "Tokens that wait to be removed",
      .prunesLead:
        "More tokens than usual were called dead, so that none was removed. Look at the reasons, then decide.",
      .prunesNone: "None waits.", .held: "Waiting", .applyPrunes: "Remove them", .discardPrunes: "Keep them",
      .audit: "Who did what", .auditLead: "The latest entries of the audit trail.",
      .who: "Who",
      .what: "What", .object: "Object",
      .onlyAdmin: "A key with the scope `admin` sees prunes and the audit trail here.",
      .noAudit: "Nobody has done anything yet.",

      // Compose.

      // Drafts and approval.

      // Audiences, tags and imports.

      // Keys.

      // Activity and credentials.
      .credentials: "Credentials",
      .activity: "Ended deliveries, the last 24 hours",
      .activityTotal: "%1 deliveries ended in %2 hours.",
      .activityMost: "Most of them from %1 (UTC): %2.",
      .noActivity: "Nothing ended in the last 24 hours.",
      .perHour: "deliveries per hour, times in UTC",
      .perSecond: "%1 per second",
      .asTable: "The figures as a table",
      .hour: "Hour from",
      .all: "All",
      .credential: "Credential",
      .noCredentials: "The configuration names no credential for this app: nothing can be sent.",
      .credentialIdle: "Ready",
      .credentialOpen: "Sending",
      .credentialWaiting: "Waiting",
      .credentialProbing: "Trying again",
      .credentialFailing: "Failing",
      .credentialUnreachable: "Unreachable",
      .credentialBlocked: "Refused",
      .fixWaiting: "The provider asked for a pause; sending goes on by itself.",
      .fixFailing:
        "The provider answers with errors; Fanfare tries on. See the reason, and the provider’s status page.",
      .fixUnreachable: "No connection comes about: check the network, the firewall and the provider’s status page.",
      .fixBlocked: "The provider refuses the credential: put a valid one into the configuration and reload it.",
      .fixExpiry: "Get a new one from the provider and put it into the configuration.",
      .brakeOn: "More tokens than usual were called dead: %1 wait for your decision.",
      .jobs: "Jobs",
      .expires: "Ends",
      .connections: "Connections",
      .atWork: "Requests at work",
      .ofWhole: "%1 of %2",
      .oldest: "Oldest",
      .nextTry: "Next try",
      .queue: "Queue",
      .queueLead:
        "A job is a list of deliveries that share a credential. It leaves when each of them has an outcome or waits for another attempt.",
      .retries: "Waiting for another attempt",
      .quarantined: "Unreadable records",
      .redis: "Redis",
      .version: "Version",
      .memory: "Memory",
      .memoryOf: "%1 of %2",
      .memoryWithout: "%1, without a limit",
      .persistence: "On disk",
      .appendOnly: "append-only file, synced: %1",
      .noAppendOnly: "no append-only file",
      .replicas: "Replicas",
      .losses: "What may be lost",
      .noLosses: "Nothing that was accepted is lost beyond what the persistence above allows.",

        // Reports of campaigns.

        // Facts of people.
    ], group: ",", decimal: ".")
}
