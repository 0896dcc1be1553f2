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
  case compose, newMessage, drafts, draftName, kindAlert, kindBackground, whatItSays, everybodysWords, anotherLanguage,
    title, subtitle, body, addLanguage, addVariant, sentenceToOne, sentenceLeftOutOne, goOnWithOne, sendToOne,
    scheduleToOne, anotherVariant, beforeItCanGo, whatATapDoes, tapOpens, picture,
    buttons, buttonTitle, buttonLink,
    variants, compareVariants, variantsHint, variantShare,
    holdout, forTheApp, appFields, sound, soundHint, badge, badgeHint, collapseKey, collapseKeyHint, data, otherFields,
    furtherFields, furtherHint, whatWillHappen, saveDraft, checkNow, noTestLists, testLists, tryOn, sendTest, counting,
    checkLost, checkEnded, languageMissing, timeMissing, noObject, noJSON, noWholeNumber, noShare, oneFault, manyFaults,
    whoGetsIt, expression, expressionHint, devicesOfUser, allDevices, latestDevice, ofTag, ofZone, ofVersion,
    ofPermission, ofActivity, namedAudience, everyone, devicesThatFulfil, allOfThese, oneOfThese, addCondition,
    addGroup, byHand, tagDevices, comparison, conditionNumber, property, isOrIsNot, isSo, isNot, exactly, sameVersion,
    atLeast, above, atMost, below, lessThan, moreThan, value, daysAgo, removeCondition, groupNumber, fulfilsOrNot,
    fulfils, fulfilsNot, allOrOne, removeGroup, addToGroup, whenItGoes, time, timeNow, timeAt, timeLocal, dateAndTime,
    zoneOfTime, perSecond, asFastAsItGoes, giveUpAfter, usualTime, minutes, oneHour, hours, oneDay, days, quietHours,
    quietOfApp, quietOwn, quietNone, inQuietHours, quietHold, quietSkip, notTooOften, topic, capMaximum, capPeriod,
    oneDayEach, oneWeekEach, previewIOS, previewAndroid, previewWeb, preview, nothingShown, looks, variant, noVariant,
    lookDark, lookOpen, previewHint, previewDay, previewNow, reach, reachUnknown, reachNotAsked, ofDevices, estimated,
    byProvider, byPlatform, unknownPlatform, leftOutCount, leftOutByReason, sentenceUnknown, sentenceNotAsked, goOnWith,
    goOn, requests, noRequests, bytesLeft, contentOf, warning, sentenceTo, sentenceLanguages, sentenceNow, sentenceAt,
    sentenceLocal, sentenceRate, sentenceLeftOut, noAuthor, draftChanged, saved, tested, testNumber, sendQuestion, send,
    cannotCallBack, needsApproval, approvedBy, onlySender, sendTo, scheduleTo, approve, backToDraft, theMessage,
    allDrafts, noDrafts, changed, beingSent, approved, beingWritten, duplicateNamed, duplicate, deleteNamed, delete,
    deleteDraftLead, deleteForGood, allTestLists, noTestListsYet, users, keepTestList, usersByLine, devicesByLine, keep

  // Drafts and approval.

  // Audiences, tags and imports.

  // Keys.

  // Activity and credentials.

  // Reports of campaigns.

  // Facts of people.
}
