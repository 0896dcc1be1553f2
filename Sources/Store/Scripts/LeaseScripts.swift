import RedisClient

extension Scripts {
  /// Writes nothing, and is refused whenever a script that writes would be.
  static let probe = RedisScript("probe", "#!lua\nreturn 1")

  /// KEYS lease · ARGV owner to renew or '', nonce, milliseconds, who asks → epoch, or nil: another holds it. What cannot be read
  /// of a lease is as if nobody held it: a new epoch voids what its owner may still write.
  static let lease = RedisScript(
    "lease",
    """
    #!lua flags=allow-oom
    local t = redis.call('TIME')
    local now = t[1] * 1000 + math.floor(t[2] / 1000)
    local held = redis.call('HMGET', KEYS[1], 'o', 'u', 'e')
    local till = string.format('%.0f', now + tonumber(ARGV[3]))
    if ARGV[1] ~= '' then
      if held[1] ~= ARGV[1] then return false end
      redis.call('HSET', KEYS[1], 'u', till)
      return held[3]
    end
    local ends, last = tonumber(held[2] or 0) or 0, tonumber(held[3] or 0) or 0
    if held[1] and held[1] ~= '' and ends > now and ends < now + 1e12 then return false end
    if not (last > 0 and last < 1e15) then last = 0 end
    local epoch = string.format('%.0f', math.max(now, last + 1))
    redis.call('HSET', KEYS[1], 'o', epoch .. '-' .. ARGV[2], 'u', till, 'e', epoch, 'f', 0, 'c', 0, 'p', 0, 'w', ARGV[4])
    return epoch
    """)

  /// KEYS lease · ARGV owner, channel, partition
  static let release = RedisScript(
    "release",
    """
    #!lua flags=allow-oom
    if redis.call('HGET', KEYS[1], 'o') == ARGV[1] then
      redis.call('HSET', KEYS[1], 'o', '', 'u', 0)
      redis.call('PUBLISH', ARGV[2], 'l ' .. ARGV[3])
    end
    return 1
    """)

  /// KEYS workers, their reports · ARGV milliseconds that a heartbeat lasts, serial, report → all serials that live, in their order
  static let beat = RedisScript(
    "beat",
    "#!lua flags=allow-oom\n" + Fragment.clock + """
      local gone = '(' .. string.format('%.0f', now() - tonumber(ARGV[1]))
      for _, serial in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', gone)) do
        redis.call('ZREM', KEYS[1], serial)
        redis.call('HDEL', KEYS[2], serial)
      end
      redis.call('ZADD', KEYS[1], now(), ARGV[2])
      redis.call('HSET', KEYS[2], ARGV[2], ARGV[3])
      local serials = redis.call('ZRANGE', KEYS[1], 0, -1)
      table.sort(serials)
      return serials
      """)
}
