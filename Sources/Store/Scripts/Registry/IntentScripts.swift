import RedisClient

/// Of imports: `allocate` gives numbers to new devices and writes down an intent for them; nothing is written for them later unless it
/// is still there.
extension Scripts {
  /// Says which sets the newcomers of an intent are about to enter. KEYS intents · ARGV name, what it says now → 1, or 0: it is gone
  static let intend = RedisScript(
    "intend",
    """
    #!lua flags=allow-oom
    if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end
    redis.call('HSET', KEYS[1], ARGV[1], ARGV[2], '#' .. ARGV[1], '1')
    return 1
    """)

  /// Changes sets as long as the intent is there and says which, and counts that. KEYS intents; sets · ARGV intent, plan of sets,
  /// sets as `applySets` takes them → 1, or 0: the intent is gone, or says nothing of sets yet
  static let fillSets = RedisScript(
    "fillSets",
    "#!lua flags=allow-oom\n" + Fragment.sets + """
      local progress = redis.call('HGET', KEYS[1], '#' .. ARGV[1])
      if not progress or progress == '0' then return 0 end
      applySets(ARGV[2], 2, 3)
      redis.call('HINCRBY', KEYS[1], '#' .. ARGV[1], '1')
      return 1
      """)

  /// Gives an intent another name: whoever had it writes nothing more under it. KEYS intents · ARGV name, new name → what it
  /// says, or nil: it is gone
  static let takeIntent = RedisScript(
    "takeIntent",
    """
    #!lua flags=allow-oom
    local held = redis.call('HGET', KEYS[1], ARGV[1])
    if not held then return false end
    redis.call('HSET', KEYS[1], ARGV[2], held, '#' .. ARGV[2], '1')
    redis.call('HDEL', KEYS[1], ARGV[1], '#' .. ARGV[1])
    return held
    """)

  /// Ends an intent; numbers that got no record are free. KEYS intents, free numbers · ARGV name, since when they are free, numbers
  /// → 1, or 0: it is gone
  static let endIntent = RedisScript(
    "endIntent",
    """
    #!lua flags=allow-oom
    if redis.call('HDEL', KEYS[1], ARGV[1]) == 0 then return 0 end
    redis.call('HDEL', KEYS[1], '#' .. ARGV[1])
    for i = 3, #ARGV do redis.call('ZADD', KEYS[2], 'NX', ARGV[2], ARGV[i]) end
    return 1
    """)
}
