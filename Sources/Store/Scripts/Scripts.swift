import RedisClient

/// Every script: a file of Lua in `Lua/`, whose head says what it does and what KEYS and ARGV are. Each is short,
/// touches only keys of one partition, all in KEYS, and may be repeated. Numbers beyond 14 digits are formatted by hand
/// there: Lua would round them.
enum Scripts {
  // Accepting. Of messages of one delivery, kept whole in one value each (decision 0035), a script takes many at once.
  static let acceptHere = LuaText.script("acceptHere", PackageResources.acceptHere_lua)
  static let acceptHome = LuaText.script("acceptHome", PackageResources.acceptHome_lua)
  static let addShard = LuaText.script("addShard", PackageResources.addShard_lua)
  static let stage = LuaText.script("stage", PackageResources.stage_lua)
  static let spreadDone = LuaText.script("spreadDone", PackageResources.spreadDone_lua)
  static let reserve = LuaText.script("reserve", PackageResources.reserve_lua)
  static let confirm = LuaText.script("confirm", PackageResources.confirm_lua)
  static let acceptInline = LuaText.script("acceptInline", PackageResources.acceptInline_lua)
  static let endInline = LuaText.script("endInline", PackageResources.endInline_lua)
  static let unfold = LuaText.script("unfold", PackageResources.unfold_lua)
  static let dropInline = LuaText.script("dropInline", PackageResources.dropInline_lua)

  // Jobs, their deliveries and what became of these.
  static let flush = LuaText.script("flush", PackageResources.flush_lua)
  static let takeTallies = LuaText.script("takeTallies", PackageResources.takeTallies_lua)
  static let dropSegment = LuaText.script("dropSegment", PackageResources.dropSegment_lua)
  static let claim = LuaText.script("claim", PackageResources.claim_lua)
  static let dropJobs = LuaText.script("dropJobs", PackageResources.dropJobs_lua)
  static let dropRetries = LuaText.script("dropRetries", PackageResources.dropRetries_lua)
  static let storeSlice = LuaText.script("storeSlice", PackageResources.storeSlice_lua)
  static let tell = LuaText.script("tell", PackageResources.tell_lua)

  // Messages that wait for their time, and what operators ask for.
  static let control = LuaText.script("control", PackageResources.control_lua)
  static let controlShard = LuaText.script("controlShard", PackageResources.controlShard_lua)
  static let controlKnown = LuaText.script("controlKnown", PackageResources.controlKnown_lua)
  static let park = LuaText.script("park", PackageResources.park_lua)
  static let unparked = LuaText.script("unparked", PackageResources.unparked_lua)
  static let begin = LuaText.script("begin", PackageResources.begin_lua)
  static let reschedule = LuaText.script("reschedule", PackageResources.reschedule_lua)
  static let hurry = LuaText.script("hurry", PackageResources.hurry_lua)
  static let postponeStart = LuaText.script("postponeStart", PackageResources.postponeStart_lua)
  static let postpone = LuaText.script("postpone", PackageResources.postpone_lua)
  static let releaseJob = LuaText.script("releaseJob", PackageResources.releaseJob_lua)
  static let adjourn = LuaText.script("adjourn", PackageResources.adjourn_lua)

  // Leases and workers.
  static let probe = LuaText.script("probe", PackageResources.probe_lua)
  static let lease = LuaText.script("lease", PackageResources.lease_lua)
  static let release = LuaText.script("release", PackageResources.release_lua)
  static let beat = LuaText.script("beat", PackageResources.beat_lua)

  // Rates and quotas.
  static let grant = LuaText.script("grant", PackageResources.grant_lua)
  static let leaseTokens = LuaText.script("leaseTokens", PackageResources.leaseTokens_lua)
  static let holdScheduled = LuaText.script("holdScheduled", PackageResources.holdScheduled_lua)
  static let recipients = LuaText.script("recipients", PackageResources.recipients_lua)

  // Looking for what was aimed at one device, a bounded piece at a time. A text that is found may stand there by
  // chance: the reader compares.
  static let scanSegment = LuaText.script("scanSegment", PackageResources.scanSegment_lua)
  static let scanStream = LuaText.script("scanStream", PackageResources.scanStream_lua)
  static let aimedShards = LuaText.script("aimedShards", PackageResources.aimedShards_lua)

  // Audiences, from their members to the end of what is left of them.
  static let changeAudience = LuaText.script("changeAudience", PackageResources.changeAudience_lua)
  static let addAudience = LuaText.script("addAudience", PackageResources.addAudience_lua)
  static let startAudience = LuaText.script("startAudience", PackageResources.startAudience_lua)
  static let endRest = LuaText.script("endRest", PackageResources.endRest_lua)
  static let abandonAudience = LuaText.script("abandonAudience", PackageResources.abandonAudience_lua)

  // Replays of a message.
  static let lockReplays = LuaText.script("lockReplays", PackageResources.lockReplays_lua)
  static let unlockReplays = LuaText.script("unlockReplays", PackageResources.unlockReplays_lua)

  // Drafts: n name, v version, c created, u updated, o what it is a copy of, b message, m the id it is sent under.
  static let createDraft = LuaText.script("createDraft", PackageResources.createDraft_lua)
  static let replaceDraft = LuaText.script("replaceDraft", PackageResources.replaceDraft_lua)
  static let deleteDraft = LuaText.script("deleteDraft", PackageResources.deleteDraft_lua)
  static let approveDraft = LuaText.script("approveDraft", PackageResources.approveDraft_lua)
  static let reserveDraft = LuaText.script("reserveDraft", PackageResources.reserveDraft_lua)
  static let settleDraft = LuaText.script("settleDraft", PackageResources.settleDraft_lua)
  static let keepNamed = LuaText.script("keepNamed", PackageResources.keepNamed_lua)

  // The audit: entries of what has ended, and of what is about to begin.
  static let addAudit = LuaText.script("addAudit", PackageResources.addAudit_lua)
  static let beginAct = LuaText.script("beginAct", PackageResources.beginAct_lua)

  // Devices, their tokens and sets. Imports: `allocate` gives numbers to new devices and writes down an intent for
  // them; nothing is written for them later unless it is still there. `announce`: devices that are registered before
  // they hold their token; with `changeStates` they do, or devices lose theirs. `mendSet` and `mendIndex`, of
  // `reindex`: each looks and repairs at one moment, and only if the record is still the one that was judged.
  static let enterDevices = LuaText.script("enterDevices", PackageResources.enterDevices_lua)
  static let announce = LuaText.script("announce", PackageResources.announce_lua)
  static let changeStates = LuaText.script("changeStates", PackageResources.changeStates_lua)
  static let intend = LuaText.script("intend", PackageResources.intend_lua)
  static let fillSets = LuaText.script("fillSets", PackageResources.fillSets_lua)
  static let takeIntent = LuaText.script("takeIntent", PackageResources.takeIntent_lua)
  static let endIntent = LuaText.script("endIntent", PackageResources.endIntent_lua)
  static let mendSet = LuaText.script("mendSet", PackageResources.mendSet_lua)
  static let mendIndex = LuaText.script("mendIndex", PackageResources.mendIndex_lua)
  static let allocate = LuaText.script("allocate", PackageResources.allocate_lua)
  static let free = LuaText.script("free", PackageResources.free_lua)
  static let intern = LuaText.script("intern", PackageResources.intern_lua)
  static let writeDevices = LuaText.script("writeDevices", PackageResources.writeDevices_lua)
  static let writeOwnDevices = LuaText.script("writeOwnDevices", PackageResources.writeOwnDevices_lua)
  static let unbury = LuaText.script("unbury", PackageResources.unbury_lua)
  static let point = LuaText.script("point", PackageResources.point_lua)
  static let unpoint = LuaText.script("unpoint", PackageResources.unpoint_lua)
  static let readSets = LuaText.script("readSets", PackageResources.readSets_lua)
  static let scanNames = LuaText.script("scanNames", PackageResources.scanNames_lua)

  // Prunes that are held, and the brake.
  static let holdPrunes = LuaText.script("holdPrunes", PackageResources.holdPrunes_lua)
  static let brake = LuaText.script("brake", PackageResources.brake_lua)
  static let releaseBrake = LuaText.script("releaseBrake", PackageResources.releaseBrake_lua)
  static let restoreNorms = LuaText.script("restoreNorms", PackageResources.restoreNorms_lua)
  static let learnNorms = LuaText.script("learnNorms", PackageResources.learnNorms_lua)

  // Users, their devices and tags.
  static let join = LuaText.script("join", PackageResources.join_lua)
  static let crossed = LuaText.script("crossed", PackageResources.crossed_lua)
  static let leave = LuaText.script("leave", PackageResources.leave_lua)
  static let tagUser = LuaText.script("tagUser", PackageResources.tagUser_lua)

  // API keys.
  static let changeKey = LuaText.script("changeKey", PackageResources.changeKey_lua)
  static let adoptKey = LuaText.script("adoptKey", PackageResources.adoptKey_lua)
  static let noteUse = LuaText.script("noteUse", PackageResources.noteUse_lua)

  static let all = [
    acceptHere, acceptHome, addShard, stage, spreadDone, reserve, confirm, acceptInline,
    endInline, unfold, dropInline,
    flush, takeTallies, dropSegment, claim, dropJobs, dropRetries, storeSlice, tell,
    control, controlShard, controlKnown, park, unparked, begin, reschedule, hurry, postpone, postponeStart, releaseJob,
    adjourn,
    probe, lease, release, beat,
    grant, leaseTokens, holdScheduled, recipients,
    scanSegment, scanStream, aimedShards,
    changeAudience, addAudience, startAudience, endRest, abandonAudience,
    lockReplays, unlockReplays,
    createDraft, replaceDraft, approveDraft, deleteDraft, reserveDraft, settleDraft, keepNamed,
    enterDevices, announce, changeStates, intend, fillSets, takeIntent, endIntent, mendSet, mendIndex, allocate, free,
    intern,
    writeDevices, writeOwnDevices, unbury, point, unpoint, readSets, scanNames,
    holdPrunes, brake, releaseBrake, restoreNorms, learnNorms,
    join, crossed, leave, tagUser,
    changeKey, adoptKey, noteUse,
    addAudit, beginAct,
  ]
}
