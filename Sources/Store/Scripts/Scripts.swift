import RedisClient

/// Every script. Each is short, touches only keys of one partition, all in KEYS, and may be repeated.
enum Scripts {
  static let all = [
    probe, lease, release, beat, acceptHere, acceptHome, addPart, addStep, stage, losePart, spreadDone, reserve,
    confirm, claim,
    dropJobs,
    acceptSingles, endSingles, unfold, dropSingles,
    dropRetries, condemn, flush,
    addAudience, startAudience, endRest, abandonAudience, flushAudience, scanSegment, scanStream, aimedParts, tell,
    begin, reschedule, hurry, postpone, releaseJob, adjourn,
    takeTallies, grant, control, controlPart, controlKnown, park, unparked, storeSlice, writeDevices, writeOwnDevices,
    enterDevices,
    intend, fillSets,
    takeIntent, endIntent,
    holdPrunes,
    brake,
    releaseBrake, learnNorms,
    changeAudience, allocate, free, intern, unbury, announce, land, point, unpoint, readSets, scanNames,
    join, crossed, leave, tagUser, mendSet, mendIndex,
  ]
}
