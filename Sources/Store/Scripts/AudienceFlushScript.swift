import RedisClient

extension Scripts {
  /// Outcomes of members of audiences in one partition (design D9): codes in one BITFIELD per message; counters move only
  /// for codes that turn, and a code that is final never does. A repeated run changes nothing and answers the same.
  /// KEYS lease, finished, retry, ready, segments, ends, then per message: work, deliveries, slices, snapshot, codes, kept,
  /// then a stream per job.
  /// ARGV owner, number, chunk, retention, pruned, messages, then per message: raw id, hour, time of the first attempt or
  /// '', groups, records, retries, slices; (code, counter or '', first of the job, indexes)…, (index, head, attempts)…,
  /// (index, head, attempts, due)…, (slice, the provider's id)…; then jobs, and per job: place of its message, entry, name
  /// of the stream, first of the job.
  /// → pruned, raw ids and controls, fields and values of `finished` to be told.
  static let flushAudience = RedisScript(
    "flushAudience",
    "#!lua flags=allow-oom\n" + Fragment.owner + Fragment.clock + Fragment.keepInPlace + """
      local number, chunk = tonumber(ARGV[2]), tonumber(ARGV[3])
      local last = redis.call('HMGET', KEYS[1], 'f', 'c', 'p')
      local lastNumber, lastChunk = tonumber(last[1] or 0), tonumber(last[2] or 0)
      local pruned = tonumber(ARGV[5])
      local fresh = true
      if number > 0 then
        fresh = number > lastNumber or (number == lastNumber and chunk > lastChunk)
        if number == lastNumber and pruned < tonumber(last[3] or 0) then pruned = tonumber(last[3] or 0) end
      end
      local finished, retry, segs, ends = KEYS[2], KEYS[3], KEYS[5], KEYS[6]
      local messages = tonumber(ARGV[6])
      local at, key = 7, 7
      local controls, told = {}, {}
      local function member(id, index) return id .. struct.pack('>I4', tonumber(index)) end
      local function earlier(record)
        return record and #record > 2 and string.sub(record, 4 + struct.unpack('>I2', record, 2)) or ''
      end

      for place = 1, messages do
        local w, d, s, codes = KEYS[key], KEYS[key + 1], KEYS[key + 2], KEYS[key + 4]
        local id, hour, firstAt = ARGV[at], ARGV[at + 1], ARGV[at + 2]
        local groups, records = tonumber(ARGV[at + 3]), tonumber(ARGV[at + 4])
        local retries, slices = tonumber(ARGV[at + 5]), tonumber(ARGV[at + 6])
        at = at + 7
        local flag = redis.call('HMGET', w, 'c', 'x')
        if flag[1] then
          controls[#controls + 1] = id
          controls[#controls + 1] = flag[1]
        end
        if fresh and flag[2] and tonumber(flag[2]) > 0 and groups > 0 then
          local sets, indexes, group = {}, {}, {}
          for i = 1, groups do
            local code, packed = ARGV[at], ARGV[at + 3]
            for j = 1, #packed, 4 do
              local index = string.format('%.0f', struct.unpack('>I4', packed, j))
              local n = #sets
              sets[n + 1], sets[n + 2], sets[n + 3], sets[n + 4] = 'SET', 'u4', '#' .. index, code
              indexes[#indexes + 1] = index
              group[#indexes] = at
            end
            at = at + 4
          end
          local before = redis.call('BITFIELD', codes, unpack(sets))
          local repairs, old, moves = {}, {}, {}
          local ended, retrying, gone, stale, turned = 0, 0, {}, {}, {}
          for i = 1, #indexes do
            local index, was, g = indexes[i], before[i], group[i]
            if was == 0 or was == 8 then
              old[index] = old[index] or was
              if ARGV[g] == '8' then
                if was == 0 then retrying = retrying + 1 end
              else
                ended = ended + 1
                turned[index] = true
                moves[ARGV[g + 1]] = (moves[ARGV[g + 1]] or 0) + 1
                if was == 8 then
                  retrying = retrying - 1
                  gone[#gone + 1] = member(id, index)
                  stale[#stale + 1] = index
                end
              end
              if was == 0 then moves['j' .. ARGV[g + 2]] = (moves['j' .. ARGV[g + 2]] or 0) - 1 end
            else
              local n = #repairs
              repairs[n + 1], repairs[n + 2], repairs[n + 3], repairs[n + 4] = 'SET', 'u4', '#' .. index, was
            end
          end
          if #repairs > 0 then redis.call('BITFIELD', codes, unpack(repairs)) end
          if #gone > 0 then redis.call('ZREM', retry, unpack(gone)) end
          -- What was kept of a retry goes on in its record, or with it.
          local known = {}
          if #stale + retries > 0 then
            local wanted = {}
            for i = 1, #stale do wanted[i] = stale[i] end
            for i = 1, retries do wanted[#wanted + 1] = ARGV[at + records * 3 + (i - 1) * 4] end
            local found = redis.call('HMGET', d, unpack(wanted))
            for i = 1, #wanted do known[wanted[i]] = found[i] end
          end
          local written, kept = {}, {}
          for i = 1, records do
            local index = ARGV[at]
            if turned[index] and not kept[index] then
              kept[index] = true
              written[#written + 1] = index
              written[#written + 1] = ARGV[at + 1] .. earlier(known[index]) .. ARGV[at + 2]
            end
            at = at + 3
          end
          for _, index in ipairs(stale) do
            if not kept[index] then redis.call('HDEL', d, index) end
          end
          for i = 1, retries do
            local index = ARGV[at]
            if old[index] and not kept[index] and not turned[index] then
              kept[index] = true
              written[#written + 1] = index
              written[#written + 1] = ARGV[at + 1] .. earlier(known[index]) .. ARGV[at + 2]
              redis.call('ZADD', retry, ARGV[at + 3], member(id, index))
            end
            at = at + 4
          end
          if #written > 0 then redis.call('HSET', d, unpack(written)) end
          for i = 1, slices do
            redis.call('HSET', s, 'i' .. ARGV[at], ARGV[at + 1])
            at = at + 2
          end
          for name, count in pairs(moves) do redis.call('HINCRBY', w, name, count) end
          if retrying ~= 0 then redis.call('HINCRBY', w, 'r', retrying) end
          if firstAt ~= '' then redis.call('HSETNX', w, 'fa', firstAt) end
          if ended > 0 then
            redis.call('HSET', w, 'lo', now())
            if redis.call('HINCRBY', w, 'x', -ended) == 0 then
              redis.call('ZREM', ends, id)
              told[#told + 1] = id
              told[#told + 1] = keepInPlace(id, {w, KEYS[key + 3], codes, d, s}, segs, KEYS[key + 5], finished, hour,
                ARGV[4])
            end
          end
        else
          at = at + groups * 4 + records * 3 + retries * 4 + slices * 2
        end
        key = key + 6
      end

      if fresh then
        local jobs = tonumber(ARGV[at])
        at = at + 1
        for j = 1, jobs do
          local left = redis.call('HMGET', KEYS[7 + (tonumber(ARGV[at]) - 1) * 6], 'x', 'j' .. ARGV[at + 3])
          if not left[1] or left[1] == '0' or left[2] == '0' then
            redis.call('XDEL', KEYS[key], ARGV[at + 1])
            if redis.call('XLEN', KEYS[key]) == 0 then
              redis.call('DEL', KEYS[key])
              redis.call('SREM', KEYS[4], ARGV[at + 2])
            end
          end
          at = at + 4
          key = key + 1
        end
        if number > 0 then redis.call('HSET', KEYS[1], 'f', number, 'c', chunk, 'p', pruned) end
      end
      return {pruned, controls, told}
      """)
}
