import RedisClient

/// Messages that wait for their time, and parts of audiences whose members have times of their own.
extension Scripts {
  /// The time of a scheduled message has come, or it was cancelled: from here on it spreads as any other. One that was
  /// cancelled spreads at once, and `pl` keeps the time for which it was planned. KEYS lease, message, scheduled,
  /// spreading · ARGV owner, raw id, now in milliseconds → 1: spread it; 0: it was changed, or is gone
  static let begin = RedisScript(
    "begin",
    "#!lua flags=allow-oom\n" + Fragment.owner + """
      local m = redis.call('HMGET', KEYS[2], 'st', 'at', 'can')
      if m[1] ~= 'w' then
        redis.call('ZREM', KEYS[3], ARGV[2])
        return 0
      end
      if not m[3] and tonumber(m[2]) > tonumber(ARGV[3]) then
        redis.call('ZADD', KEYS[3], m[2], ARGV[2])
        return 0
      end
      if m[3] then redis.call('HSET', KEYS[2], 'at', ARGV[3], 'pl', m[2]) end
      redis.call('HSET', KEYS[2], 'st', 's')
      redis.call('ZADD', KEYS[4], ARGV[3], ARGV[2])
      redis.call('ZREM', KEYS[3], ARGV[2])
      return 1
      """)

  /// Gives a scheduled message another time, if nobody else has changed it since it was read. KEYS message, scheduled,
  /// listing, hours, ends of hours · ARGV raw id, version that was read, start, body, local time or '', listing's life, channel,
  /// partition, hour
  /// → 0 unknown, 1 done, 2 it has started, 3 changed meanwhile, 4 cancelled
  static let reschedule = RedisScript(
    "reschedule",
    "#!lua\n" + Fragment.clock + Fragment.listed + """
      local m = redis.call('HMGET', KEYS[1], 'st', 'v', 'can')
      if not m[1] then return 0 end
      if m[3] then return 4 end
      if m[1] ~= 'w' then return 2 end
      if m[2] ~= ARGV[2] then return 3 end
      redis.call('HSET', KEYS[1], 'at', ARGV[3], 'b', ARGV[4], 'v', tonumber(m[2]) + 1, 'sl', ARGV[5])
      redis.call('ZADD', KEYS[2], ARGV[3], ARGV[1])
      if redis.call('EXPIRE', KEYS[3], ARGV[6], 'GT') == 1 then listed(KEYS[4], KEYS[5], ARGV[9], tonumber(ARGV[6])) end
      redis.call('PUBLISH', ARGV[7], 's ' .. ARGV[8])
      return 1
      """)

  /// A cancelled message that waits for its time has none to wait for. KEYS message, scheduled · ARGV raw id, channel,
  /// partition
  static let hurry = RedisScript(
    "hurry",
    """
    #!lua flags=allow-oom
    if redis.call('ZADD', KEYS[2], 'XX', 'CH', 0, ARGV[1]) == 1 then redis.call('PUBLISH', ARGV[2], 's ' .. ARGV[3]) end
    return 1
    """)

  /// The first members of a part have a later time than the part. KEYS lease, work, starts · ARGV owner, raw id, due
  static let postpone = RedisScript(
    "postpone",
    "#!lua flags=allow-oom\n" + Fragment.owner + """
      -- Who cancels does not wait; who is paused waits for something else.
      local control = redis.call('HGET', KEYS[2], 'c')
      if control and string.sub(control, 1, 1) ~= 'r' then return 0 end
      redis.call('ZADD', KEYS[3], 'XX', ARGV[3], ARGV[2])
      return 1
      """)

  /// The time of some members of a part has come: their job joins its stream, with places of its own. KEYS lease, work,
  /// starts, seq, ready, waiting, stream · ARGV owner, raw id, its entry among the starts, channel, partition, name of the
  /// stream, first, count → sequence of its first member, or 0: nothing of it is left to do
  static let releaseJob = RedisScript(
    "releaseJob",
    "#!lua\n" + Fragment.owner + Fragment.mark + """
      redis.call('ZREM', KEYS[3], ARGV[3])
      local left = redis.call('HMGET', KEYS[2], 'x', 'j' .. ARGV[7])
      if not left[1] or left[1] == '0' or not left[2] or left[2] == '0' then return 0 end
      local count, name = tonumber(ARGV[8]), ARGV[6]
      local base = redis.call('INCRBY', KEYS[4], count) - count + 1
      redis.call('HSET', KEYS[2], 'b' .. ARGV[7], string.format('%.0f', base))
      redis.call('XADD', KEYS[7], string.format('%.0f', base) .. mark(ARGV[2]), 'm', ARGV[2], 'a', ARGV[7], 'c',
        ARGV[8])
      local rings = redis.call('SADD', KEYS[5], name) + redis.call('SREM', KEYS[6], name)
      if rings > 0 then redis.call('PUBLISH', ARGV[4], 'w ' .. ARGV[5] .. ' ' .. name) end
      return base
      """)

  /// Quiet hours have begun for the members of a job: it leaves its stream until they end. KEYS lease, stream, ready, starts
  /// · ARGV owner, entry, name, its entry among the starts, due
  static let adjourn = RedisScript(
    "adjourn",
    "#!lua\n" + Fragment.owner + """
      redis.call('ZADD', KEYS[4], ARGV[5], ARGV[4])
      redis.call('XDEL', KEYS[2], ARGV[2])
      if redis.call('XLEN', KEYS[2]) == 0 then
        redis.call('DEL', KEYS[2])
        redis.call('SREM', KEYS[3], ARGV[3])
      end
      return 1
      """)
}
