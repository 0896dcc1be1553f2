/// Every text of the console, by what it is for. Its words stand in a file for each language. `%1`, `%2` are replaced.
enum Word: String, CaseIterable {
  // The frame.
  case product, skip, navigation, whereYouAre, searchHint, searchButton, signOut, signOutEverywhere, theme,
    overview, campaigns,
    people, operations, environmentMissing, timeZone

  // Signing in.
  case signIn, signInLead, apiKey, apiKeyHint, signInButton, signInPlain, signInPlainFix, signInRefused, linkLead,
    linkUsed

  // Refusals.
  case errorTitle, badAddress, forgedForm, noSuchPage, notAllowed, unavailable, unavailableFix, back, whatYouCanDo

  // States.
  case queued, scheduled, running, paused, completed, cancelled, active, disabled, dead

  // Campaigns.
  case runningNow, nothingRuns, allRunning, latestCampaigns, allCampaigns, noCampaigns, noCampaignsFix, noneYet,
    noneYetFix, name,
    audience, state,
    targets, progress, failed, filter, anyState, label, from, to, apply, clear, next, first,
    untitled,
    lineDone, lineRate, lineEnd, lineFailed, outcomes, outcome, provider, reason, count, share, whatToDo,
    funnel,
    waiting, pause, resume, cancel, cancelLead, cancelUnknown, cancelName, cancelButton, cancelWrong, pausedNotice,
    kind, details, acceptedAt, completedAt, startsAt, duration, live, livePause, liveLost, noOutcomes

  // Outcomes.
  case outcomeAccepted, outcomeFailed, outcomeDead, outcomeExpired, outcomeSuperseded, outcomeCancelled, outcomeSkipped,
    outcomePending, outcomeRetrying, outcomeBlocked, fixFailed, fixDead, fixExpired, fixSkipped, fixCancelled,
    fixSuperseded

  // People.
  case peopleLead, personTitle, nobody, nobodyFix, devices, device, platform, language, tags, lastSeen, registered,
    token,
    timeline, timelineEmpty, older, when, attempts, attributes, userTags, noTags, deviceGone, whyNot

  // Operations.
  case health, attention, noWorkers, healthReady, healthUnavailable, workers, worker, host, partitions, heartbeat,
    prunes,
    prunesLead, prunesNone, held, applyPrunes, discardPrunes, audit, auditLead, who, what, object,
    onlyAdmin, noAudit

  // Compose.

  // Drafts and approval.

  // Audiences, tags and imports.

  // Keys.

  // Activity and credentials.
  case credentials, activity, activityTotal, activityMost, noActivity, perHour, perSecond, asTable, hour, all,
    credential,
    noCredentials, credentialIdle, credentialOpen, credentialWaiting, credentialProbing, credentialFailing,
    credentialUnreachable, credentialBlocked, fixWaiting, fixFailing, fixUnreachable, fixBlocked, fixExpiry, brakeOn,
    jobs, expires, connections, atWork, ofWhole, oldest, nextTry, queue, queueLead, retries, quarantined, redis,
    version, memory, memoryOf, memoryWithout, persistence, appendOnly, noAppendOnly, replicas, losses, noLosses

  // Reports of campaigns.

  // Facts of people.
}
