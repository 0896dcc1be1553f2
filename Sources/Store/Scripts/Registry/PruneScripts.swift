import RedisClient

extension Scripts {
  /// Puts prunes of one credential aside. KEYS lease, held · ARGV owner, how many may be held, seconds that they are kept, (device,
  /// packed)… → how many are new, and how many found no room
  static let holdPrunes = RedisScript(
    "holdPrunes",
    "#!lua flags=allow-oom\n" + Fragment.owner + """
      local count, limit = redis.call('HLEN', KEYS[2]), tonumber(ARGV[2])
      local new, dropped = 0, 0
      for i = 4, #ARGV, 2 do
        if count + new < limit or redis.call('HEXISTS', KEYS[2], ARGV[i]) == 1 then
          new = new + redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1])
        else
          dropped = dropped + 1
        end
      end
      redis.call('EXPIRE', KEYS[2], ARGV[3])
      return {new, dropped}
      """)

  /// Puts a credential's brake on, unless it is. KEYS brakes · ARGV credential, time, seen, dead, the rest, channel
  static let brake = RedisScript(
    "brake",
    """
    #!lua flags=allow-oom
    local entry = table.concat({ARGV[2], ARGV[3], ARGV[4], ARGV[5]}, ' ')
    if redis.call('HSETNX', KEYS[1], ARGV[1], entry) == 0 then return 0 end
    redis.call('PUBLISH', ARGV[6], 'b')
    return 1
    """)

  /// Takes a credential's brake off. KEYS brakes, norms · ARGV credential, channel, weight of what was seen meanwhile as the new norm,
  /// or 0: the norm stays → 1 it was on
  static let releaseBrake = RedisScript(
    "releaseBrake",
    """
    #!lua flags=allow-oom
    local entry = redis.call('HGET', KEYS[1], ARGV[1])
    if not entry then return 0 end
    local seen, dead = string.match(entry, '^%S+ (%S+) (%S+)')
    seen, dead = tonumber(seen or ''), tonumber(dead or '')
    if ARGV[3] ~= '0' and seen and dead and seen > 0 then
      redis.call('HSET', KEYS[2], ARGV[1], string.format('%.0f %.3f', ARGV[3], dead / seen * ARGV[3]))
    end
    redis.call('HDEL', KEYS[1], ARGV[1])
    redis.call('PUBLISH', ARGV[2], 'b')
    return 1
    """)

  /// Adds what was seen to the norms, or to what was seen since the brake is on. KEYS norms, brakes · ARGV verdicts after which older
  /// ones weigh half, (credential, seen, dead)… → the norms, in their order
  static let learnNorms = RedisScript(
    "learnNorms",
    """
    #!lua flags=allow-oom
    local out = {}
    for i = 2, #ARGV, 3 do
      local credential, seen, dead = ARGV[i], tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2])
      local norm = redis.call('HGET', KEYS[1], credential) or '0 0'
      local s, d = string.match(norm, '^(%S+) (%S+)$')
      s, d = tonumber(s or ''), tonumber(d or '')
      -- Also of what says nan or inf.
      if not (s and d and d >= 0 and d <= s and s < 1e15) then s, d = 0, 0 end
      local entry = redis.call('HGET', KEYS[2], credential)
      if entry and seen > 0 then
        local since, hs, hd, rest = string.match(entry, '^(%S+) (%S+) (%S+) (.+)$')
        if since then
          entry = string.format('%s %.0f %.0f %s', since, (tonumber(hs) or 0) + seen, (tonumber(hd) or 0) + dead, rest)
          redis.call('HSET', KEYS[2], credential, entry)
        end
      elseif seen > 0 then
        s, d = s + seen, d + dead
        while s > tonumber(ARGV[1]) do s, d = s / 2, d / 2 end
        redis.call('HSET', KEYS[1], credential, string.format('%.0f %.3f', s, d))
      end
      out[#out + 1] = string.format('%.0f %.3f', s, d)
    end
    return out
    """)
}
