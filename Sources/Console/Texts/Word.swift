/// Every text of the console, by what it is for. Its words stand in a file for each language. `%1`, `%2` are replaced.
enum Word: String, CaseIterable {
  // The frame.
  case product, skip, navigation, whereYouAre, searchHint, searchButton, signOut, signOutEverywhere, theme,
    overview, campaigns,
    people, operations, environmentMissing, timeZone

  // Signing in.
  case signIn, signInLead, apiKey, apiKeyHint, signInButton, signInPlain, signInPlainFix, signInRefused, linkLead,
    signInAgain,
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
    lineDone, lineRate, lineEnd, lineFailed, outcomes, outcome, provider, reason, count, share,
    funnel,
    pause, resume, cancel, cancelLead, cancelUnknown, cancelName, cancelNameOr, cancelButton, cancelWrong,
    pausedNotice,
    kind, details, acceptedAt, completedAt, startsAt, duration, livePause, liveLost, noOutcomes

  // Outcomes.
  case outcomeAccepted, outcomeFailed, outcomeDead, outcomeExpired, outcomeSuperseded, outcomeCancelled, outcomeSkipped,
    outcomePending, outcomeRetrying, outcomeBlocked, fixFailed, fixDead, fixExpired, fixSkipped, fixCancelled,
    fixSuperseded

  // People.
  case peopleLead, personTitle, nobody, nobodyFix, devices, device, platform, language, tags, lastSeen, registered,
    token,
    timeline, timelineEmpty, when, attempts, attributes, userTags, noTags, deviceGone, whyNot

  // Operations.
  case health, attention, noWorkers, healthReady, healthUnavailable, workers, worker, host, partitions, heartbeat,
    prunes,
    prunesLead, prunesNone, held, applyPrunes, discardPrunes, audit, auditLead, who, what, object,
    onlyAdmin, noAudit, prunesShare, prunesNormal, prunesSamples, prunesApplyNumber, prunesApplyLead, prunesApplied,
    prunesUndo, prunesUndone

  // Compose.
  case compose, newMessage, drafts, draftName, alertSeen, backgroundUnseen, whatItSays, everybodysWords,
    anotherLanguage,
    title, subtitle, body, addLanguage, addVariant, quietFrom, quietUntil, takenShort, takenByProvider, zoneHere,
    reachLineOne, review, kindHides, languageTwice, timeBelow, about, waitQuiet,
    sentenceWaiting, pressAgain, draftGone, acceptedOnly, noSuchTime, wholeMessage, deleteListLead, sentenceToOne,
    sentenceLeftOutOne, goOnWithOne, sendToOne,
    scheduleToOne, anotherVariant, beforeItCanGo, whatATapDoes, tapOpens, picture,
    buttons, buttonTitle, buttonLink,
    variants, compareVariants, variantsHint, variantShare,
    holdout, forTheApp, appFields, sound, soundHint, badge, badgeHint, collapseKey, collapseKeyHint, data, otherFields,
    furtherFields, furtherHint, whatWillHappen, saveDraft, checkNow, noTestLists, testLists, tryOn, sendTest, counting,
    checkLost, checkEnded, languageMissing, timeMissing, noObject, noJSON, noWholeNumber, noShare, oneFault, manyFaults,
    whoGetsIt, audienceExpression, devicesOfUser, allDevices, latestDevice, ofTag, ofZone, ofVersion,
    ofPermission, ofActivity, namedAudience, everyone, devicesThatFulfil, allOfThese, oneOfThese, addCondition,
    addGroup, byHand, tagDevices, comparison, conditionNumber, property, isOrIsNot, isSo, isNot, exactly, sameVersion,
    atLeast, above, atMost, below, lessThan, moreThan, value, daysAgo, removeCondition, groupNumber, fulfilsOrNot,
    fulfils, fulfilsNot, allOrOne, removeGroup, addToGroup, whenItGoes, time, timeNow, timeAt, timeLocal, dateAndTime,
    zoneOfTime, ratePerSecond, asFastAsItGoes, giveUpAfter, usualTime, minutes, oneHour, hours, oneDay, days,
    quietHours,
    quietOfApp, quietOwn, quietNone, inQuietHours, quietHold, quietSkip, notTooOften, topic, capMaximum, capPeriod,
    oneDayEach, oneWeekEach, previewIOS, previewAndroid, previewWeb, preview, nothingShown, looks, variant, noVariant,
    lookDark, lookOpen, previewHint, previewDay, previewNow, reach, reachUnknown, reachNotAsked, byProvider,
    sentenceUnknown, sentenceNotAsked, goOnWith,
    goOn, requests, noRequests, bytesLeft, contentOf, warning, sentenceTo, sentenceLanguages, sentenceNow, sentenceAt,
    sentenceLocal, sentenceRate, sentenceLeftOut, noAuthor, draftChanged, saved, tested, testNumber, sendQuestion, send,
    cannotCallBack, needsApproval, approvedBy, onlySender, sendTo, scheduleTo, approve, backToDraft, theMessage,
    allDrafts, noDrafts, changed, beingSent, approved, beingWritten, duplicateNamed, duplicate, deleteNamed, delete,
    deleteDraftLead, deleteForGood, allTestLists, noTestListsYet, users, keepTestList, usersByLine, devicesByLine, keep

  // Audiences, tags and imports.
  case audiences, namedAudiences, audiencesNone, expression, expressionHint, tryExpression, countButton,
    whoIsInIt, nameAudience, audienceNameHint, audienceTaken, audienceChange, audienceSaved, audienceBefore,
    audienceUndo, audienceDelete,
    audienceDeleteLead, audienceDeleteButton, audienceDeleteWrong, audienceDeleted, campaignsOfAudience,
    notSaved, save, downloadCSV, reachLine, reachOf, reachCaption, reachWhat, reachTotal, reachLeftOut,
    reachSent, reachEstimated, reachByProvider, reachByPlatform, platformUntold, asRead, tag, tagsInUse,
    tagPrefix, tagsNone, tagsNoneOf, tagsFirst, tagsNext, campaignsOfTag, importDevices, importNotAllowed,
    importLead, importFile, importFileHint, importUpload, importUploading, importLost, importBusy, importLarger,
    importNoFile,
    importTooLarge, importEmpty, importTooManyColumns, importGone, importLongColumn, importNoName, importColon,
    importSize, importColumns,
    importColumn,
    importField, importExamples, importIgnored, importAttribute, importProvider, importProviderHint,
    importEachRow, importKeep, importKeepHint, importTry, importTryLead, importWait, importPreview,
    importRefused, importTrialTitle, importTrialNotice, importDoneTitle, importStopped, importRun,
    importChange, importAgain, importLines, importCreated, importUpdated, importRevived, importMoved,
    importSkipped, importStaysDisabled, importEnabledAgain, importRefusedLines, importReasons,
    importFirstLine, importRejects, importLine, importOriginal, importRejectsKept, importRejectsFile

  // Keys.
  case keys, keysOfApp, keysLead, keyNew, keyCreate, keyNameHint, scopes, lastUsed, keyEnds, keyUntil, keyUntilHint,
    keyAddresses, keyAddressesHint, everywhere, keyCreated, keyYours, keyEnded, keyRotating, keyFormerEnds, keyChange,
    keySave, keyRotate, keyRotateLead, keyKeep, keyValidFor, keyRotateButton, keyRevoke, keyRevokeLead, keyRevokeOwn,
    keyRevokeButton, keyRevoked, keyMade, keyRotated, keySecret, keySecretLead, keySecretKept, keyFormUsed, never,
    spanKept, spanNow, spanHour, spanDay, spanWeek, spanMonth, spanQuarter, spanYear, scopeSend, scopeDevices,
    scopeRead, scopeAdmin, scopeRegister, scopeExport, scopeChannels, scopeTest, scopeDrafts, scopeKeys, auditAll,
    auditEntries,
    auditKey, auditNone, auditGoesOn, actDone, actRefused, actFailed, actBegun, actUnknown

  // What the audit trail has.
  case didSendMessage, didSendMessages, didSendDraft, didCreateDraft, didReplaceDraft, didApproveDraft, didTestDraft,
    didDuplicateDraft, didDeleteDraft, didPauseMessage, didResumeMessage, didCancelMessage, didRescheduleMessage,
    didReplayMessage, didCreateKey, didChangeKey, didRotateKey, didRevokeKey, didPutAudience, didDeleteAudience,
    didDeleteDevice, didDeleteUser, didApplyPrunes, didDiscardPrunes, didUndoPrunes, didExportDevices, didTimeline,
    didListDeliveries, didListMessages, didListAudit, didListKeys, didListAudiences, didListTags, didListDrafts

  // Activity and credentials.
  case credentials, activity, activityTotal, activityMost, noActivity, perHour, perSecond, asTable, hour, all,
    credential,
    noCredentials, credentialIdle, credentialOpen, credentialWaiting, credentialProbing, credentialFailing,
    credentialUnreachable, credentialBlocked, fixWaiting, fixFailing, fixUnreachable, fixBlocked, fixExpiry, brakeOn,
    jobs, expires, connections, atWork, ofWhole, oldest, nextTry, queue, queueLead, retries, quarantined, redis,
    version, memory, memoryOf, memoryWithout, persistence, appendOnly, noAppendOnly, replicas, losses, noLosses

  // Reports of campaigns.
  case results, resultsEnded, resultsLead, rateAccepted, rateFailed, rateDead, rateLeftOut, rateTried, notTold,
    anyValue,
    verdictTooFew, verdictChance, verdictBetter, verdictEarly, ended, reachedLead, whoActs, ownerYou, ownerSender,
    ownerApp, ownerNobody, nothingToDo, reasonUnknownDevice, reasonDeviceDeleted, reasonDeviceDisabled, reasonMoved,
    reasonNoCredential, reasonKindUnsupported, reasonTokenKind, reasonProviderExcluded, reasonAttributeMissing,
    reasonHoldout, reasonCapped, reasonQuietHours, reasonLocalTime, reasonPaused, reasonMessageExpired,
    reasonAttemptsExhausted, reasonGivenUp, reasonNotConfigured, reasonCannotBeSent, reasonUnsubscribed,
    reasonUnregistered, reasonWrongToken, reasonTopic, reasonTooLarge, reasonInvalidArgument, reasonFirebaseKeys,
    deliveries, deliveriesOf, deliveriesNone, deliveriesGoOn, deliveriesLater, deviceDeleted, pages, nextPage,
    firstPage, report, reportMade, reportBack, lookCloser, allDeliveries, deliveriesCSV, labels, labelHint, replayOf,
    replayedBy, draftOf, pausedByBrake, replay, replayLead, replayButton, replayMore, notTheName, kindAlert,
    kindBackground, kindLiveActivity, kindVoIP, kindLocation, kindComplication, kindFileProvider, kindMDM,
    kindPushToTalk, kindWidgets, kindControls

  // Facts of people.
  case searchByID, searchByToken, tokenHint, tokenUnknown, devicesDeleted, user, userTagsLead, userNoDevices,
    userDelete, userDeleteLead, deviceDelete, deviceDeleteLead, deleteButton, tagAdd, tagAddButton, tagRemove, tagAdded,
    tagRemoved, tagUndoAdd, tagUndoRemove, notifications, notificationsOn, notificationsOff, allowed, appVersion,
    deviceZone, tokenKind, tokenEnvironment, bundleID, activityToken, liveActivity, goneSince, goneBy, nextAttempt,
    receiptsOnly, wholeToken, userTimeline, userTimelineEmpty, userTimelinePart, userTimelineGoesOn
}
