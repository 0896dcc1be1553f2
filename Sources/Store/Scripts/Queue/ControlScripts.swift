import RedisClient

extension Scripts {
  /// An operator's word at home, where one of two comes first. KEYS message, controlled · ARGV word, raw id, reason of
  /// a pause, the version it answers to or '' → 0: unknown here; or 1 changed, 2 it was so, 3 it is cancelled, 4
  /// another came first; and what holds now
  static let control = RedisScript(
    "control",
    "#!lua flags=allow-oom\n" + Fragment.clock + """
      if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
      local held = redis.call('HGET', KEYS[1], 'ctl') or 'r0'
      local word, version = string.sub(held, 1, 1), string.sub(held, 2)
      if ARGV[4] ~= '' and ARGV[4] ~= version then return {4, held} end
      if word == ARGV[1] then return {2, held} end
      if word == 'c' then return {3, held} end
      held = ARGV[1] .. string.format('%.0f', version + 1)
      redis.call('HSET', KEYS[1], 'ctl', held)
      redis.call('HDEL', KEYS[1], 'pat', 'pr')
      if ARGV[1] == 'c' then redis.call('HSET', KEYS[1], 'can', now()) end
      if ARGV[1] == 'p' then redis.call('HSET', KEYS[1], 'pat', now(), 'pr', ARGV[3]) end
      redis.call('SADD', KEYS[2], ARGV[2])
      return {1, held}
      """)

  /// The same in one of its partitions, unless a later one is known there. What was not started starts now to be
  /// counted as cancelled, or no earlier than its ttl is over, or at its own time. KEYS work, starts, ends · ARGV
  /// channel, message, raw id, partition, control
  static let controlShard = RedisScript(
    "controlPart",
    """
    #!lua flags=allow-oom
    local part = redis.call('HMGET', KEYS[1], 'l', 'a', 'n', 'x', 'c', 'at')
    local word = string.sub(ARGV[5], 1, 1)
    if part[1] and part[4] ~= '0' then
      if part[5] and tonumber(string.sub(part[5], 2)) > tonumber(string.sub(ARGV[5], 2)) then return 0 end
      redis.call('HSET', KEYS[1], 'c', ARGV[5])
      if part[2] and word == 'c' then redis.call('ZADD', KEYS[3], 'XX', 0, ARGV[3]) end
      if part[2] and not part[3] then
        local start = part[6]
        if word == 'c' then start = '0' end
        if word == 'p' then start = string.format('%.0f', part[6] + math.max(part[1] * 1000, \(Store.shortestStart))) end
        redis.call('ZADD', KEYS[2], 'XX', start, ARGV[3])
        if word ~= 'p' then redis.call('PUBLISH', ARGV[1], 's ' .. ARGV[4]) end
      end
    end
    redis.call('PUBLISH', ARGV[1], 'c ' .. ARGV[4] .. ' ' .. ARGV[2] .. ' ' .. ARGV[5])
    return 1
    """)

  /// All partitions know it. KEYS message, controlled · ARGV control, raw id
  static let controlKnown = RedisScript(
    "controlKnown",
    """
    #!lua flags=allow-oom
    local held = redis.call('HMGET', KEYS[1], 'ctl', 'st')
    if held[1] and (held[1] ~= ARGV[1] or held[2] == 's' or held[2] == 'w') then return 0 end
    return redis.call('SREM', KEYS[2], ARGV[2])
    """)

  /// Retries of these messages are about to be put out of turn. KEYS lease, parked · ARGV owner, raw ids…
  static let park = RedisScript(
    "park",
    "#!lua flags=allow-oom\n" + Fragment.owner + """
      for i = 2, #ARGV do redis.call('HINCRBY', KEYS[2], ARGV[i], 1) end
      return 1
      """)

  /// None of its retries is out of turn any more, unless some were put there meanwhile. KEYS lease, parked · ARGV
  /// owner, raw id, count when the search began
  static let unparked = RedisScript(
    "unparked",
    "#!lua flags=allow-oom\n" + Fragment.owner + """
      if redis.call('HGET', KEYS[2], ARGV[2]) ~= ARGV[3] then return 0 end
      return redis.call('HDEL', KEYS[2], ARGV[2])
      """)
}
