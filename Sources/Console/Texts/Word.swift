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
  case audiences, namedAudiences, audiencesNone, expression, expressionHint, tryExpression, countButton,
    whoIsInIt, nameAudience, audienceNameHint, audienceTaken, audienceChange, audienceSaved, audienceDelete,
    audienceDeleteLead, audienceDeleteButton, audienceDeleteWrong, audienceDeleted, campaignsOfAudience,
    notSaved, save, downloadCSV, reachLine, reachOf, reachCaption, reachWhat, reachTotal, reachLeftOut,
    reachSent, reachEstimated, reachByProvider, reachByPlatform, platformUntold, asRead, tag, tagsInUse,
    tagPrefix, tagsNone, tagsNoneOf, tagsFirst, tagsNext, campaignsOfTag, importDevices, importNotAllowed,
    importLead, importFile, importFileHint, importUpload, importUploading, importLarger, importNoFile,
    importTooLarge, importEmpty, importTooManyColumns, importGone, importLongColumn, importSize, importColumns,
    importColumn,
    importField, importExamples, importIgnored, importAttribute, importProvider, importProviderHint,
    importEachRow, importKeep, importKeepHint, importTry, importTryLead, importWait, importPreview,
    importRefused, importTrialTitle, importTrialNotice, importDoneTitle, importStopped, importRun,
    importChange, importAgain, importLines, importCreated, importUpdated, importRevived, importMoved,
    importSkipped, importStaysDisabled, importEnabledAgain, importRefusedLines, importReasons,
    importFirstLine, importRejects, importLine, importOriginal, importRejectsKept, importRejectsFile

  // Keys.

  // Activity and credentials.

  // Reports of campaigns.

  // Facts of people.
}
