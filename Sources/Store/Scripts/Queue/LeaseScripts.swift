import RedisClient

extension Scripts {
  /// Writes nothing, and is refused whenever a script that writes would be.
  static let probe = RedisScript("probe", "#!lua\nreturn 1")

  /// KEYS lease · ARGV fence of the owner to renew or '', nonce, milliseconds, who asks, a lease that has run out or '' → epoch; or, of one
  /// that another holds, its owner and the number of its last write. A living owner writes at each renewal. Whether a lease has run out is for
  /// who asks to know, by its own clock: Redis' may jump. `u` is for people to read. What cannot be read of a lease is as if
  /// nobody held it: a new epoch voids what its owner may still write.
  static let lease = RedisScript(
    "lease",
    "#!lua flags=allow-oom\n" + Fragment.fence + """
      local t = redis.call('TIME')
      local now = t[1] * 1000 + math.floor(t[2] / 1000)
      local held = redis.call('HMGET', KEYS[1], 'o', 'u', 'e', 'v')
      local till = string.format('%.0f', now + tonumber(ARGV[3]))
      if ARGV[1] ~= '' then
        local refused = refusal()
        if refused then return refused end
        redis.call('HSET', KEYS[1], 'u', till)
        return {held[3]}
      end
      local ends, last = tonumber(held[2] or 0) or 0, tonumber(held[3] or 0) or 0
      if held[1] and held[1] ~= '' and ends > 0 and ends < 1e15 then
        local stamp = held[1] .. ' ' .. (held[4] or '')
        if stamp ~= ARGV[5] then return {false, stamp} end
      end
      if not (last > 0 and last < 1e15) then last = 0 end
      local epoch = string.format('%.0f', math.max(now, last + 1))
      redis.call('HSET', KEYS[1], 'o', epoch .. '-' .. ARGV[2], 'u', till, 'e', epoch, 'f', 0, 'c', 0, 'p', 0, 'v', 0,
        'w', ARGV[4])
      return {epoch}
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

  /// A heartbeat that lies ahead was written before Redis' clock went back: it counts as one of now. KEYS workers, their reports ·
  /// ARGV milliseconds that a heartbeat lasts, serial, report → all serials that live, in their order
  static let beat = RedisScript(
    "beat",
    "#!lua flags=allow-oom\n" + Fragment.clock + """
      local gone = '(' .. string.format('%.0f', now() - tonumber(ARGV[1]))
      for _, serial in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', gone)) do
        redis.call('ZREM', KEYS[1], serial)
        redis.call('HDEL', KEYS[2], serial)
      end
      for _, serial in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. now(), '+inf')) do
        redis.call('ZADD', KEYS[1], now(), serial)
      end
      redis.call('ZADD', KEYS[1], now(), ARGV[2])
      redis.call('HSET', KEYS[2], ARGV[2], ARGV[3])
      local serials = redis.call('ZRANGE', KEYS[1], 0, -1)
      table.sort(serials)
      return serials
      """)
}
