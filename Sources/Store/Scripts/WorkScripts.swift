import RedisClient

extension Scripts {
  /// Entries behind a place. Asks to be rung when there are no more. KEYS lease, stream, waiting · ARGV owner, from,
  /// count, name of the stream
  static let claim = RedisScript(
    "claim",
    "#!lua flags=allow-oom\n" + Fragment.owner + """
      local found = redis.call('XRANGE', KEYS[2], ARGV[2], '+', 'COUNT', ARGV[3])
      if #found < tonumber(ARGV[3]) then redis.call('SADD', KEYS[3], ARGV[4]) end
      return found
      """)

  /// Takes out jobs that have nothing left to do. KEYS lease, stream, ready, odd · ARGV owner, name, how many of them are
  /// odd, entries…
  static let dropJobs = RedisScript(
    "dropJobs",
    "#!lua flags=allow-oom\n" + Fragment.owner + """
      for i = 4, #ARGV do redis.call('XDEL', KEYS[2], ARGV[i]) end
      if redis.call('XLEN', KEYS[2]) == 0 then
        redis.call('DEL', KEYS[2])
        redis.call('SREM', KEYS[3], ARGV[2])
      end
      if ARGV[3] ~= '0' then redis.call('INCRBY', KEYS[4], ARGV[3]) end
      return 1
      """)

  /// Takes out members of the retry set that name no waiting delivery. KEYS lease, retry, odd · ARGV owner, members…
  static let dropRetries = RedisScript(
    "dropRetries",
    "#!lua flags=allow-oom\n" + Fragment.owner + """
      for i = 2, #ARGV do redis.call('ZREM', KEYS[2], ARGV[i]) end
      redis.call('INCRBY', KEYS[3], #ARGV - 1)
      return 1
      """)

  /// KEYS lease, slices, work · ARGV owner, number, packed slice
  static let storeSlice = RedisScript(
    "storeSlice",
    "#!lua flags=allow-oom\n" + Fragment.owner + """
      if redis.call('EXISTS', KEYS[3]) == 0 then return 0 end
      redis.call('HSET', KEYS[2], ARGV[2], ARGV[3])
      return 1
      """)

  /// A part tells home that it is done. KEYS message, segment, segments · ARGV raw id, hour, retention, partition, failed
  static let tell = RedisScript(
    "tell",
    "#!lua flags=allow-oom\n" + Fragment.archive + """
      if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
      if ARGV[5] == '1' then redis.call('HSET', KEYS[1], 'bf', 1) end
      if redis.call('HSETNX', KEYS[1], 'f' .. ARGV[4], 1) == 0 then return 0 end
      if redis.call('HINCRBY', KEYS[1], 'left', -1) == 0 then
        keep(KEYS[2], KEYS[3], ARGV[2], ARGV[3], 'm' .. ARGV[1], endMessage(KEYS[1], '0'))
      end
      return 1
      """)

  /// KEYS message · → 1 cancelled now, 2 before, 0 unknown here
  static let cancel = RedisScript(
    "cancel",
    "#!lua flags=allow-oom\n" + Fragment.clock + """
      if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
      return 2 - redis.call('HSETNX', KEYS[1], 'can', now())
      """)

  /// KEYS work · ARGV channel, message
  static let cancelPart = RedisScript(
    "cancelPart",
    """
    #!lua flags=allow-oom
    if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('HSET', KEYS[1], 'c', 1) end
    redis.call('PUBLISH', ARGV[1], 'c ' .. ARGV[2])
    return 1
    """)
}
