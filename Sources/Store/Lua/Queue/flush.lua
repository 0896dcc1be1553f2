#!lua flags=allow-oom
-- Outcomes of one partition (design D9). A repeated one changes nothing and answers the same.
-- KEYS lease, finished, retry, ready, segments, then per message: work, deliveries, slices, message (or again work,
-- when home is elsewhere), segment, kept, then a stream per job. ARGV owner, number, chunk, retention, pruned,
-- partition, messages, then per message: raw id, hour, home here and how many parts it has (0 elsewhere, 1, 2 more),
-- finals, retries, time of the first attempt or '', (index, head, attempts, counter)…, (index, head, attempts, due)…;
-- then jobs, and per job: place of its message or 0, entry, name of the stream; last what counts towards caps, whose
-- keys come behind; then tallies.
-- → pruned, raw ids and controls, fields and values of `finished` to be told.
-- use owner, archive, keepInPlace, flush, caps, tally
local finished, retry, segs = KEYS[2], KEYS[3], KEYS[5]
local messages = tonumber(ARGV[7])
local at, key = 8, 6
local controls, told, closed = {}, {}, {}

for place = 1, messages do
  local w, d, s, m, seg = KEYS[key], KEYS[key + 1], KEYS[key + 2], KEYS[key + 3], KEYS[key + 4]
  local id, hour, here = ARGV[at], ARGV[at + 1], ARGV[at + 2]
  local finals, retries, firstAt = tonumber(ARGV[at + 3]), tonumber(ARGV[at + 4]), ARGV[at + 5]
  local keptKey = KEYS[key + 5]
  at = at + 6
  key = key + 6
  local flag = redis.call('HMGET', w, 'c', 'x', 'n', 'a')
  if flag[1] then
    controls[#controls + 1] = id
    controls[#controls + 1] = flag[1]
  end
  if fresh and flag[2] and not flag[4] and finals + retries > 0 then
    local wanted = {}
    for i = 1, finals + retries do wanted[i] = ARGV[at + (i - 1) * 4] end
    local found = redis.call('HMGET', d, unpack(wanted))
    local known = {}
    for i = 1, #wanted do known[wanted[i]] = found[i] end
    local records, gone, waits, counts, ended, retrying, held = {}, {}, {}, {}, 0, 0, 0
    for i = 1, finals do
      local index, head, attempts, counter = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
      local record = known[index]
      if not record or string.byte(record) == 82 then
        if record then
          gone[#gone + 1] = member(id, index)
          retrying = retrying - 1
          if earlier(record) == '' then held = held - 1 end
        end
        known[index] = head .. tried(record, attempts)
        records[#records + 1] = index
        records[#records + 1] = known[index]
        counts[counter] = (counts[counter] or 0) + 1
        ended = ended + 1
        if won then won[place .. ' ' .. index] = true end
      end
      at = at + 4
    end
    for i = 1, retries do
      local index, head, attempts, due = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
      local record = known[index]
      if not record or string.byte(record) == 82 then
        local before = earlier(record)
        if not record then retrying = retrying + 1 end
        if before == '' then
          if record then held = held - 1 end
          if attempts == '' then held = held + 1 end
        end
        known[index] = head .. tried(record, attempts)
        records[#records + 1] = index
        records[#records + 1] = known[index]
        waits[#waits + 1] = due
        waits[#waits + 1] = member(id, index)
      end
      at = at + 4
    end
    for counter, count in pairs(counts) do tally(counter, count) end
    if #gone > 0 then redis.call('ZREM', retry, unpack(gone)) end
    if #waits > 0 then redis.call('ZADD', retry, unpack(waits)) end
    local ends = ended > 0 and tonumber(flag[2]) == ended
    if ends and tonumber(flag[3]) <= inPlaceFrom then
      -- What is kept is put together here, not written, read again and deleted.
      local work = redis.call('HGETALL', w)
      local times = {fa = firstAt ~= '' and firstAt or nil, lo = now()}
      for i = 1, #work, 2 do
        local name = work[i]
        times[name] = nil
        if counts[name] then
          work[i + 1] = string.format('%.0f', work[i + 1] + counts[name])
          counts[name] = nil
        elseif name == 'x' then
          work[i + 1] = '0'
        elseif name == 'lo' then
          work[i + 1] = now()
        elseif name == 'r' then
          work[i + 1] = string.format('%.0f', work[i + 1] + retrying)
        elseif name == 'h' then
          work[i + 1] = string.format('%.0f', work[i + 1] + held)
        end
      end
      for counter, count in pairs(counts) do
        work[#work + 1] = counter
        work[#work + 1] = string.format('%.0f', count)
      end
      for name, time in pairs(times) do
        work[#work + 1] = name
        work[#work + 1] = time
      end
      local deliveries = flag[3] == '1' and {} or redis.call('HGETALL', d)
      for i = 1, #deliveries, 2 do
        local index = deliveries[i]
        if known[index] then
          deliveries[i + 1] = known[index]
          known[index] = nil
        end
      end
      for index, record in pairs(known) do
        if record then
          deliveries[#deliveries + 1] = index
          deliveries[#deliveries + 1] = record
        end
      end
      close(id, work, deliveries, m, seg, segs, finished, hour, ARGV[4], here, told)
      drop(w)
      drop(d)
      drop(s)
      closed[place] = true
    else
      if #records > 0 then redis.call('HSET', d, unpack(records)) end
      for counter, count in pairs(counts) do redis.call('HINCRBY', w, counter, count) end
      if retrying ~= 0 then redis.call('HINCRBY', w, 'r', retrying) end
      if held ~= 0 then redis.call('HINCRBY', w, 'h', held) end
      if firstAt ~= '' then redis.call('HSETNX', w, 'fa', firstAt) end
      if ended > 0 then
        redis.call('HINCRBY', w, 'x', -ended)
        redis.call('HSET', w, 'lo', now())
      end
      if ends then
        told[#told + 1] = id
        told[#told + 1] = keepInPlace(id, {w, d, s}, segs, keptKey, finished, hour, ARGV[4])
        closed[place] = true
      end
    end
  else
    at = at + (finals + retries) * 4
  end
end

if fresh then
  local jobs = tonumber(ARGV[at])
  at = at + 1
  local streams, removed, names = {}, {}, {}
  for j = 1, jobs do
    local place, entry, name, stream = tonumber(ARGV[at]), ARGV[at + 1], ARGV[at + 2], KEYS[key]
    local done = true
    if not closed[place] and redis.call('EXISTS', KEYS[6 + (place - 1) * 6]) == 1 then
      local found = redis.call('XRANGE', stream, entry, entry)
      if found[1] then
        local packed = found[1][2][6]
        local wanted = {}
        for i = 1, #packed, 2 do
          local high, low = string.byte(packed, i, i + 1)
          wanted[#wanted + 1] = high * 256 + low
        end
        for _, record in ipairs(redis.call('HMGET', KEYS[7 + (place - 1) * 6], unpack(wanted))) do
          if not record then done = false end
        end
      end
    end
    if done then
      if not removed[stream] then
        streams[#streams + 1] = stream
        removed[stream] = {}
        names[stream] = name
      end
      local entries = removed[stream]
      entries[#entries + 1] = entry
    end
    at = at + 3
    key = key + 1
  end
  settle()
  if won then countCaps(key) end
  for _, stream in ipairs(streams) do
    redis.call('XDEL', stream, unpack(removed[stream]))
    if redis.call('XLEN', stream) == 0 then
      redis.call('DEL', stream)
      redis.call('SREM', KEYS[4], names[stream])
    end
  end
  if number > 0 then redis.call('HSET', KEYS[1], 'f', number, 'c', chunk, 'p', pruned) end
end
settleTallies()
return {pruned, controls, told}
