import RedisClient

extension Scripts {
  /// Drops the segment of an hour, if it is as it was read: nothing was archived there meanwhile. KEYS segment, kept,
  /// segments · ARGV hour, bytes as read, 1: also while it holds something → 1: it is gone
  static let dropSegment = RedisScript(
    "dropSegment",
    """
    #!lua flags=allow-oom
    if ARGV[3] == '0' and redis.call('EXISTS', KEYS[1], KEYS[2]) > 0 then return 0 end
    local bytes = redis.call('ZSCORE', KEYS[3], ARGV[1])
    if not bytes or tonumber(bytes) ~= tonumber(ARGV[2]) then return 0 end
    redis.call('UNLINK', KEYS[1])
    redis.call('ZREM', KEYS[3], ARGV[1])
    return 1
    """)

  /// Entries behind a place, until there are so many jobs in them; of an entry of inline messages the values of those
  /// that are still inline messages. Asks to be rung when there are no more entries. KEYS lease, stream, waiting,
  /// inline messages · ARGV owner, from, count, name of the stream → entries, and an array of values for each entry of
  /// inline messages
  static let claim = RedisScript(
    "claim",
    "#!lua flags=allow-oom\n" + Fragment.owner + """
      local count, from = tonumber(ARGV[3]), ARGV[2]
      local found, singles, jobs = {}, {}, 0
      while jobs < count do
        -- An entry of singles is many jobs: more of them than are needed cost as much as all else here.
        local step = math.min(count - jobs, 8)
        local some = redis.call('XRANGE', KEYS[2], from, '+', 'COUNT', step)
        for i = 1, #some do
          if jobs >= count then break end
          local fields = some[i][2]
          found[#found + 1] = some[i]
          if fields[1] == 's' then
            local row, ids = fields[2], {}
            for at = 1, #row - 15, 16 do ids[#ids + 1] = string.sub(row, at, at + 15) end
            singles[#singles + 1] = #ids > 0 and redis.call('HMGET', KEYS[4], unpack(ids)) or {}
            jobs = jobs + #ids
          else
            jobs = jobs + 1
          end
        end
        if #some < step then
          if jobs < count then redis.call('SADD', KEYS[3], ARGV[4]) end
          break
        end
        from = '(' .. some[#some][1]
      end
      return {found, singles}
      """)

  /// Takes out jobs that have nothing left to do. KEYS lease, stream, ready, odd · ARGV owner, name, how many of them
  /// are odd, entries…
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

  /// Takes out members of the retry set that name no waiting delivery. A delivery that ends takes its member out in the
  /// same script, so a member that is gone by now belonged to one that ended after the set was read. Only what still
  /// stands there is damage, and is counted. KEYS lease, retry, odd · ARGV owner, members…
  static let dropRetries = RedisScript(
    "dropRetries",
    "#!lua flags=allow-oom\n" + Fragment.owner + """
      local removed = 0
      for i = 2, #ARGV do removed = removed + redis.call('ZREM', KEYS[2], ARGV[i]) end
      if removed > 0 then redis.call('INCRBY', KEYS[3], removed) end
      return removed
      """)

  /// KEYS lease, slices, work · ARGV owner, number, packed slice
  static let storeSlice = RedisScript(
    "storeSlice",
    "#!lua flags=allow-oom\n" + Fragment.owner + """
      if redis.call('EXISTS', KEYS[3]) == 0 then return 0 end
      redis.call('HSET', KEYS[2], ARGV[2], ARGV[3])
      return 1
      """)

  /// Ends deliveries whose job or record cannot be read. KEYS lease, finished, retry, segments, odd, work, deliveries,
  /// slices, message (or again work, when home is elsewhere), segment, kept, tallies · ARGV owner, raw id, hour,
  /// retention, home here, how many are odd, 1 if those that wait for a retry are meant, (index, head, counter)… →
  /// fields and values of `finished`
  static let condemn = RedisScript(
    "condemn",
    "#!lua flags=allow-oom\n" + Fragment.owner + Fragment.archive + Fragment.keepInPlace + Fragment.earlier
      + Fragment.tally + """
        local id, w, d = ARGV[2], KEYS[6], KEYS[7]
        if ARGV[6] ~= '0' then redis.call('INCRBY', KEYS[5], ARGV[6]) end
        local told, ended, retrying, held = {}, 0, 0, 0
        if redis.call('HEXISTS', w, 'x') == 0 then return told end
        for at = 8, #ARGV, 3 do
          local record = redis.call('HGET', d, ARGV[at])
          if not record or (ARGV[7] == '1' and string.byte(record) ~= 70) then
            if record then
              retrying = retrying - 1
              if earlier(record) == '' then held = held - 1 end
            end
            redis.call('HSET', d, ARGV[at], ARGV[at + 1])
            redis.call('HINCRBY', w, ARGV[at + 2], 1)
            tally(ARGV[at + 2], 1)
            redis.call('ZREM', KEYS[3], id .. struct.pack('>I4', tonumber(ARGV[at])))
            ended = ended + 1
          end
        end
        settleTallies()
        if retrying ~= 0 then redis.call('HINCRBY', w, 'r', retrying) end
        if held ~= 0 then redis.call('HINCRBY', w, 'h', held) end
        if ended == 0 or redis.call('HINCRBY', w, 'x', -ended) > 0 then return told end
        if tonumber(redis.call('HGET', w, 'n')) > inPlaceFrom then
          told = {id, keepInPlace(id, {w, d, KEYS[8]}, KEYS[4], KEYS[11], KEYS[2], ARGV[3], ARGV[4])}
        else
          close(id, redis.call('HGETALL', w), redis.call('HGETALL', d), KEYS[9], KEYS[10], KEYS[4], KEYS[2], ARGV[3],
            ARGV[4], ARGV[5], told)
          for i = 6, 8 do drop(KEYS[i]) end
          settle()
        end
        return told
        """)

  /// A part tells home how it ended; home keeps the sum of what it was told, so that nothing that expires elsewhere is
  /// missing. KEYS message, segment, segments · ARGV raw id, hour, retention, partition, ending: failed, counters
  static let tell = RedisScript(
    "tell",
    "#!lua flags=allow-oom\n" + Fragment.archive + """
      if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
      local known = redis.call('HMGET', KEYS[1], 'told', 'tc')
      local told = known[1] or ','
      if string.find(told, ',' .. ARGV[4] .. ',', 1, true) then return 0 end
      local sums, order = {}, {}
      local function add(packed)
        local at, name = 1, nil
        while at + 4 <= #packed do
          local length = struct.unpack('>I4', packed, at)
          local text = string.sub(packed, at + 4, at + 3 + length)
          at = at + 4 + length
          if name then
            local number = tonumber(text)
            if not sums[name] then
              order[#order + 1] = name
              sums[name] = number
            elseif name == 'fa' then
              sums[name] = math.min(sums[name], number)
            elseif name == 'lo' then
              sums[name] = math.max(sums[name], number)
            else
              sums[name] = sums[name] + number
            end
            name = nil
          else
            name = text
          end
        end
      end
      add(known[2] or '')
      add(string.sub(ARGV[5], 2))
      local counters = {}
      for _, name in ipairs(order) do
        counters[#counters + 1] = name
        counters[#counters + 1] = string.format('%.0f', sums[name])
      end
      redis.call('HSET', KEYS[1], 'told', told .. ARGV[4] .. ',', 'tc', pack(counters))
      if string.sub(ARGV[5], 1, 1) == '1' then redis.call('HSET', KEYS[1], 'bf', 1) end
      if redis.call('HINCRBY', KEYS[1], 'left', -1) == 0 then
        keep(KEYS[2], KEYS[3], ARGV[2], ARGV[3], 'm' .. ARGV[1], sealMessage(redis.call('HGETALL', KEYS[1]), '0'))
        drop(KEYS[1])
        settle()
      end
      return 1
      """)
}
