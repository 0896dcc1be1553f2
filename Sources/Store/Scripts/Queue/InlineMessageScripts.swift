import RedisClient

/// Messages of one delivery, kept whole in one value each (decision 0035). What these scripts do for one message they
/// do for many of them at once.
extension Scripts {
  /// Messages of one app and hour that go to one stream, all of them new but for those with an idempotency key; none of
  /// them is stored, or all are. What may be damaged, a stream, is written before what tells that they are here. KEYS
  /// seq, ready, waiting, inline messages, listing, hours, stream, keyed, ends of hours · ARGV hour, listing's life,
  /// channel, partition, name of the stream, raw ids in a row, and as `acceptHere` takes them of idempotency keys:
  /// life, end, raw ids in a row; (raw id, single)… → 1, or 0: a key may have ended, and nothing was done
  static let acceptInline = RedisScript(
    "acceptSingles",
    "#!lua\n" + Fragment.mark + Fragment.clock + Fragment.keyed + Fragment.listed + """
      local listing, hours, life = KEYS[5], KEYS[6], tonumber(ARGV[2])
      local row, new, first, repeats = ARGV[6], ARGV, 10, false
      local ids, known = keyed(KEYS[8], ARGV[9], ARGV[8])
      if not ids then return 0 end
      for i = 1, #ids do
        if known[ids[i]] ~= nil then repeats = true else known[ids[i]] = false end
      end
      if repeats then
        -- Some were stored before, or the same one comes twice.
        local rest = {}
        new = {}
        for at = 10, #ARGV, 2 do
          local id = ARGV[at]
          if not known[id] then
            if known[id] == false then known[id] = true end
            rest[#rest + 1] = id
            new[#new + 1] = id
            new[#new + 1] = ARGV[at + 1]
          end
        end
        row, first = table.concat(rest), 1
        if row == '' then return 1 end
      end
      local rows, messages = {}, #row / 16
      for i = 1, messages do
        rows[2 * i - 1] = '0'
        rows[2 * i] = new[first + 2 * i - 2]
      end
      redis.call('ZADD', listing, unpack(rows))
      -- An hour more than is asked for, so that not every message has to renew it.
      if redis.call('TTL', listing) < life then
        redis.call('EXPIRE', listing, life + 3600)
        listed(hours, KEYS[9], ARGV[1], life + 3600)
      end
      local base = redis.call('INCRBY', KEYS[1], messages) - messages + 1
      redis.call('XADD', KEYS[7], string.format('%.0f', base) .. mark(row), 's', row)
      redis.call('HSET', KEYS[4], unpack(new, first))
      if redis.call('SADD', KEYS[2], ARGV[5]) + redis.call('SREM', KEYS[3], ARGV[5]) > 0 then
        redis.call('PUBLISH', ARGV[3], 'w ' .. ARGV[4] .. ' ' .. ARGV[5])
      end
      remember(KEYS[8], ids, ARGV[7])
      return 1
      """)

  /// Outcomes of inline messages of one hour, and the entries of one stream that have nothing left to do then. KEYS
  /// lease, inline messages, segment, segments, ready, stream, tallies · ARGV owner, hour, retention, number of inline
  /// messages, name of the stream, number of entries, entries…, raw ids…, what stands behind the facts of each…, for
  /// each 1 if its request is kept, names to tally…, and in a row which of these each one is, a byte from 1 → raw ids
  /// of those that are no inline messages any more: nothing was done for them, nor to the entries
  static let endInline = RedisScript(
    "endSingles",
    "#!lua flags=allow-oom\n" + Fragment.owner + Fragment.clock + """
      local count, first = tonumber(ARGV[4]), 6 + ARGV[6]
      local held = redis.call('HMGET', KEYS[2], unpack(ARGV, first + 1, first + count))
      local kept, gone, others, bytes, ended = {}, {}, {}, 0, {}
      local names = {string.byte(ARGV[#ARGV], 1, -1)}
      for i = 1, count do
        local single, id = held[i], ARGV[first + i]
        local border = single and #single >= 4 and struct.unpack('>I4', single) + 4
        if border then
          local value = string.sub(single, 1, border) .. ARGV[first + count + i] .. now()
          if ARGV[first + 2 * count + i] == '1' then value = value .. string.sub(single, border + 1) end
          kept[#kept + 1] = 's' .. id
          kept[#kept + 1] = value
          gone[#gone + 1] = id
          ended[names[i]] = (ended[names[i]] or 0) + 1
          bytes = bytes + #value + 120
        else
          others[#others + 1] = id
        end
      end
      if #gone > 0 then
        redis.call('HSET', KEYS[3], unpack(kept))
        if redis.call('TTL', KEYS[3]) < tonumber(ARGV[3]) then redis.call('EXPIRE', KEYS[3], ARGV[3]) end
        redis.call('ZINCRBY', KEYS[4], bytes, ARGV[2])
        redis.call('HDEL', KEYS[2], unpack(gone))
        for name, count in pairs(ended) do redis.call('HINCRBY', KEYS[7], ARGV[first + 3 * ARGV[4] + name], count) end
      end
      if #others == 0 and ARGV[6] ~= '0' then
        redis.call('XDEL', KEYS[6], unpack(ARGV, 7, first))
        if redis.call('XLEN', KEYS[6]) == 0 then
          redis.call('DEL', KEYS[6])
          redis.call('SREM', KEYS[5], ARGV[5])
        end
      end
      return others
      """)

  /// An inline message gets the hashes that every other message has, as somebody wants more of it than to be sent. KEYS
  /// inline messages, message, work · ARGV raw id, the single as it was read, number of message fields, fields…, part's
  /// fields… → 0: it is none any more
  static let unfold = RedisScript(
    "unfold",
    """
    #!lua flags=allow-oom
    if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
    local part = 4 + ARGV[3]
    redis.call('HSET', KEYS[2], unpack(ARGV, 4, part - 1))
    redis.call('HSET', KEYS[3], unpack(ARGV, part))
    return redis.call('HDEL', KEYS[1], ARGV[1])
    """)

  /// Inline messages that cannot be read are quarantined: nothing of them is known. KEYS lease, inline messages, odd ·
  /// ARGV owner, raw ids…
  static let dropInline = RedisScript(
    "dropSingles",
    "#!lua flags=allow-oom\n" + Fragment.owner + """
      return redis.call('INCRBY', KEYS[3], redis.call('HDEL', KEYS[2], unpack(ARGV, 2)))
      """)
}
