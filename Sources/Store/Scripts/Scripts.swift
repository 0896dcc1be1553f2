import RedisClient

/// Every script. Each is short, touches only keys of one partition, all in KEYS, and may be repeated.
enum Scripts {
  static let all = [
    probe, lease, release, beat, acceptHere, acceptHome, addShard, addStep, stage, loseShard, spreadDone, reserve,
    confirm, claim,
    dropJobs,
    acceptInline, endInline, unfold, dropInline,
    dropRetries, condemn, flush,
    addAudience, startAudience, endRest, abandonAudience, flushAudience, scanSegment, scanStream, aimedShards, tell,
    begin, reschedule, hurry, postpone, releaseJob, adjourn,
    takeTallies, grant, control, controlShard, controlKnown, park, unparked, storeSlice, writeDevices, writeOwnDevices,
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
